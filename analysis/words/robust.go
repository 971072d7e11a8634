package words

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
)

// oftenFirst is the share of resampled fields from which on a strategy is named.
const oftenFirst = 0.1

// AssumedOfFields says what the numbers about other fields rest on.
const AssumedOfFields = "These fields were not played. Their points are put together from the pairs of this run, as if what two strategies score " +
	"against each other did not depend on the others in the field; a strategy that carries what it learns from one opponent to the next breaks that. " +
	"'experiment --without' plays such a field."

// Robustness says how the first of an experiment would do in other fields.
func (s Style) Robustness(e *analysis.Estimates, r *robust.Robustness) []string {
	first := e.Order[0]
	p := r.Players[first]
	line := fmt.Sprintf("%s is first in %s of fields resampled from these opponents (places %s)", Printable(e.Players[first].Name),
		s.WholePercent(p.First), s.Places(p.Places))
	if often := s.othersFirst(e, r); len(often) > 0 {
		line += "; others that are often first: " + List(often, "and", 4)
	}
	lines := []string{line + "."}
	ones := slices.DeleteFunc(slices.Clone(r.Without), func(x robust.Reduced) bool { return len(x.Out) > 1 || x.Place == 1 })
	if len(ones) == 0 {
		lines = append(lines, "It stays first without any one other strategy.")
	}
	for len(ones) > 0 {
		leader := ones[0].First
		var out []int
		ones = slices.DeleteFunc(ones, func(x robust.Reduced) bool {
			if x.First == leader {
				out = append(out, x.Out...)
			}
			return x.First == leader
		})
		names := Printable(List(e.Names(out), "or", 6))
		if len(out) > 1 {
			names = "any one of " + names
		}
		lines = append(lines, fmt.Sprintf("Without %s, %s leads.", names, Printable(e.Players[leader].Name)))
	}
	return append(lines, s.withoutFamilies(e, r)...)
}

// othersFirst names the strategies beside the first that are first in many resampled
// fields, with their shares.
func (s Style) othersFirst(e *analysis.Estimates, r *robust.Robustness) []string {
	var often []int
	for _, i := range e.Order[1:] {
		if r.Players[i].First >= oftenFirst {
			often = append(often, i)
		}
	}
	slices.SortStableFunc(often, func(i, j int) int { return cmp.Compare(r.Players[j].First, r.Players[i].First) })
	var list []string
	for _, i := range often {
		list = append(list, fmt.Sprintf("%s (%s)", Printable(e.Players[i].Name), s.WholePercent(r.Players[i].First)))
	}
	return list
}

// withoutFamilies says which families decide who leads.
func (s Style) withoutFamilies(e *analysis.Estimates, r *robust.Robustness) []string {
	alike := func(x robust.Reduced) string {
		return fmt.Sprintf("the %d that play alike (%s)", len(x.Out), Printable(List(e.Names(x.Out), "and", 8)))
	}
	var lines, stays []string
	for _, x := range r.Without {
		switch {
		case len(x.Out) == 1:
		case x.Place == 1:
			stays = append(stays, alike(x))
		default:
			lines = append(lines, fmt.Sprintf("Without %s, %s leads.", alike(x), Printable(e.Players[x.First].Name)))
		}
	}
	switch {
	case len(lines) > 0 || len(stays) == 0:
		return lines
	case len(stays) == 1:
		return []string{"It stays first without " + stays[0] + "."}
	}
	return []string{fmt.Sprintf("It stays first without any one of %d families of strategies that play alike.", len(stays))}
}

// fragile is a clause of the [Style.Answer] if none of the strategies that it names as first would be first in most fields of such opponents; else empty.
func (s Style) fragile(e *analysis.Estimates, r *robust.Robustness) string {
	if r == nil || len(e.Leaders()) == len(e.Players) {
		return ""
	}
	share := r.Players[e.Order[0]].First
	for _, i := range levelWith(e, e.Order[0]) {
		share += r.Players[i].First
	}
	if share >= 0.5 {
		return ""
	}
	return fmt.Sprintf("; against resampled opponents another would be first in %s of fields", s.WholePercent(1-share))
}

// WholePercent writes a share that is known to a percentage point: "67 %".
func (s Style) WholePercent(share float64) string {
	return s.Number(100*share, 0) + s.space() + "%"
}
