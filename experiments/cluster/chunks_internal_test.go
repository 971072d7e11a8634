package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// A chunk that ends workers is divided to find its league, and the players to find the one
// at fault, in the fewest steps; later chunks are played without that one from the start.
func TestDivision(t *testing.T) {
	t.Parallel()
	plan := internalPlan(300, "a", "b", "c", "d", "e")
	with := func(at int, fields ...int) func(int, []bool) bool {
		return func(league int, quarantined []bool) bool {
			return league >= at && !slices.ContainsFunc(fields, func(f int) bool { return quarantined[f] })
		}
	}
	const reason = "; look at the log of a worker for the reason"
	killed := "worker w1 could not play leagues: killed"
	dividing := "5 workers in a row could not play leagues 0 to 3; dividing them"
	looking := "league 2 ended or failed 5 workers in a row (w1: killed); looking for the player at fault"
	for title, tc := range map[string]struct {
		suspects []string
		fatal    func(int, []bool) bool
		played   []string
		notes    []string
		aside    map[int]int
		err      string
	}{
		"nothing": {fatal: with(400), played: []string{"0+4", "8+1"}},
		"the last of four": {
			[]string{"a", "b", "c", "d"}, with(2, 3),
			[]string{"0+4", "0+1", "1+1", "2+1", "2+1 a b", "2+1 c", "2+1 d", "3+1 d", "8+1 d"},
			[]string{killed, dividing, looking, "league 2 ends or fails every worker that plays it with d, put aside from there on"}, map[int]int{3: 2}, "",
		},
		"the first of four": {
			[]string{"a", "b", "c", "d"}, with(2, 0),
			[]string{"0+4", "0+1", "1+1", "2+1", "2+1 a b", "2+1 a", "2+1 a", "3+1 a", "8+1 a"},
			[]string{killed, dividing, looking, "league 2 ends or fails every worker that plays it with a, put aside from there on"}, map[int]int{0: 2}, "",
		},
		"the only suspect": {
			[]string{"e"}, with(2, 4),
			[]string{"0+4", "0+1", "1+1", "2+1", "2+1 e", "3+1 e", "8+1 e"},
			[]string{killed, dividing, looking, "league 2 ends or fails every worker that plays it with e, put aside from there on"}, map[int]int{4: 2}, "",
		},
		"two of them": {
			[]string{"b", "d"}, func(league int, q []bool) bool { return league >= 2 && !(q[1] && q[3]) },
			[]string{"0+4", "0+1", "1+1", "2+1", "2+1 b", "2+1 d", "2+1 b d", "3+1 b d", "8+1 b d"},
			[]string{killed, dividing, looking, "league 2 ends or fails every worker that plays it with b, d, put aside from there on"}, map[int]int{1: 2, 3: 2}, "",
		},
		"somebody else": {
			[]string{"b", "d"}, with(2, 4),
			[]string{"0+4", "0+1", "1+1", "2+1", "2+1 b", "2+1 d", "2+1 b d"},
			[]string{killed, dividing, looking}, nil, "league 2 ended or failed 5 workers that tried to play it (w1: killed), also without b, d" + reason,
		},
		"nobody is suspect": {
			nil, with(2), []string{"0+4", "0+1", "1+1", "2+1"},
			[]string{killed, dividing}, nil, "league 2 ended or failed 5 workers that tried to play it (w1: killed)" + reason,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, notes := coordinator(t, plan, tc.suspects, tc.fatal)
			w.looking(t)
			name := func(text string) string { return strings.ReplaceAll(text, "w1 ("+w.key.id+")", "w1") }
			waiter := &waiter{coordinator: w.c}
			err := waiter.Play(t.Context(), 0, make([]results.League, 4), make([]bool, 5))
			if err == nil {
				err = waiter.Play(t.Context(), 8, make([]results.League, 1), make([]bool, 5))
			}
			if err == nil && tc.err != "" || err != nil && name(err.Error()) != tc.err {
				t.Errorf("%s: error %v, want %q", title, err, tc.err)
			}
			for i := range *notes {
				(*notes)[i] = name((*notes)[i])
			}
			if diff := cmp.Diff(tc.played, w.played); diff != "" {
				t.Errorf("%s: chunks (-want +got):\n%s", title, diff)
			}
			if diff := cmp.Diff(tc.notes, *notes); diff != "" {
				t.Errorf("%s: notes (-want +got):\n%s", title, diff)
			}
			if len(w.c.poison) != len(tc.aside) || len(tc.aside) > 0 && !cmp.Equal(tc.aside, w.c.poison) {
				t.Errorf("%s: put aside %v, want %v", title, w.c.poison, tc.aside)
			}
			if len(w.c.owed) > 0 || len(w.c.waiting) > 0 || len(w.c.rescue) > 0 {
				t.Errorf("%s: %d chunks are waited for, %d rescued, after the end", title, len(w.c.owed), len(w.c.rescue))
			}
		})
	}
}

