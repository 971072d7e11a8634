package results_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func create(t *testing.T, plan results.Plan, leagues []*results.League) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs", "one")
	d, err := results.Create(path, plan)
	must(t, err)
	appendAll(t, d, leagues)
	must(t, d.Close())
	return path
}

func appendAll(t *testing.T, d *results.Dir, leagues []*results.League) {
	t.Helper()
	for _, l := range leagues {
		must(t, d.Append(l))
	}
}

func open(t *testing.T, path string) *results.Dir {
	t.Helper()
	d, err := results.Open(path)
	must(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func collect(t *testing.T, leagues iter.Seq2[*results.League, error]) []*results.League {
	t.Helper()
	var out []*results.League
	for l, err := range leagues {
		must(t, err)
		out = append(out, clone(l))
	}
	return out
}

func leaguesBin(path string) string { return filepath.Join(path, results.LeaguesFile) }

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	must(t, os.WriteFile(path, b, 0o644))
}

func TestDirGoesOnWhereItEnded(t *testing.T) {
	plan := testPlan(4, 2, 10, "")
	want := randomLeagues(t, plan, 10)
	path := create(t, plan, want[:4])

	d := open(t, path)
	if d.Len() != 4 || d.Repaired() != nil {
		t.Fatalf("%d leagues, repaired %v; want 4 and nothing", d.Len(), d.Repaired())
	}
	wantLeagues(t, collect(t, d.Leagues()), want[:4])
	appendAll(t, d, want[4:7])
	wantLeagues(t, collect(t, d.Leagues()), want[:7]) // what was not flushed as well
	appendAll(t, d, want[7:])
	if err := d.Append(want[9]); err == nil {
		t.Error("a league was recorded twice")
	}
	must(t, d.Close())

	if got := readFile(t, leaguesBin(path)); !bytes.Equal(got, encode(t, plan, want)) {
		t.Error("the file differs from one written in one go")
	}
	r, err := results.OpenReader(path)
	must(t, err)
	defer r.Close()
	if err := plan.SameLeagues(r.Plan()); err != nil {
		t.Error(err)
	}
	wantLeagues(t, collect(t, r.Leagues()), want)
	for l, err := range r.Leagues() { // again, and left early
		if err != nil || l.Index != 0 {
			t.Errorf("league %v, error %v", l, err)
		}
		break
	}
}

// A complete run that is extended has been looked at; one that was interrupted, or
// ends by a stopping rule, has not.
func TestExtendRemembersLooks(t *testing.T) {
	leagues := randomLeagues(t, testPlan(3, 1, 5, ""), 5)
	for _, c := range []struct {
		name    string
		stop    *results.Stop
		extends []int // the numbers of runs that are asked for, each then played
		played  int   // leagues before the first of them
		want    []int
	}{
		{"complete", nil, []int{4, 5}, 3, []int{3, 4}},
		{"incomplete", nil, []int{4, 5}, 2, []int{4}},
		{"as long as before", nil, []int{3, 3}, 3, nil},
		{"stopping rule", &results.Stop{Until: "best", Guarantee: "finite"}, []int{4, 5}, 3, nil},
	} {
		plan := testPlan(3, 1, 3, "")
		plan.Stop = c.stop
		d := open(t, create(t, plan, leagues[:c.played]))
		for _, n := range c.extends {
			longer := plan
			longer.Runs = n
			if err := d.Extend(longer); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			appendAll(t, d, leagues[d.Len():n])
		}
		if got := d.Plan().Looks; !slices.Equal(got, c.want) {
			t.Errorf("%s: looks %v, want %v", c.name, got, c.want)
		}
		must(t, d.Close())
	}
}

func TestExtend(t *testing.T) {
	plan := testPlan(3, 1, 3, "")
	leagues := randomLeagues(t, testPlan(3, 1, 5, ""), 5)
	path := create(t, plan, leagues[:3])
	d := open(t, path)
	if err := d.Append(leagues[3]); err == nil {
		t.Fatal("more leagues than the plan has")
	}
	longer := plan
	longer.Runs = 5
	must(t, d.Extend(longer))
	appendAll(t, d, leagues[3:])
	must(t, d.Summary("an earlier one"), d.Summary(map[string]int{"leagues": 5}), d.Close())
	if got := string(readFile(t, filepath.Join(path, results.SummaryFile))); got != "{\n  \"leagues\": 5\n}\n" {
		t.Errorf("summary holds %q", got)
	}
	again := open(t, path)
	if again.Plan().Runs != 5 || again.Len() != 5 {
		t.Errorf("plan of %d runs with %d leagues, want 5 and 5", again.Plan().Runs, again.Len())
	}
	if err := again.Extend(plan); err == nil || !strings.Contains(err.Error(), "5 are recorded") {
		t.Errorf("fewer runs than leagues: %v", err)
	}
	for name, change := range map[string]func(*results.Plan){
		"schema was strategylab/plan/v4 and is":      func(p *results.Plan) { p.Schema = results.PlanSchema1 },
		"seed was 7 and is 8":                        func(p *results.Plan) { p.Seed = 8 },
		"legs was 1 and is 2":                        func(p *results.Plan) { p.Legs = 2 },
		"draw was  and is uniform:1-9":               func(p *results.Plan) { p.Draw = "uniform:1-9" },
		"transport was direct and is http":           func(p *results.Plan) { p.Transport = "http" },
		"number of players was 3 and is 2":           func(p *results.Plan) { p.Field = p.Field[:2] },
		"player 1 was random#2 and is mine":          func(p *results.Plan) { p.Field[1].Name = "mine" },
		"the code of random#3 has changed":           func(p *results.Plan) { p.Field[2].Fingerprint = "v2" },
		"origin of random#1 was {random#1 builtin r": func(p *results.Plan) { p.Field[0].Ref = "random" },
	} {
		changed := longer
		changed.Field = append([]results.Entrant(nil), longer.Field...)
		change(&changed)
		err := again.Extend(changed)
		if !errors.Is(err, results.ErrPlanDiffers) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want ErrPlanDiffers that says %q", err, name)
		}
		if changed.Hash() == longer.Hash() {
			t.Errorf("%s: same hash", name)
		}
	}
	if plan.Hash() != longer.Hash() {
		t.Error("the hash depends on the number of runs")
	}
}

