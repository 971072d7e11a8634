package analysis_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// TestSums analyzes leagues in parts and adds the sums of the parts in any order: every
// byte is that of one analysis, faults and notes included.
func TestSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := genWorld(rt, t)
		leagues := w.leagues(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 9).Draw(rt, "leagues"))
		parts := make([][]results.League, rapid.IntRange(1, 4).Draw(rt, "parts"))
		for _, l := range leagues {
			at := rapid.IntRange(0, len(parts)-1).Draw(rt, "part")
			parts[at] = append(parts[at], l)
		}
		got, want := analyse(t, w.plan, nil), analyse(t, w.plan, leagues)
		for _, part := range rapid.Permutation(parts).Draw(rt, "order") {
			if err := got.AddSums(sumsOf(t, analyse(t, w.plan, part))); err != nil {
				rt.Fatal(err)
			}
		}
		if got, want := everything(got), everything(want); got != want {
			rt.Errorf("in parts:\n%s\nat once:\n%s", got, want)
		}
		if got, want := sumsOf(t, got), sumsOf(t, want); !bytes.Equal(got, want) {
			rt.Errorf("sums in parts:\n%s\nat once:\n%s", got, want)
		}
	})
}

func sumsOf(t *testing.T, a *analysis.Accumulator) []byte {
	t.Helper()
	text, err := a.Sums()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAddSumsRefuses gives sums that no leagues of the plan can have: nothing is added.
func TestAddSumsRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 1, bot{even: 0.5}, bot{even: 0.5, fault: 0.7, kind: game.FaultError}, bot{even: 0.5})
	acc := analyse(t, w.plan, w.leagues(1, 3))
	before := everything(acc)
	own := string(sumsOf(t, acc))
	larger := newWorld(t, "", 1, bot{}, bot{}, bot{}, bot{})
	for name, text := range map[string]string{
		"another field":    string(sumsOf(t, analyse(t, larger.plan, larger.leagues(1, 1)))),
		"no JSON":          own[1:],
		"a negative count": strings.Replace(own, `"counters":[3,`, `"counters":[-3,`, 1),
		"a wide product":   strings.Replace(own, `"products":["`, `"products":["1`+strings.Repeat("0", 40), 1),
		"no number":        strings.Replace(own, `"products":["`, `"products":["x`, 1),
		"another player":   strings.Replace(own, `"faults":[{"player":1`, `"faults":[{"player":3`, 1),
		"a note elsewhere": strings.Replace(own, `"notes":[{"player":1`, `"notes":[{"player":-1`, 1),
	} {
		if text == own {
			t.Fatalf("%s: not in %s", name, own)
		}
		if err := acc.AddSums([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "add sums: ") {
			t.Errorf("%s: error %v", name, err)
		}
		if everything(acc) != before {
			t.Fatalf("%s: added in part", name)
		}
	}
	large := strings.Replace(own, `"counters":[3,`, `"counters":[9223372036854775807,`, 1)
	if err := acc.AddSums([]byte(large)); err == nil || !strings.Contains(err.Error(), "larger than a plan allows") {
		t.Errorf("an overflow: error %v", err)
	}
}