// The first league of each chunk says that a player is put aside: the run quarantines it
// from the first of them on.
func TestDivisionIsNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testDivisionIsNoted)
}

func testDivisionIsNoted(t *testing.T) {
	w, _ := coordinator(t, internalPlan(300, "a", "b"), []string{"b"}, func(league int, q []bool) bool { return league == 70 && !q[1] })
	w.looking(t)
	out := make([]results.League, 128)
	if err := (&waiter{coordinator: w.c}).Play(t.Context(), 0, out, make([]bool, 2)); err != nil {
		t.Fatal(err)
	}
	// Pieces of two leagues, then single ones.
	want := []string{"68+2", "70+2", "70+1", "70+1 b", "71+1 b", "72+2 b"}
	if at := slices.Index(w.played, want[0]); at < 0 || !slices.Equal(w.played[at:at+len(want)], want) {
		t.Errorf("chunks %q, want %q among them", w.played, want)
	}
	for i := range out {
		quarantined := slices.ContainsFunc(out[i].Notes, func(n results.Note) bool { return n.Fault == game.FaultQuarantined })
		if begins := i == 70 || i == 71 || i >= 72 && i%2 == 0; out[i].Index != i || quarantined != begins {
			t.Errorf("league %d: index %d, a note of quarantine: %v", i, out[i].Index, quarantined)
		}
	}
	if n := out[70].Notes; len(n) == 0 || n[len(n)-1].Field != 1 ||
		!strings.HasPrefix(n[len(n)-1].Text, "put aside from league 70 on: leagues with it ended or failed 5 workers") {
		t.Errorf("notes of league 70: %+v", n)
	}
}

// Records that cannot be right are refused with what is impossible about them, and nothing
// of them is kept.
func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	w, _ := coordinator(t, internalPlan(300, "a", "b", "c"), nil, nil)
	honest := make([]results.League, 4)
	if err := w.player.Play(t.Context(), 10, honest, make([]bool, 3)); err != nil {
		t.Fatal(err)
	}
	encode := func(change func(all []results.League)) []byte {
		t.Helper()
		all := slices.Clone(honest)
		for i := range all {
			all[i].Seats, all[i].Matches = slices.Clone(all[i].Seats), slices.Clone(all[i].Matches)
		}
		if change != nil {
			change(all)
		}
		data, err := w.encoder.Encode(all)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(data)
	}
	sound := encode(nil)
	quarantine := encode(func(all []results.League) {
		all[2].Notes = []results.Note{{Field: 1, Fault: game.FaultQuarantined, Text: "because"}}
	})
	later := encode(func(all []results.League) {
		for i := range all {
			all[i].Index++
		}
	})
	seats := encode(func(all []results.League) { s := all[1].Seats; s[0], s[1] = s[1], s[0] })
	drawn := encode(func(all []results.League) { m := &all[1].Matches[2]; m.Number = m.Number%10 + 1 })
	for name, tc := range map[string]struct {
		r    report
		data []byte
		want string
	}{
		"other seats":     {report{First: 10, Count: 4}, seats, "league 11 has other seats"},
		"another draw":    {report{First: 10, Count: 4}, drawn, "league 11, match 2: the number is"},
		"sound":           {report{First: 10, Count: 4}, sound, ""},
		"no leagues":      {report{First: 10}, sound, "it sent 0 leagues from 10 on, want some of 10 to 13"},
		"fewer":           {report{First: 10, Count: -2}, sound, "it sent -2 leagues from 10 on, want some of 10 to 13"},
		"before":          {report{First: 9, Count: 4}, sound, "it sent 4 leagues from 9 on, want some of 10 to 13"},
		"not the first":   {report{First: 12, Count: 2}, sound, ""}, // what was before may be lost
		"too many":        {report{First: 12, Count: 3}, sound, "it sent 3 leagues from 12 on, want some of 10 to 13"},
		"after":           {report{First: 10, Count: 1 << 40}, sound, "it sent 1099511627776 leagues from 10 on, want some of 10 to 13"},
		"too few":         {report{First: 10, Count: 4}, nil, "records of 0 leagues from league 10 on, want 4"},
		"quarantine":      {report{First: 10, Count: 4}, quarantine, "it quarantined a player in league 12, which is not for a worker to do"},
		"other leagues":   {report{First: 10, Count: 4}, later, "league 11"},
		"a lie is quoted": {report{First: 10, Count: 4, Error: "\x1b[2J"}, nil, ""},
	} {
		liar, o := newIdentity(), &owed{request: chunk.Request{First: 10, Count: 4, Quarantined: make([]bool, 3)}, inbox: make(chan arrival, 8)}
		w.join(liar.id, "liar")
		w.c.owe(o)
		w.c.mu.Lock()
		if o.given[liar.id] == nil {
			w.c.give(o, w.c.members[liar.id], time.Now())
		}
		w.c.mu.Unlock()
		tc.r.Part = o.part
		out := make([]results.League, 4)
		by, err := w.c.open(o, w.records(t, liar, tc.r, tc.data), make(map[string][]piece), out)
		why := w.c.aside[liar.id]
		switch {
		case err != nil:
			t.Errorf("%s: %v, but nothing of it was accepted", name, err)
		case name == "sound":
			if diff := cmp.Diff(honest, out, cmpopts.EquateEmpty()); by != liar.id || diff != "" {
				t.Errorf("%s: from %q (-sent +kept):\n%s", name, by, diff)
			}
		case by != "" || !strings.Contains(why, tc.want) || tc.want != "" && !strings.HasPrefix(why, "its records cannot be right: "):
			t.Errorf("%s: accepted from %q\n got  %s\n want %s", name, by, why, tc.want)
		}
		w.c.forget(o)
	}
}