// TestStopIsKept: when a run is to stop, and what it confirms, stand in its plan, decide
// nothing about its leagues, and are not lost when the run is extended.
func TestStopIsKept(t *testing.T) {
	plan := testPlan(3, 1, 5, "")
	plain := plan.Hash()
	plan.Stop = &results.Stop{Ratio: &results.Ratio{New: plan.Field[1].Name, Old: plan.Field[2].Name, Delta: 0.01, Alpha: 0.05, Beta: 0.1}}
	plan.Confirms = &results.Confirms{Seed: 1 << 63, First: plan.Field[1].Name}
	if plan.Hash() != plain {
		t.Error("the hash depends on when to stop, or on what is confirmed")
	}
	path := t.TempDir()
	d, err := results.Create(path, plan)
	must(t, err)
	longer := plan
	longer.Runs, longer.Stop, longer.Confirms = 9, nil, nil
	must(t, d.Extend(longer), d.Close())
	r, err := results.OpenReader(path)
	must(t, err)
	defer r.Close()
	if got := r.Plan(); got.Runs != 9 || got.Stop == nil || got.Stop.Ratio == nil || *got.Stop.Ratio != *plan.Stop.Ratio || got.Confirms == nil || *got.Confirms != *plan.Confirms {
		t.Errorf("read back: %+v", got)
	}
}

func TestPlanIsValidated(t *testing.T) {
	ratio := func(a, b string) func(*results.Plan) {
		return func(p *results.Plan) { p.Stop = &results.Stop{Ratio: &results.Ratio{New: a, Old: b}} }
	}
	looks := func(looks ...int) func(*results.Plan) { return func(p *results.Plan) { p.Looks = looks } }
	shard := func(change func(*results.Plan)) func(*results.Plan) {
		return func(p *results.Plan) {
			p.Shard = &results.Shard{Number: 2, Of: 3, First: 1, End: 3, Quarantined: []int{1}}
			must(t, p.Validate())
			change(p)
		}
	}
	for _, c := range []struct {
		want   string
		change func(*results.Plan)
	}{
		{"0 runs", func(p *results.Plan) { p.Runs = 0 }},
		{"0 legs", func(p *results.Plan) { p.Legs = 0 }},
		{`draw "coin"`, func(p *results.Plan) { p.Draw = "coin" }},
		{`transport "pigeon"`, func(p *results.Plan) { p.Transport = "pigeon" }},
		{`both called "random#1"`, func(p *results.Plan) { p.Field[1].Name = "random#1" }},
		{"player 1 has no name", func(p *results.Plan) { p.Field[1].Name = "" }},
		{"stop needs until or sprt", func(p *results.Plan) { p.Stop = new(results.Stop) }},
		{"and not both", func(p *results.Plan) { p.Stop = &results.Stop{Until: "best", Ratio: new(results.Ratio)} }},
		{`"nobody", which is not in the field`, ratio("nobody", "random#1")},
		{`"random#1" with it`, ratio("random#1", "random#1")},
		{`confirms "nobody", which is not in the field`, func(p *results.Plan) { p.Confirms = &results.Confirms{First: "nobody"} }},
		{"plan: look ", looks(0)}, {"plan: look ", looks(5)}, {"plan: look ", looks(3, 3)}, {"plan: look ", looks(4, 3)},
		{"shard ", shard(func(p *results.Plan) { p.Shard.Number = 4 })},
		{"shard ", shard(func(p *results.Plan) { p.Shard.End = 1 })},
		{"shard ", shard(func(p *results.Plan) { p.Shard.End = 6 })},
		{"shard ", shard(func(p *results.Plan) { p.Shard.Quarantined = []int{3} })},
		{"shard ", shard(func(p *results.Plan) { p.Shard.Quarantined = []int{1, 0} })},
		{"shard ", shard(func(p *results.Plan) { p.Looks = []int{2} })},
	} {
		plan := testPlan(3, 1, 5, "")
		c.change(&plan)
		_, err := results.Create(filepath.Join(t.TempDir(), "x"), plan)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that says %q", err, c.want)
		}
	}
}

