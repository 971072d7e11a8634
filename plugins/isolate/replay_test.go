package isolate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// script loads a toy.
func script(tb testing.TB, f catalog.Format, how string) strategies.Factory {
	tb.Helper()
	made, err := f.Load(tb.Context(), "toy", "toys/toy.toy", []byte(how), patient)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := made.Close(); err != nil {
			tb.Error(err)
		}
	})
	return made
}

// notes gathers what is noted of a run.
type notes struct{ text strings.Builder }

func (n *notes) Append(l *results.League) error {
	for _, x := range l.Notes {
		n.text.WriteString(x.Text + "\n")
	}
	return nil
}

func digest(t *testing.T, f strategies.Factory, to experiments.Sink) string {
	t.Helper()
	field := []strategies.Factory{f, f, f, f}
	p := plan(12, 4, field)
	a, err := arena.New(p, field, arena.Config{Block: 8})
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Run(t.Context(), p, a, to, experiments.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Digest
}

// TestOnlyTheCulpritForfeits kills the worker over and over. Every seat that
// had no part in it plays on as if nothing had been.
func TestOnlyTheCulpritForfeits(t *testing.T) {
	t.Parallel()
	o := plugins.Config{Restarts: 1000}
	outside := formats(o)
	apart := outside[len(outside)-1]
	want := digest(t, script(t, toy(), "crash"), nobody{})
	if harmless := digest(t, script(t, toy(), "play"), nobody{}); harmless == want {
		t.Fatal("no seat crashes")
	} else if got := digest(t, script(t, apart, "play"), nobody{}); got != harmless {
		t.Errorf("digest %s isolated, %s in process", got, harmless)
	}
	for how, says := range map[string]*regexp.Regexp{
		"die": regexp.MustCompile("exit status 9"),
		"eat": regexp.MustCompile("out of memory|ThreadSanitizer failed to allocate"), // which is first under the race detector
	} {
		if how == "eat" && !wholeSets {
			continue
		}
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var n notes
			if got := digest(t, script(t, apart, how), &n); got != want {
				t.Errorf("digest %s of seats that killed their worker, %s of those that said they did", got, want)
			}
			if !says.MatchString(n.text.String()) {
				t.Errorf("no note says %q:\n%s", says, n.text.String())
			}
		})
	}
	for _, how := range []string{"die at start", "die observing"} {
		if how == "die at start" && !wholeSets {
			continue
		}
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var n notes
			digest(t, script(t, apart, how), &n)
			if text := n.text.String(); !strings.Contains(text, "exit status 9") || strings.Contains(text, "quarantined for the rest of the run") {
				t.Errorf("notes:\n%s", text)
			}
		})
	}
	t.Run("quarantined", func(t *testing.T) {
		t.Parallel()
		few := formats(plugins.Config{Restarts: 2})
		var n notes
		digest(t, script(t, few[len(few)-1], "die"), &n)
		if !strings.Contains(n.text.String(), "quarantined for the rest of the run") {
			t.Errorf("notes:\n%s", n.text.String())
		}
	})
}