// How many leagues a chunk has, and how many chunks there are, follows the workers that
// can play the run, within the limits of memory and of a chunk.
func TestLimitsOfWorkers(t *testing.T) {
	t.Parallel()
	const no = "too big"
	for name, tc := range map[string]struct {
		workers         []Presence
		took            float64 // seconds a league
		left            int
		leagues, chunks int
	}{
		"no worker yet":           {nil, 0, 1000, 1, 4},
		"nothing played yet":      {[]Presence{{ID: "w1", Cores: 8}}, 0, 1000, 1, 18},
		"chunks of a fifth":       {[]Presence{{ID: "w1", Cores: 1}}, 0.01, 1000, 16, 4}, // 20, as a power of two
		"slow leagues":            {[]Presence{{ID: "w1", Cores: 1}}, 3, 1000, 1, 4},
		"the most of a chunk":     {[]Presence{{ID: "w1", Cores: 1}}, 1e-9, 1 << 30, 64, 4},
		"the end is near":         {[]Presence{{ID: "w1", Cores: 1}}, 1e-9, 30, 4, 4}, // 7 for each chunk
		"the end":                 {[]Presence{{ID: "w1", Cores: 1}}, 1e-9, 0, 1, 4},
		"several":                 {[]Presence{{ID: "w1", Cores: 3}, {ID: "w2", Cores: 4}}, 0.1, 1000, 2, 16},
		"one refuses":             {[]Presence{{ID: "w1", Cores: 3}, {ID: "w2", Cores: 4, Refuses: map[string]string{"run": no}}}, 0.1, 1000, 2, 8},
		"one refuses another run": {[]Presence{{ID: "w1", Cores: 3}, {ID: "w2", Cores: 4, Refuses: map[string]string{"other": no}}}, 0.1, 1000, 2, 16},
		"one is put aside":        {[]Presence{{ID: "liar", Cores: 64}, {ID: "w2", Cores: 4}}, 0.1, 1000, 2, 10},
		"a hall of machines":      {[]Presence{{ID: "w1", Cores: 1 << 20}}, 0.1, 1 << 30, 2, MaxChunks},
	} {
		c := &Coordinator{job: Job{Run: "run", Plan: internalPlan(1000, "a", "b")}, took: tc.took, most: 64, aside: map[string]string{"liar": "it lies"}, members: map[string]*member{}}
		for _, p := range tc.workers {
			p.Plays = []string{"run"}
			c.members[p.ID] = &member{Presence: p, delivered: 1 << 20}
		}
		if leagues, chunks := c.Next(tc.left); leagues != tc.leagues || chunks != tc.chunks {
			t.Errorf("%s: %d leagues in each of %d chunks, want %d in %d", name, leagues, chunks, tc.leagues, tc.chunks)
		}
	}
	// Only chunks of the run reach its players.
	r := &served{plan: internalPlan(100, "a", "b")}
	for want, q := range map[string]chunk.Request{
		"chunk of leagues -1 to 0 with 2 players does not belong to this run":   {First: -1, Count: 2, Quarantined: make([]bool, 2)},
		"chunk of leagues 99 to 100 with 2 players does not belong to this run": {First: 99, Count: 2, Quarantined: make([]bool, 2)},
		"chunk of leagues 0 to -1 with 2 players does not belong to this run":   {Quarantined: make([]bool, 2)},
		"chunk of leagues 0 to 9 with 3 players does not belong to this run":    {Count: 10, Quarantined: make([]bool, 3)},
	} {
		if _, err := r.play(t.Context(), q); err == nil || err.Error() != want {
			t.Errorf("%+v:\n got  %v\n want %s", q, err, want)
		}
	}
}

