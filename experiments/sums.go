package experiments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/results"
)

// AddUp returns the outcome of complete parts without records, in the order of Whole, but
// for its digest. It is that of one Run if every part took the right players for
// quarantined. Otherwise its leagues would have to be replayed, which takes records; the
// error names the part and the players.
func AddUp(plan results.Plan, parts []Part) (Outcome, error) {
	out := Outcome{Reproducible: true}
	for _, p := range parts {
		if took := p.Plan.Shard.Quarantined; !slices.Equal(took, out.Quarantined) {
			return out, fmt.Errorf("%s: it took %s for quarantined before its first league, but the leagues before it quarantine %s; only a replay settles that: play all shards again with records",
				p.Name, names(plan, took), names(plan, out.Quarantined))
		}
		out.Leagues += p.Sums.Leagues
		out.Matches += p.Sums.Matches
		out.Reproducible = out.Reproducible && p.Sums.Reproducible
		out.Quarantined = p.Sums.Quarantined
	}
	return out, nil
}

// names lists players for people.
func names(plan results.Plan, fields []int) string {
	if len(fields) == 0 {
		return "nobody"
	}
	list := make([]string, len(fields))
	for i, field := range fields {
		list[i] = plan.Field[field].Name
	}
	return strings.Join(list, ", ")
}

// SumsOf returns what a run without records keeps of its leagues: its outcome, and the
// sums of their analysis.
func SumsOf(o Outcome, analysis []byte) results.Sums {
	quarantined := append([]int{}, o.Quarantined...)
	slices.Sort(quarantined)
	return results.Sums{
		Leagues: o.Leagues, Matches: o.Matches, Reproducible: o.Reproducible, Quarantined: quarantined, Digest: o.Digest, Analysis: analysis,
	}
}
