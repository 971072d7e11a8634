package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
)

// verdictLines say which changes are real, and of which there is no evidence.
func (c *Contrast) verdictLines() []string {
	r := &c.Result
	if len(r.Players) == 0 {
		return []string{"No strategy played in both runs, so there is nothing to compare."}
	}
	if min(r.Leagues[0], r.Leagues[1]) < 2 {
		return []string{"Nothing can be said about changes from fewer than two leagues."}
	}
	if c.Before.Digest == c.After.Digest && c.Before.Digest != "" {
		return []string{"The two runs are the same, match for match: digest " + printable(c.After.Digest)}
	}
	var lines []string
	quiet := map[analysis.Verdict][]string{}
	for i := range r.Players {
		p := &r.Players[i]
		if v := verdictOf(p); v != analysis.Different {
			quiet[v] = append(quiet[v], printable(p.Name))
			continue
		}
		lines = append(lines, c.changed(p))
	}
	if names := quiet[analysis.Undecided]; len(names) > 0 {
		lines = append(lines, fmt.Sprintf("No evidence that %s changed.", listed(names, "or")))
	}
	if names := quiet[analysis.Equal]; len(names) > 0 {
		lines = append(lines, fmt.Sprintf("The same in every league: %s.", listed(names, "and")))
	}
	if slices.ContainsFunc(r.Players, func(p contrast.Player) bool { return p.CodeChanged }) {
		lines = append(lines, "* plays other code than in the first run.")
	}
	lines = append(lines, fmt.Sprintf("± is for one difference at %s %%; p and the verdicts are corrected for all %d (Holm).",
		strconv.FormatFloat(100*r.Level, 'g', 6, 64), r.Family))
	if spill := slices.ContainsFunc(r.Players[0].Effects, func(e contrast.Effect) bool { return e.Unchanged }); spill {
		lines = append(lines, "spill-over: the change in adjusted points from matches among those whose code is the same.")
	}
	for _, s := range []Source{c.Before, c.After} {
		if s.Stopped {
			lines = append(lines, fmt.Sprintf("%s was ended by what it showed; intervals and p are made for a number of leagues fixed beforehand, and promise too much.", printable(s.Dir)))
		}
	}
	if r.Excluded {
		lines = append(lines, "Ranks are not compared, because the fields differ in size.")
	}
	if len(r.Gone)+len(r.New) > 0 {
		lines = append(lines, "The opponents differ: a change may be theirs.")
	}
	return lines
}

// changed says what really changed for a player.
func (c *Contrast) changed(p *contrast.Player) string {
	var parts []string
	for _, e := range p.Effects {
		if e.Verdict != analysis.Different {
			continue
		}
		places, scale, unit := 4, 1.0, "adjusted points"
		if e.Unchanged {
			unit = "adjusted points of spill-over"
		}
		switch e.Quantity {
		case analysis.Differ:
			places, scale, unit = 2, 100, "percentage points of differing"
		case analysis.Rank:
			places, unit = 2, "places"
		}
		parts = append(parts, fmt.Sprintf("%+.*f %s (%+.*f to %+.*f)", places, scale*e.Difference.Estimate, unit,
			places, scale*e.Difference.Low, places, scale*e.Difference.High))
	}
	who := "Really changed: " + printable(p.Name)
	switch {
	case len(c.Replaced) == 0:
	case slices.Contains(c.Replaced, p.Name):
		who = "The exchange changes " + printable(p.Name)
	default:
		who = "It changes " + printable(p.Name)
	}
	return who + ": " + strings.Join(parts, ", ") + "."
}

// listed is "a, b or c".
func listed(names []string, word string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + word + " " + names[len(names)-1]
}