// Records that are too long for one message are sent in several, which hold all leagues
// once and in order; a league that is too long alone has one to itself.
func TestDivisionOfRecords(t *testing.T) {
	t.Parallel()
	w, _ := coordinator(t, internalPlan(300, "a", "b", "c"), nil, nil)
	p := &player{encoder: w.encoder}
	all := make([]results.League, 8)
	if err := w.player.Play(t.Context(), 0, all, make([]bool, 3)); err != nil {
		t.Fatal(err)
	}
	one, err := w.encoder.Encode(all[:1])
	if err != nil {
		t.Fatal(err)
	}
	size := len(one)
	for most, want := range map[int][]int{8 * size: {8}, 8*size - 1: {4, 4}, 3 * size: {2, 3, 3}, 5 * size: {4, 4}, 1: {1, 1, 1, 1, 1, 1, 1, 1}} {
		parts, err := p.encode(all, most, 8*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var counts []int
		at := 0
		for _, part := range parts {
			counts = append(counts, part.count)
			if part.first != at || len(part.records) != part.count*size || part.took != time.Duration(part.count)*time.Second {
				t.Errorf("at most %d bytes: part from league %d on has %d bytes of %d leagues in %v", most, part.first, len(part.records), part.count, part.took)
			}
			at += part.count
		}
		if !slices.Equal(counts, want) {
			t.Errorf("at most %d bytes: parts of %v leagues, want %v", most, counts, want)
		}
	}
	all[5].Seats = []int{0, 0, 0}
	if parts, err := p.encode(all, size, time.Second); err == nil || !strings.Contains(err.Error(), "league 5: player 0 has two seats") {
		t.Errorf("an impossible league is sent: %d parts, %v", len(parts), err)
	}
}

// A worker that once delivered and then keeps every chunk delays each of them by what such
// chunks take, and after some it gets no more. Nobody else is blamed.
func TestKeptChunks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, notes := coordinator(t, internalPlan(300, "a", "b"), nil, func(int, []bool) bool { return false })
		w.looking(t)
		m := w.join("keeper", "keeper")
		play := func(first int) time.Duration {
			w.c.mu.Lock()
			m.Cores, m.delivered = 64, m.delivered+10 // it has more room than the other
			w.c.mu.Unlock()
			began := time.Now()
			if err := (&waiter{coordinator: w.c}).Play(t.Context(), first, make([]results.League, 1), make([]bool, 2)); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		late := 0
		for first := range 200 { // one of the two gets each, at random
			took := play(first)
			if took > 0 {
				late++
			}
			if most := 4 * w.c.link.config.AckWait; took > most {
				t.Errorf("league %d took %v, want at most %v", first, took, most)
			}
		}
		if late != mostStrikes || len(w.c.aside) != 1 || !strings.Contains(w.c.aside["keeper"], "delivered none of them") || !strings.Contains((*notes)[0], "are late: worker keeper (keeper) has had them for") {
			t.Errorf("%d leagues were late, want %d; put aside: %v; notes %q", late, mostStrikes, w.c.aside, *notes)
		}
	})
}

