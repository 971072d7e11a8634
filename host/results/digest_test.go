package results_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func digest(t *testing.T, leagues ...*results.League) string {
	t.Helper()
	h := results.NewHasher()
	for _, l := range leagues {
		must(t, h.Add(l))
	}
	if h.Len() != len(leagues) {
		t.Errorf("%d leagues counted, want %d", h.Len(), len(leagues))
	}
	return h.Digest()
}

// TestDigestIsWhatTheFormatSays spells two leagues out by hand from FORMAT.md.
func TestDigestIsWhatTheFormatSays(t *testing.T) {
	even, odd := game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}
	league := func(index int, m results.Match) *results.League {
		return &results.League{Index: index, Seats: []int{1, 0}, Matches: []results.Match{m}}
	}
	got := digest(t,
		league(0, results.Match{A: even, B: odd, Number: 200}),
		league(1, results.Match{A: game.Side{Fault: game.FaultTimeout}, B: odd, Number: results.NoNumber}))

	first := sha256.Sum256([]byte("strategylab/league/v1\x00" +
		"\x00" + "\x02\x01\x00" + "\x01" + "\x21\xc9\x01")) // 1 + 16*2; 201 as uvarint
	second := sha256.Sum256([]byte("strategylab/league/v1\x00" +
		"\x01" + "\x02\x01\x00" + "\x01" + "\x24\x00")) // 4 + 16*2; none
	want := sha256.Sum256(append(first[:], second[:]...))
	if got != hex.EncodeToString(want[:]) {
		t.Errorf("digest %s, want %x", got, want)
	}
	// SHA-256 of nothing, FIPS 180-4.
	if got := digest(t); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("digest of no leagues: %s", got)
	}
}

func TestDigestDependsOnWhatHappenedOnly(t *testing.T) {
	base := func() *results.League {
		return &results.League{Seats: []int{1, 0, 2}, Matches: []results.Match{
			{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: 3},
			{A: game.Side{Fault: game.FaultTimeout}, B: game.Side{Choice: game.Odd}, Number: results.NoNumber},
			{A: game.Side{Choice: game.Odd}, B: game.Side{Choice: game.Odd}, Number: 300},
		}}
	}
	want := digest(t, base())
	for name, tc := range map[string]struct {
		change func(*results.League)
		same   bool
	}{
		"kind of fault":         {func(l *results.League) { l.Matches[1].A.Fault = game.FaultNoAnswer }, true},
		"a note":                {func(l *results.League) { l.Notes = []results.Note{{Text: "x"}} }, true},
		"seats":                 {func(l *results.League) { l.Seats = []int{0, 1, 2} }, false},
		"a choice":              {func(l *results.League) { l.Matches[0].A.Choice = game.Odd }, false},
		"roles":                 {func(l *results.League) { m := &l.Matches[0]; m.A, m.B = m.B, m.A }, false},
		"a number":              {func(l *results.League) { l.Matches[0].Number = 5 }, false},
		"a large number":        {func(l *results.League) { l.Matches[2].Number = 302 }, false},
		"choice beside a fault": {func(l *results.League) { l.Matches[1].B.Choice = game.NoParity }, false},
		"a fault less":          {func(l *results.League) { l.Matches[1].A.Fault = game.NoFault }, false},
		"order of matches":      {func(l *results.League) { l.Matches[0], l.Matches[2] = l.Matches[2], l.Matches[0] }, false},
	} {
		l := base()
		tc.change(l)
		if got := digest(t, l) == want; got != tc.same {
			t.Errorf("%s: same digest %v, want %v", name, got, tc.same)
		}
	}
}

// The digest may be asked for after each league, and takes them in their order only.
func TestHasherResumes(t *testing.T) {
	leagues := randomLeagues(t, testPlan(4, 2, 3, ""), 3)
	h := results.NewHasher()
	for i, l := range leagues {
		if got, want := h.Digest(), digest(t, leagues[:i]...); got != want {
			t.Errorf("after %d leagues: %s, want %s", i, got, want)
		}
		if err := h.Add(l); err != nil || h.Add(l) == nil {
			t.Errorf("league %d: %v, or accepted twice", i, err)
		}
	}
}
