package results_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// A run without records keeps its plan while it plays, and sums at its end. Until then the
// same run may start over in its folder; another may not.
func TestSumsFolder(t *testing.T) {
	path, plan := t.TempDir(), shardPlan()
	plan.Records = results.RecordsNone
	for range 2 {
		dir, err := results.Create(path, plan)
		if err != nil {
			t.Fatal(err)
		}
		l := results.League{Index: 64, Seats: []int{1, 0}, Matches: []results.Match{{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: 4}}}
		if err := errors.Join(dir.Append(&l), dir.Close()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := results.ReadSums(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("before the end: %v", err)
		}
	}
	other := plan
	other.Shard = &results.Shard{Number: 1, Of: 3, First: 0, End: 64}
	if _, err := results.Create(path, other); !errors.Is(err, results.ErrExists) {
		t.Errorf("another shard: %v", err)
	}
	dir, err := results.Create(path, plan)
	if err != nil {
		t.Fatal(err)
	}
	want := results.Sums{Leagues: 64, Matches: 64, Reproducible: true, Quarantined: []int{1}, Digest: "d", Analysis: json.RawMessage(`{"counters":[1]}`)}
	if err := errors.Join(dir.KeepSums(want), dir.Close()); err != nil {
		t.Fatal(err)
	}
	_, got, err := results.ReadSums(path)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-kept +read):\n%s", err, diff)
	}
	if _, err := results.Create(path, plan); !errors.Is(err, results.ErrExists) {
		t.Errorf("a complete run: %v", err)
	}
	if _, err := results.OpenShard(path); !errors.Is(err, results.ErrNoRecords) {
		t.Errorf("open for reading: %v", err)
	}
	if _, err := results.Open(path); !errors.Is(err, results.ErrNoRecords) {
		t.Errorf("open: %v", err)
	}
}