// A chunk that some say they cannot play goes to those who have delivered most, so that many
// ids that have done little do not put a player aside.
func TestTrustedTrials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := coordinator(t, internalPlan(300, "a", "b"), []string{"b"}, func(int, []bool) bool { return false })
		w.looking(t)
		w.c.shares[w.key.id] = &Share{Leagues: 100}
		honest := w.c.send
		w.c.send = func(worker string, a assignment) {
			if worker == w.key.id {
				honest(worker, a)
			} else if a.Aside == "" {
				go func() {
					w.c.mu.Lock()
					defer w.c.unlock()
					if o := w.c.owed[a.Part]; o != nil {
						w.c.fail(o, trial{worker: worker, why: "no"})
					}
				}()
			}
		}
		for i := range 20 {
			id := fmt.Sprintf("colluder-%d", i)
			w.join(id, id).delivered = 1
			w.c.shares[id] = &Share{Leagues: 1}
		}
		for first := range 50 {
			if err := (&waiter{coordinator: w.c}).Play(t.Context(), first, make([]results.League, 1), make([]bool, 2)); err != nil {
				t.Fatal(err)
			}
		}
		if len(w.c.poison) > 0 || w.c.status.Failed > 0 {
			t.Errorf("put aside %v; %d chunks failed", w.c.poison, w.c.status.Failed)
		}
	})
}

// What somebody says about itself is remembered as far as it concerns the run, and figures
// that cannot be are not heard: their sum would be none.
func TestHeard(t *testing.T) {
	t.Parallel()
	key := newIdentity()
	said := Presence{ID: key.id, Cores: 1, Plays: []string{"run", strings.Repeat("x", 1000)}, Chunks: []string{"mine", "other"}, Playing: []string{"other", "mine"},
		Refuses: map[string]string{"run": "no\x1b", "other": "no"}}
	hear := func(p Presence) (Presence, bool) {
		m, err := key.seal("test.worker."+key.id, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return hearPresence(m)
	}
	p, ok := hear(said)
	p.Heard = time.Time{}
	want := said
	want.Plays, want.Chunks, want.Playing, want.Refuses = []string{"run"}, []string{"mine"}, []string{"mine"}, map[string]string{"run": `no\x1b`}
	if diff := cmp.Diff(want, p.only("run", func(part string) bool { return part == "mine" })); !ok || diff != "" {
		t.Errorf("heard %v (-want +got):\n%s", ok, diff)
	}
	for _, rate := range []float64{-1, 1e308} {
		if said.Rate = rate; func() bool { _, ok := hear(said); return ok }() {
			t.Errorf("%v leagues a second are believed", rate)
		}
	}
}

// A share of the chunks is verified, the same ones each time.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		verify      float64
		least, most int
	}{{0, 0, 0}, {0.25, 150, 350}, {1, 1000, 1000}} {
		c := &Coordinator{key: newIdentity(), config: RunConfig{Verify: tc.verify}}
		n := 0
		for first := range 1000 {
			once, again := c.samples(first), c.samples(first)
			if once {
				n++
			}
			if once != again {
				t.Errorf("chunk %d is verified now and then", first)
			}
		}
		if n < tc.least || n > tc.most {
			t.Errorf("%d of 1000 chunks are verified, want %d to %d", n, tc.least, tc.most)
		}
	}
	league := func(f game.Fault) []results.League {
		return []results.League{{Matches: []results.Match{{}, {B: game.Side{Fault: f}}}}}
	}
	for f, want := range map[game.Fault]bool{game.NoFault: false, game.FaultTimeout: true, game.FaultQuarantined: false, game.FaultForfeit: false} {
		if got := clockbound(league(f)); got != want {
			t.Errorf("a league with fault %v depends on the machine: %v, want %v", f, got, want)
		}
	}
}

// What two workers have measured differs although both are honest; what they have counted
// does not.
func TestMeasuredCostsAreNotCompared(t *testing.T) {
	t.Parallel()
	w, _ := coordinator(t, internalPlan(300, "a", "b", "c"), nil, nil)
	leagues := make([]results.League, 1)
	if err := w.player.Play(t.Context(), 0, leagues, make([]bool, 3)); err != nil {
		t.Fatal(err)
	}
	with := func(costs ...results.Cost) string {
		leagues[0].Costs = costs
		records, err := w.c.encode(leagues)
		if err != nil {
			t.Fatal(err)
		}
		if len(leagues[0].Costs) != len(costs) {
			t.Errorf("costs %v of the league itself, want %v", leagues[0].Costs, costs)
		}
		return string(records)
	}
	counted, measured := results.Cost{Field: 0, Share: 2000, Exact: true}, results.Cost{Field: 2, Share: 3000}
	if with(counted) != with(counted, measured) {
		t.Error("a measured cost makes a difference")
	}
	if with(counted) == with(measured) {
		t.Error("a counted cost makes no difference")
	}
}

