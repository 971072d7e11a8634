package results_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func decodeAll(r io.Reader) ([]*results.League, error) {
	dec, err := results.NewDecoder(r)
	if err != nil {
		return nil, err
	}
	var out []*results.League
	for {
		l, err := dec.Decode()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, clone(l))
	}
}

// draws have supports that fit a match into one byte, just fit, do not fit, and have gaps.
var draws = []string{"", "uniform:1-10", "uniform:0-0", "uniform:3-65", "uniform:3-66", "uniform:0-255",
	"weights:0=1,1000000=3", "weights:2=1,4=1,6=9998"}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := testPlan(rapid.IntRange(2, 12).Draw(t, "players"), rapid.IntRange(1, 4).Draw(t, "legs"), 9,
			rapid.SampledFrom(draws).Draw(t, "draw"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		first := rapid.IntRange(0, 300).Draw(t, "first")
		var want []*results.League
		for i := range rapid.IntRange(0, 5).Draw(t, "leagues") {
			want = append(want, clone(randomLeague(t, plan, first+i, rng)))
		}
		got, err := decodeAll(bytes.NewReader(encode(t, plan, want)))
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("leagues differ (-want +got):\n%s", diff)
		}
	})
}

func TestManyPlayersTakeTwoBytesASeat(t *testing.T) {
	for _, players := range []int{256, 257} {
		plan := testPlan(players, 1, 1, "")
		want := randomLeagues(t, plan, 1)
		got, err := decodeAll(bytes.NewReader(encode(t, plan, want)))
		must(t, err)
		wantLeagues(t, got, want)
	}
}

func TestAboutAByteAMatch(t *testing.T) {
	plan := testPlan(16, 10, 1, "")
	rng := rand.New(rand.NewPCG(1, 1))
	l := randomLeague(t, plan, 0, rng)
	for i := range l.Matches {
		l.Matches[i] = results.Match{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: 10}
	}
	l.Notes = nil
	empty, full := encode(t, plan, nil), encode(t, plan, []*results.League{l})
	// Length, checksum, index and number of notes are 4+4+1+1 bytes, seats 16.
	if got, want := len(full)-len(empty), 1200+16+10; got != want {
		t.Errorf("a league of 1200 matches takes %d bytes, want %d", got, want)
	}
}

// TestGolden pins the format: a file written by an earlier version must stay
// readable. A change here needs a new version number.
func TestGolden(t *testing.T) {
	even, odd := game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}
	for name, tc := range map[string]struct {
		draw    string
		matches []results.Match
	}{
		"narrow.v1": {"", []results.Match{
			{A: even, B: odd, Number: 1},
			{A: odd, B: odd, Number: 10},
			{A: game.Side{Fault: game.FaultError}, B: even, Number: results.NoNumber},
		}},
		"wide.v1": {"uniform:0-255", []results.Match{
			{A: odd, B: even, Number: 255},
			{A: even, B: even, Number: 0},
			{A: game.Side{Fault: game.FaultForfeit}, B: game.Side{Choice: game.Odd, Fault: game.FaultTimeout}, Number: results.NoNumber},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := []*results.League{
				{Index: 0, Seats: []int{2, 0, 1}, Matches: tc.matches,
					Notes: []results.Note{{Field: 1, Fault: game.FaultError, Text: "mine.lua:3: choose: no"}}},
				{Index: 1, Seats: []int{0, 1, 2}, Matches: tc.matches},
			}
			path := filepath.Join("testdata", name+".hex")
			plan := testPlan(3, 1, 2, tc.draw)
			plan.Schema = results.PlanSchema1
			b := encode(t, plan, want)
			if *update {
				must(t, os.WriteFile(path, []byte(hex.Dump(b)), 0o644))
			}
			golden, err := os.ReadFile(path)
			must(t, err)
			if diff := cmp.Diff(string(golden), hex.Dump(b)); diff != "" {
				t.Errorf("format changed (-golden +now):\n%s", diff)
			}
			got, err := decodeAll(bytes.NewReader(b))
			must(t, err)
			wantLeagues(t, got, want)
		})
	}
}

