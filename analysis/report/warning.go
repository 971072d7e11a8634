package report

import (
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/analysis/words"
)

// Warning says why intervals, places and tiers may not hold. The bounds of a finite
// guarantee always do.
type Warning struct {
	// Kind is "mixed" if Players were quarantined on the way, so that sums over all leagues
	// are about several fields, "extended" if the run was looked at before and then extended, and its
	// level is corrected for it, "skewed" if a few leagues decide the points of Players,
	// "few" if differences take few values, "unseen" for what scripts and plugins may do too rarely for the run to show,
	// "unfinished" if leagues of a fixed number are missing, and "asymptotic" if either of these, or technical losses, may break what a stopping rule
	// takes for granted.
	Kind    string   `json:"kind"`
	Players []string `json:"players,omitempty"`
	Leagues int      `json:"leagues_needed,omitempty"` // about how many would do
	Text    string   `json:"text"`
}

// warnings returns what to know before relying on the intervals of a run.
func (r *Document) warnings() []Warning {
	e := &r.Estimates
	var list []Warning
	if text := words.Plain.Mixed(e, r.Run.Since); text != "" {
		w := Warning{Kind: "mixed", Text: text}
		for _, a := range e.Absences() {
			w.Players = append(w.Players, e.Players[a.Field].Name)
		}
		list = append(list, w)
		if r.Run.Since != nil {
			e = r.Run.Since
		}
	}
	if o := r.Stopping.Options; o != nil && o.Guarantee == sequential.Finite {
		return list
	}
	if text := words.Plain.Extended(r.Estimates.Level, r.Run.Plan.Looks); text != "" {
		list = append(list, Warning{Kind: "extended", Text: text})
	}
	if r.Stopping.Options == nil && r.Stopping.Why == Interrupted {
		list = append(list, Warning{Kind: "unfinished", Text: words.Plain.Unfinished(&r.Estimates, r.Run.Plan.Runs)})
	}
	if text := words.Plain.Skewed(e); text != "" && len(e.Absences()) == 0 { // no number of leagues would do for a mixture
		w := Warning{Kind: "skewed", Text: text}
		for _, x := range e.Skewed {
			w.Players, w.Leagues = append(w.Players, e.Players[x.Field].Name), max(w.Leagues, x.Enough)
		}
		list = append(list, w)
	}
	if text := words.Plain.Few(e, r.Plan.Legs); text != "" && r.Stopping.Options == nil {
		list = append(list, Warning{Kind: "few", Text: text})
	}
	if text := words.Plain.Unseen(e); text != "" {
		list = append(list, Warning{Kind: "unseen", Text: text})
	}
	if r.Stopping.Options != nil {
		fails := slices.ContainsFunc(r.Estimates.Players, func(p analysis.Player) bool { return p.TechnicalLosses > 0 })
		if fails || len(list) > 0 {
			list = append(list, Warning{Kind: "asymptotic", Text: words.NearlyNormal(r.Stopping.Ratio != nil, r.Stopping.Why != MaxRuns && r.Stopping.Why != Interrupted)})
		}
	}
	return list
}

// WarningLines are the texts of the warnings.
func (r *Document) WarningLines() []string {
	var lines []string
	for _, w := range r.Warnings {
		lines = append(lines, w.Text)
	}
	return lines
}