// A worker that knows as many runs as it remembers makes room for another if one of them has
// had no chunk for a while.
func TestRoomForRuns(t *testing.T) {
	t.Parallel()
	s := &workerServer{runs: make(map[string]*served)}
	for i := range mostRuns {
		r := &served{run: announcement{Run: fmt.Sprint(i)}, used: time.Now(), cancel: func() {}}
		s.runs[r.run.Run] = r
	}
	if s.room() {
		t.Error("there is room although all runs are played")
	}
	s.runs["7"].used = time.Now().Add(-2 * idle)
	if !s.room() || s.runs["7"] != nil || len(s.runs) != mostRuns-1 {
		t.Errorf("%d runs, and the idle one among them: %v", len(s.runs), s.runs["7"] != nil)
	}
}

// workers stands for a broker and one worker: a chunk that is given is answered at once.
type workers struct {
	c       *Coordinator
	key     *identity
	player  experiments.Worker
	encoder *chunk.Encoder
	fatal   func(league int, quarantined []bool) bool // whether a league ends workers

	mu     sync.Mutex
	played []string // chunks with the players put aside: "0+64 mine"
}

// records returns the message with which a worker sends leagues.
func (w *workers) records(t testing.TB, key *identity, r report, data []byte) *nats.Msg {
	t.Helper()
	m, err := key.seal("test.records."+w.c.job.Run, r, data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer plays a chunk.
func (w *workers) answer(t testing.TB, a assignment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := a.Request
	text := fmt.Sprintf("%d+%d", r.First, r.Count)
	for field, aside := range r.Quarantined {
		if aside {
			text += " " + w.c.job.Plan.Field[field].Name
		}
	}
	if !a.Again {
		w.played = append(w.played, text)
	}
	for league := r.First; league < r.First+r.Count; league++ {
		if w.fatal(league, r.Quarantined) {
			w.c.arrive(w.records(t, w.key, report{Part: a.Part, First: r.First, Count: r.Count, Error: "killed"}, nil))
			return
		}
	}
	out := make([]results.League, r.Count)
	if err := w.player.Play(context.Background(), r.First, out, r.Quarantined); err != nil {
		t.Error(err)
		return
	}
	data, err := w.encoder.Encode(out)
	if err != nil {
		t.Error(err)
		return
	}
	w.c.arrive(w.records(t, w.key, report{Part: a.Part, First: r.First, Count: r.Count, Took: 1}, data))
}

// join has the coordinator know a worker that is always there.
func (w *workers) join(id, name string) *member {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	m := w.c.join(id)
	m.Presence = Presence{ID: id, Name: name, Cores: 1, Plays: []string{w.c.job.Run}, Heard: time.Now().Add(1000 * time.Hour)}
	return m
}

// looking has the coordinator look for what is late until the test ends.
func (w *workers) looking(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for pause(ctx, w.c.link.config.AckWait/8) {
			w.c.look(time.Now())
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

// coordinator returns one of a plan with workers, and what it tells people.
func coordinator(t *testing.T, plan results.Plan, suspects []string, fatal func(int, []bool) bool) (*workers, *[]string) {
	t.Helper()
	var field []strategies.Factory
	for _, e := range plan.Field {
		f, ok := builtin.Find(e.Ref)
		if !ok {
			t.Fatalf("no strategy %q", e.Ref)
		}
		field = append(field, f)
	}
	a, err := arena.New(plan, field, arena.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &workers{fatal: fatal}
	if w.player, err = a.NewWorker(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.player.Close() })
	if w.encoder, err = chunk.NewEncoder(plan); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	notes := new([]string)
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		*notes = append(*notes, fmt.Sprintf(format, args...))
	}
	w.key = newIdentity()
	w.c = newCoordinator(&Link{config: Config{Prefix: "test", AckWait: time.Minute, Note: note}}, RunConfig{Plan: plan, Suspects: suspects})
	w.c.most, w.c.send = 64, func(worker string, a assignment) {
		if worker == w.key.id && a.Aside == "" {
			go w.answer(t, a)
		}
	}
	w.join(w.key.id, "w1")
	w.c.members[w.key.id].delivered = 1
	return w, notes
}

// internalPlan is a plan of small leagues of players by name.
func internalPlan(runs int, names ...string) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: 1, Seed: 7, Draw: "uniform:1-10", Transport: "direct"}
	for _, name := range names {
		p.Field = append(p.Field, results.Entrant{Name: name, Kind: "builtin", Ref: "random"})
	}
	return p
}