func TestPlanIsReadStrictly(t *testing.T) {
	good, err := json.Marshal(testPlan(3, 1, 3, ""))
	must(t, err)
	for want, swap := range map[string][2]string{
		`schema "strategylab/plan/v5"`: {"plan/v4", "plan/v5"},
		`unknown field "extra"`:        {`"runs"`, `"extra":1,"runs"`},
		"0 runs":                       {`"runs":3`, `"runs":0`},
		"more than one JSON value":     {"}]}", "}]} {}"},
		"invalid character":            {"{", "("},
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, results.PlanFile), []byte(strings.Replace(string(good), swap[0], swap[1], 1)))
		_, err := results.Open(dir)
		_, read := results.OpenReader(dir)
		if err == nil || read == nil || !strings.Contains(err.Error(), want) || read.Error() != err.Error() {
			t.Errorf("errors %v and %v, want %q", err, read, want)
		}
		if _, err := os.Stat(filepath.Join(dir, ".lock")); err == nil {
			t.Errorf("%s: a directory that cannot be opened was written to", want)
		}
	}
}

// After a league that cannot be recorded the folder takes no other, as if it had been.
func TestAppendAfterFailure(t *testing.T) {
	plan := testPlan(3, 1, 3, "")
	leagues := randomLeagues(t, plan, 2)
	d := open(t, create(t, plan, nil))
	bad := clone(leagues[0])
	bad.Matches = nil
	first := d.Append(bad)
	if first == nil || d.Append(leagues[0]) != first || d.Flush() != first {
		t.Errorf("a league without matches: %v; then %v, %v, want the first failure again", first, d.Append(leagues[0]), d.Flush())
	}
}

// A run has one writer at a time, and any number of readers. What is there is kept.
func TestOneWriterAtATime(t *testing.T) {
	plan := testPlan(3, 1, 3, "")
	path := create(t, plan, randomLeagues(t, plan, 2))
	before := readFile(t, leaguesBin(path))
	d := open(t, path)
	_, opened := results.Open(path)
	_, created := results.Create(path, plan)
	for _, err := range []error{opened, created} {
		if !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "by this process") {
			t.Errorf("error %v, want that this process holds %s", err, path)
		}
	}
	r, err := results.OpenReader(path)
	must(t, err)
	must(t, r.Close(), d.Close())
	if _, err := results.Create(path, plan); !errors.Is(err, results.ErrExists) || !bytes.Equal(before, readFile(t, leaguesBin(path))) {
		t.Errorf("error %v, want ErrExists, and no change", err)
	}
	_ = open(t, path).Close() // free again
}

// A run that is rewound keeps its first leagues, and goes on after them to the same bytes.
func TestRewind(t *testing.T) {
	plan := testPlan(3, 2, 6, "uniform:1-10")
	leagues := randomLeagues(t, plan, 6)
	whole := readFile(t, leaguesBin(create(t, plan, leagues)))
	for _, keep := range []int{0, 1, 5, 6, 7} {
		path := create(t, plan, leagues)
		d := open(t, path)
		must(t, d.Rewind(keep))
		rest := leagues[min(keep, 6):]
		if d.Len() != 6-len(rest) {
			t.Errorf("%d leagues are left of 6, want %d", d.Len(), 6-len(rest))
		}
		if d.Len() > 0 {
			wantLeagues(t, collect(t, d.Leagues()), leagues[:d.Len()])
		}
		appendAll(t, d, rest)
		must(t, d.Flush())
		if !bytes.Equal(readFile(t, leaguesBin(path)), whole) {
			t.Errorf("rewound to %d leagues, the run has other bytes at its end", keep)
		}
	}
}

