package workers_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// TestSameRecords plays one plan in this process, with every script in a process of
// its own, and in workers. Records and faults are the same.
func TestSameRecords(t *testing.T) {
	t.Parallel()
	plan := planOf(60, 4, make([]strategies.Factory, 5))
	inside := field(t, languages(), patient, "fails")
	want, faults := play(t, plan, here(t, plan, inside), 2)
	if faults[2] == 0 || faults[0]+faults[1] != 0 {
		t.Fatalf("faults %v, want some of the third player", faults)
	}
	alone := field(t, isolated(), patient, "fails")
	if got, also := play(t, plan, here(t, plan, alone), 1); got.Digest != want.Digest || !slices.Equal(also, faults) {
		t.Errorf("isolated: %+v with faults %v, in process: %+v with %v", got, also, want, faults)
	}
	formats, deaths := inWorkers(t, "worker")
	pooled := field(t, formats, patient, "fails")
	for i, f := range pooled {
		if f.Info() != inside[i].Info() {
			t.Errorf("info %+v from a worker, %+v in process", f.Info(), inside[i].Info())
		}
	}
	for number := 1; number <= 3; number++ {
		if got, also := play(t, plan, there(t, plan, pooled), number); got.Digest != want.Digest || !slices.Equal(also, faults) || !got.Reproducible {
			t.Errorf("%d workers: %+v with faults %v, in process: %+v with %v", number, got, also, want, faults)
		}
	}
	if n := deaths.n.Load(); n != 0 {
		t.Errorf("%d workers ended", n)
	}
}

// TestKilledWorkers plays with workers that are killed at random moments: nobody gets
// a fault for it.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	inside := field(t, languages(), patient, "fine")
	plan := planOf(200, 4, inside)
	want, _ := play(t, plan, here(t, plan, inside), 1)
	formats, deaths := inWorkers(t, "mortal")
	pooled := field(t, formats, patient, "fine")
	got, faults := play(t, plan, there(t, plan, pooled), 2)
	if got.Digest != want.Digest || slices.Max(faults) != 0 || !got.Reproducible {
		t.Errorf("%+v with faults %v, in process: %+v", got, faults, want)
	}
	if n := deaths.n.Load(); n == 0 {
		t.Error("no worker was killed")
	}
}

// TestHostileScripts plays with a script that ends its process or blocks it in some
// leagues: it loses those leagues, as in a process of its own, and no other player
// loses anything. From then on it has a process of its own. The log warns of it once.
func TestHostileScripts(t *testing.T) {
	t.Parallel()
	quick := budget.Limits{Time: 50 * time.Millisecond}
	for word, limits := range map[string]budget.Limits{"dies": patient, "eats": patient, "hangs": quick} {
		if os.Getenv("WHOLE_TESTS") == "" && word == "eats" {
			continue // a process after the other fills its memory
		}
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			alone := field(t, isolated(), limits, word)
			plan := planOf(16, 2, alone)
			want, wanted := play(t, plan, here(t, plan, alone), 1)
			formats, deaths := inWorkers(t, "worker")
			got, faults := play(t, plan, there(t, plan, field(t, formats, limits, word)), 1)
			if got.Digest != want.Digest {
				t.Errorf("%+v with faults %v, isolated: %+v with %v", got, faults, want, wanted)
			}
			if faults[2] == 0 || slices.Max(faults) != faults[2] || faults[0]+faults[1]+faults[3]+faults[4] != 0 {
				t.Errorf("faults %v, want some of the third player", faults)
			}
			if n := deaths.n.Load(); n != 1 {
				t.Errorf("%d workers ended, want 1", n)
			}
			if n := deaths.warned.Load(); n != 1 {
				t.Errorf("%d warnings, want 1", n)
			}
			if n := deaths.relayed.Load(); n == 0 && faults[2] > 2 {
				t.Error("no worker said that the isolated script has failed")
			}
		})
	}
}

// TestLoad has workers load scripts: errors are those of a load in this process, and
// a script that ends its worker is named.
func TestLoad(t *testing.T) {
	t.Parallel()
	formats, _ := inWorkers(t, "worker")
	open := func(formats []catalog.Format, name, source string) error {
		for _, f := range formats {
			if strings.HasSuffix(name, f.Ext) {
				_, err := f.Load(t.Context(), "x", name, []byte(source), patient)
				return err
			}
		}
		return fmt.Errorf("no format for %s", name)
	}
	for name, source := range map[string]string{
		"x.toy": "fails to load", "x.lua": "function choose() return 1 +", "y.lua": "x = 1", "x.js": "choose = 3",
	} {
		got, want := open(formats, name, source), open(languages(), name, source)
		var a, b *strategies.Error
		if !errors.As(got, &a) || !errors.As(want, &b) || a.Error() != b.Error() || a.Line != b.Line || strategies.FaultOf(a) != strategies.FaultOf(b) {
			t.Errorf("%s: %v from a worker, %v in process", name, got, want)
		}
	}
	if err := open(formats, "killer.toy", "dies at load"); err == nil || !strings.Contains(err.Error(), "killer.toy") && !strings.Contains(err.Error(), "plugin x") {
		t.Errorf("a script that ends its loader: %v", err)
	}
	load(t, formats, "fine.toy", "fine", patient) // the pool is as good as before
}

// TestUselessWorkers: workers that end at once end the run, with the reason, and tasks.
func TestUselessWorkers(t *testing.T) {
	t.Parallel()
	formats, deaths := inWorkers(t, "stillborn")
	factories := field(t, formats, patient)
	plan := planOf(6, 1, factories)
	_, err := experiments.Run(t.Context(), plan, there(t, plan, factories), new(faults), experiments.Config{Workers: 1})
	if !errors.Is(err, strategies.ErrCrashed) || !strings.Contains(err.Error(), "league 0") || deaths.n.Load() != 0 {
		t.Errorf("%v after %d deaths in leagues", err, deaths.n.Load())
	}
	place, _ := plugins.PlaceOf(factories[0])
	if err := place.Config.Workers.Do(t.Context(), "check", nil, nil); !plugins.Died(err) {
		t.Errorf("a task: %v", err)
	}
}

// A script that ends its worker in a field of too many for a process each loses its
// leagues, and nobody else does; whatever the number of workers. Of scripts that end it only
// together, none loses any.
func TestLargeFieldWithHostileScripts(t *testing.T) {
	t.Parallel()
	words := slices.Repeat([]string{"fine"}, 36)
	words[20], words[5], words[30] = "dies", "pairs", "pairs"
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
	if !errors.Is(err, workers.ErrMemory) || !strings.Contains(err.Error(), "a league of 990 players and 4 legs needs about 9.4 GiB") {
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
