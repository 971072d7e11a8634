package words

import (
	"cmp"
	"fmt"
	"math"
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
		s.About(p.First), s.Places(p.Places))
	if often := s.othersFirst(e, r); len(often) > 0 {
		line += "; others that are often first: " + List(often, "and", 4)
	}
	lines := []string{line + "."}
	ones := slices.DeleteFunc(slices.Clone(r.Without), func(x robust.Reduced) bool { return len(x.Out) > 1 })
	stays := !slices.ContainsFunc(ones, func(x robust.Reduced) bool { return x.First != first || !x.Leads })
	ones = slices.DeleteFunc(ones, func(x robust.Reduced) bool { return !x.Ahead })
	switch {
	case stays:
		lines = append(lines, "It stays first without any one other strategy.")
	case len(ones) == 0:
		lines = append(lines, "There is no evidence that another is ahead of it without any one of the others.")
	}
	for len(ones) > 0 {
		x := ones[0]
		var out []int
		ones = slices.DeleteFunc(ones, func(y robust.Reduced) bool {
			alike := y.First == x.First && y.Leads == x.Leads
			if alike {
				out = append(out, y.Out...)
			}
			return alike
		})
		names := Printable(List(e.Names(out), "or", 6))
		if len(out) > 1 {
			names = "any one of " + names
		}
		lines = append(lines, without(e, names, x))
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
		list = append(list, fmt.Sprintf("%s (%s)", Printable(e.Players[i].Name), s.About(r.Players[i].First)))
	}
	return list
}

// without says who is ahead in a field without some, as far as there is evidence.
func without(e *analysis.Estimates, names string, x robust.Reduced) string {
	leader := Printable(e.Players[x.First].Name)
	if x.Leads {
		return fmt.Sprintf("Without %s, %s leads.", names, leader)
	}
	return fmt.Sprintf("Without %s, %s is ahead of %s.", names, leader, Printable(e.Players[e.Order[0]].Name))
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
		case x.Ahead:
			lines = append(lines, without(e, alike(x), x))
		case x.Leads:
			stays = append(stays, alike(x))
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
	return fmt.Sprintf("; against resampled opponents another would be first in %s of fields", s.About(1-share))
}

// About writes a share of fields that were put together, to the next five percent: "about
// 65 %".
func (s Style) About(share float64) string {
	switch fives := 5 * math.Round(20*share); {
	case fives < 5:
		return "under 5" + s.space() + "%"
	case fives > 95:
		return "over 95" + s.space() + "%"
	default:
		return "about " + s.Number(fives, 0) + s.space() + "%"
	}
}