func TestEncodeRefusesWhatCannotHappen(t *testing.T) {
	plan := testPlan(3, 1, 2, "")
	side := game.Side{Choice: game.Even}
	for name, spoil := range map[string]func(*results.League){
		"too few matches":        func(l *results.League) { l.Matches = l.Matches[:2] },
		"negative index":         func(l *results.League) { l.Index = -1 },
		"index too large":        func(l *results.League) { l.Index = results.MaxRuns },
		"player on two seats":    func(l *results.League) { l.Seats = []int{0, 1, 1} },
		"player outside field":   func(l *results.League) { l.Seats = []int{0, 1, 3} },
		"seat missing":           func(l *results.League) { l.Seats = []int{0, 1} },
		"number not in the draw": func(l *results.League) { l.Matches[0] = results.Match{A: side, B: side, Number: 11} },
		"no number":              func(l *results.League) { l.Matches[0] = results.Match{A: side, B: side, Number: results.NoNumber} },
		"no choice":              func(l *results.League) { l.Matches[0] = results.Match{A: side, Number: 3} },
		"no such choice":         func(l *results.League) { l.Matches[0].A.Choice = 3 },
		"number after a fault": func(l *results.League) {
			l.Matches[0] = results.Match{A: side, B: game.Side{Fault: game.FaultError}, Number: 3}
		},
		"fault too large": func(l *results.League) {
			l.Matches[0] = results.Match{A: side, B: game.Side{Fault: 64}, Number: results.NoNumber}
		},
		"note too long": func(l *results.League) {
			l.Notes = []results.Note{{Fault: game.FaultError, Text: strings.Repeat("x", results.MaxNoteText+1)}}
		},
		"note on nobody": func(l *results.League) { l.Notes = []results.Note{{Field: 3}} },
		"too many notes": func(l *results.League) { l.Notes = make([]results.Note, 3*64+1) },
	} {
		var buf bytes.Buffer
		enc, err := results.NewEncoder(&buf, header(t, plan))
		must(t, err)
		before := buf.Len()
		l := randomLeague(t, plan, 0, rand.New(rand.NewPCG(3, 3)))
		spoil(l)
		if err := enc.Encode(l); err == nil || buf.Len() != before {
			t.Errorf("%s: error %v, %d bytes written", name, err, buf.Len()-before)
		}
	}
}

// Damage of a header is among what TestCrashOfARun does; here it is cut, or of a later version.
func TestDecodeReportsHeaderDamage(t *testing.T) {
	whole := encode(t, testPlan(4, 2, 5, ""), nil)
	for at := range whole {
		if _, err := results.NewDecoder(bytes.NewReader(whole[:at])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at byte %d: %v, want unexpected EOF", at, err)
		}
	}
	whole[8] = 2
	if _, err := results.NewDecoder(bytes.NewReader(whole)); err == nil || !strings.Contains(err.Error(), "format version 2") {
		t.Errorf("newer version: %v", err)
	}
}

// TestDecodeDoesNotTrustLengths gives a record a length that is plausible and
// wrong: memory must follow the bytes that are there.
func TestDecodeDoesNotTrustLengths(t *testing.T) {
	b := encode(t, testPlan(300, 1, 1, ""), nil)
	b = binary.LittleEndian.AppendUint32(b, 10<<20)
	b = append(b, make([]byte, 100)...)
	dec, err := results.NewDecoder(bytes.NewReader(b))
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = dec.Decode()
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "cut short after 104 bytes") {
		t.Errorf("error %v, want that the record is cut short", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d MB allocated for a record of 100 bytes", got>>20)
	}
}

func TestDecodeReusesMemory(t *testing.T) {
	plan := testPlan(6, 3, 200, "")
	leagues := randomLeagues(t, plan, 200)
	for _, l := range leagues {
		l.Notes = nil
	}
	dec, err := results.NewDecoder(bytes.NewReader(encode(t, plan, leagues)))
	must(t, err)
	if n := testing.AllocsPerRun(150, func() {
		if _, err := dec.Decode(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a league", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	plan := testPlan(18, 10, 64, "")
	file := encode(b, plan, randomLeagues(b, plan, 64))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		dec, err := results.NewDecoder(bytes.NewReader(file))
		must(b, err)
		for {
			l, err := dec.Decode()
			if err == io.EOF {
				break
			}
			must(b, err)
			n += len(l.Matches)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/match")
}

func BenchmarkEncode(b *testing.B) {
	plan := testPlan(18, 10, 64, "")
	leagues := randomLeagues(b, plan, 64)
	enc, err := results.NewEncoder(io.Discard, header(b, plan))
	must(b, err)
	n := 0
	for b.Loop() {
		for _, l := range leagues {
			must(b, enc.Encode(l))
			n += len(l.Matches)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/match")
}
