package page

import (
	"slices"

	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/words"
)

// printable returns the input with all foreign text as it may be shown: without line
// breaks, and without characters that turn text around. Whether it is markup is left
// to the template. It shares nothing with in that it changes.
func printable(in Input) Input {
	document := *in.Document
	in.Document = &document
	run := &document.Run
	run.Plan.Field = slices.Clone(run.Plan.Field)
	for i := range run.Plan.Field {
		e := &run.Plan.Field[i]
		show(&e.Name, &e.Kind, &e.Ref, &e.Source, &e.Fingerprint)
	}
	run.Estimates.Players = slices.Clone(run.Estimates.Players)
	for i := range run.Estimates.Players {
		p := &run.Estimates.Players[i]
		show(&p.Name, &p.Kind)
		p.Faults = slices.Clone(p.Faults)
		for k := range p.Faults {
			show(&p.Faults[k].Where)
		}
	}
	show(&run.Facts.Digest, &in.Version)
	run.Facts.Processes = slices.Clone(run.Facts.Processes)
	for i := range run.Facts.Processes {
		p := &run.Facts.Processes[i]
		show(&p.Name, &p.Kind)
		p.Players = slices.Clone(p.Players)
		for k := range p.Players {
			show(&p.Players[k])
		}
	}
	return in
}

// printableView is printable for what a population is shown from. Strategies are
// matched by their names before.
func printableView(v *population.View) {
	for i := range v.Members {
		show(&v.Members[i].Name, &v.Members[i].Worst)
	}
	for i := range v.Missing {
		show(&v.Missing[i])
	}
}

func show(texts ...*string) {
	for _, s := range texts {
		*s = words.Printable(*s)
	}
}