var update = flag.Bool("update", false, "rewrite golden files")

func testPlan(players, legs, runs int, draw string) results.Plan {
	p := results.Plan{
		Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 7, Draw: draw, Transport: "direct",
	}
	for i := range players {
		p.Field = append(p.Field, results.Entrant{
			Name: fmt.Sprintf("random#%d", i+1), Kind: "builtin", Ref: "random*8", Fingerprint: "v1",
		})
	}
	return p
}

// fataler is what helpers need of a *testing.T, *testing.B or *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// randomLeague makes up a league of the plan. About one match in ten is decided by technical loss.
func randomLeague(tb fataler, p results.Plan, index int, rng *rand.Rand) *results.League {
	tb.Helper()
	sched, err := game.NewSchedule(len(p.Field), p.Legs)
	must(tb, err)
	draw, err := game.ParseDraw(p.Draw)
	must(tb, err)
	l := &results.League{Index: index, Seats: rng.Perm(len(p.Field))}
	for range sched.Matches() {
		m := results.Match{A: randomSide(rng), B: randomSide(rng), Number: results.NoNumber}
		if m.A.Fault == game.NoFault && m.B.Fault == game.NoFault {
			m.Number = int32(draw.Pick(rng.Uint64()))
		}
		l.Matches = append(l.Matches, m)
	}
	for i := range rng.IntN(3) {
		l.Notes = append(l.Notes, results.Note{
			Field: rng.IntN(len(p.Field)), Fault: game.FaultError, Text: fmt.Sprintf("scripts/x.lua:%d: \x00ä", i),
		})
	}
	return l
}

func randomSide(rng *rand.Rand) game.Side {
	faults := []game.Fault{game.FaultError, game.FaultTimeout, game.FaultForfeit, game.FaultConnect, 63}
	if rng.IntN(20) == 0 {
		return game.Side{Choice: game.Parity(rng.IntN(3)), Fault: faults[rng.IntN(len(faults))]}
	}
	return game.Side{Choice: game.Even + game.Parity(rng.IntN(2))}
}

func randomLeagues(tb fataler, p results.Plan, n int) []*results.League {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]*results.League, n)
	for i := range out {
		out[i] = randomLeague(tb, p, i, rng)
	}
	return out
}

func header(tb fataler, p results.Plan) results.Header {
	tb.Helper()
	h, err := results.HeaderOf(p)
	must(tb, err)
	return h
}

// encode returns a whole file.
func encode(tb fataler, p results.Plan, leagues []*results.League) []byte {
	tb.Helper()
	var buf bytes.Buffer
	enc, err := results.NewEncoder(&buf, header(tb, p))
	must(tb, err)
	for _, l := range leagues {
		must(tb, enc.Encode(l))
	}
	return buf.Bytes()
}

func clone(l *results.League) *results.League {
	return &results.League{
		Index: l.Index, Seats: append([]int(nil), l.Seats...),
		Matches: append([]results.Match(nil), l.Matches...), Notes: append([]results.Note(nil), l.Notes...),
	}
}

func wantLeagues(t *testing.T, got, want []*results.League) {
	t.Helper()
	if !reflect.DeepEqual(want, got) { // cmp takes a second for tens of thousands of matches
		t.Errorf("leagues differ (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// Costs are in the order of the players, in whatever order they are added.
func TestCostsAreInOrder(t *testing.T) {
	var l results.League
	for _, field := range []int{3, 0, 5, 1} {
		l.AddCost(results.Cost{Field: field, Share: 1 << 50})
	}
	for i, want := range []int{0, 1, 3, 5} {
		if c := l.Costs[i]; c.Field != want || c.Share != results.MaxShare {
			t.Errorf("cost %d is %+v, want one of player %d and at most %d", i, c, want, results.MaxShare)
		}
	}
}

// must ends a test at the first of some errors.
func must(t fataler, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A run keeps the bound with which it began.
func TestTotals(t *testing.T) {
	for schema, want := range map[string]int{results.PlanSchema: 2, results.PlanSchema3: 1, results.PlanSchema2: 0, results.PlanSchema1: 0} {
		if got := (results.Plan{Schema: schema}).Totals(); got != want {
			t.Errorf("%s: version %d, want %d", schema, got, want)
		}
	}
}
