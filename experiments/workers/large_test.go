package workers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/strategies"
)

// A script that ends its worker in a field of too many for a process each loses its
// leagues, and nobody else does; whatever the number of workers.
func TestLargeFieldWithHostileScript(t *testing.T) {
	t.Parallel()
	words := slices.Repeat([]string{"fine"}, 36)
	words[20] = "dies"
	formats, deaths := inWorkers(t, "worker")
	factories := field(t, formats, patient, words...)
	plan := planOf(40, 1, factories)
	digest := ""
	for _, number := range []int{1, 2} {
		out, faults := play(t, plan, there(t, plan, factories), number)
		if digest == "" {
			digest = out.Digest
		}
		if out.Digest != digest {
			t.Errorf("digest %s with %d workers, want %s", out.Digest, number, digest)
		}
		for i, n := range faults {
			if (i == 22) != (n > 0) {
				t.Errorf("player %d has %d faults", i, n)
			}
		}
	}
	if deaths.n.Load() == 0 {
		t.Error("no worker has ended")
	}
}

// A field whose histories need more memory than workers may have is refused before
// anything is played; fewer legs are not, but then fewer workers play at once.
func TestFieldsNeedMemory(t *testing.T) {
	t.Parallel()
	formats, _ := inWorkers(t, "worker")
	one := load(t, formats, "x.toy", "fine", patient)
	factories := slices.Repeat([]strategies.Factory{one}, 990)
	_, err := workers.NewDriver(planOf(1, 4, factories), factories)
	var size *workers.SizeError
	if !errors.As(err, &size) || !strings.Contains(err.Error(), "a league of 990 players and 4 legs needs about 9.4 GiB") {
		t.Errorf("error %v", err)
	}
	if n := there(t, planOf(1, 1, factories), factories).Most(8); n != 1 {
		t.Errorf("%d workers play leagues of 990 at once", n)
	}
	few := factories[:20]
	if n := there(t, planOf(1, 10, few), few).Most(8); n != 8 {
		t.Errorf("%d workers play leagues of 20 at once", n)
	}
}
