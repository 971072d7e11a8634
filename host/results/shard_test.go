package results_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func shardPlan() results.Plan {
	return results.Plan{
		Schema: results.PlanSchema, Runs: 200, Legs: 1, Seed: 5, Transport: "direct",
		Field: []results.Entrant{{Name: "a"}, {Name: "b"}},
		Shard: &results.Shard{Number: 2, Of: 3, First: 64, End: 128, Quarantined: []int{1}},
	}
}

// The folder of a shard begins with its first league, takes no other, and is continued
// like a run, also after an end that was cut off.
func TestShardFolder(t *testing.T) {
	path, plan := t.TempDir(), shardPlan()
	match := results.Match{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: 4}
	league := func(index int) *results.League {
		return &results.League{Index: index, Seats: []int{1, 0}, Matches: []results.Match{match}}
	}
	whole := plan
	if whole.Shard = nil; plan.Hash() != whole.Hash() { // their records can be told to belong together
		t.Error("a shard has another hash than its run")
	}
	dir, err := results.Create(path, plan)
	must(t, err)
	for _, index := range []int{0, 63, 65, 128} {
		if err := dir.Append(league(index)); err == nil {
			t.Errorf("league %d was recorded first", index)
		}
	}
	for index := 64; index < 67; index++ {
		must(t, dir.Append(league(index)))
	}
	must(t, dir.Close())
	file := filepath.Join(path, results.LeaguesFile)
	for left := 3; left >= 1; left-- {
		dir, err := results.Open(path)
		if err != nil || dir.Len() != left {
			t.Fatalf("%d leagues are left, %v, want %d", dir.Len(), err, left)
		}
		must(t, dir.Close())
		info, err := os.Stat(file)
		must(t, err)
		must(t, os.Truncate(file, info.Size()-1))
	}
	if dir, err = results.Open(path); err != nil || dir.Len() != 0 {
		t.Fatalf("%v, want no league", err)
	}
	must(t, dir.Append(league(64)), dir.Close())
	if _, err := results.OpenReader(path); err == nil || !strings.HasPrefix(err.Error(), "holds shard 2/3 of a run, with leagues 64 to 127 only") {
		t.Errorf("read as a run: %v", err)
	}
}
