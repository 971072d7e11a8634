package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
)

// adversary is a client with the token that may say what it likes.
type adversary struct {
	t    *testing.T
	conn *nats.Conn
	js   jetstream.JetStream
	key  cluster.Identity
	run  chan string // the run, when it is heard of
}

func newAdversary(t *testing.T, url string) *adversary {
	t.Helper()
	js := raw(t, url)
	a := &adversary{t: t, conn: js.Conn(), js: js, key: cluster.NewIdentity(), run: make(chan string, 1)}
	a.on("strategylab.run.*", func(m *nats.Msg) {
		select {
		case a.run <- m.Subject[strings.LastIndex(m.Subject, ".")+1:]:
		default:
		}
	})
	return a
}

// on calls f with all messages of a subject until the test ends.
func (a *adversary) on(subject string, f func(*nats.Msg)) {
	if _, err := a.conn.Subscribe(subject, f); err != nil {
		a.t.Fatal(err)
	}
	if err := a.conn.Flush(); err != nil {
		a.t.Fatal(err)
	}
}

// say publishes a signed message.
func (a *adversary) say(key cluster.Identity, subject string, v any, data []byte) {
	m, err := key.Seal(subject, v, data)
	if err != nil {
		a.t.Error(err)
		return
	}
	_ = a.conn.PublishMsg(m) // the broker ends the connections of those who flood it
}

// present says that a worker is there, of which change alters what it says, whenever the
// coordinator says something.
func (a *adversary) present(key cluster.Identity, change func(*cluster.Presence)) {
	a.on("strategylab.run.*", func(m *nats.Msg) {
		p := cluster.Presence{ID: key.ID(), Seq: key.Seq(), Name: "adversary", Cores: 4, Protocol: cluster.Protocol,
			Plays: []string{m.Subject[strings.LastIndex(m.Subject, ".")+1:]}}
		if change != nil {
			change(&p)
		}
		a.say(key, "strategylab.worker."+key.ID(), p, nil)
	})
}

// work calls f with the chunks that a worker is given.
func (a *adversary) work(key cluster.Identity, f func(cluster.Assignment)) {
	a.on("strategylab.work."+key.ID(), func(m *nats.Msg) {
		var x cluster.Assignment
		if _, err := cluster.Parse(m, &x); err == nil && x.Aside == "" {
			f(x)
		}
	})
}

// attacks are what a holder of the token can do, by the rows of docs/cluster.md. begun is
// called before the run begins. notes are parts of what the screen must say.
var attacks = map[string]struct {
	begun func(a *adversary)
	notes []string
}{
	"holds a chunk and says that it plays it": {begun: func(a *adversary) {
		var mu sync.Mutex
		var has []string
		a.work(a.key, func(x cluster.Assignment) {
			mu.Lock()
			defer mu.Unlock()
			has = append(has, x.Part)
		})
		a.present(a.key, func(p *cluster.Presence) {
			mu.Lock()
			defer mu.Unlock()
			p.Chunks, p.Playing = has, has
		})
	}, notes: []string{"are late: worker adversary ("}},
	"takes chunks and delivers nothing": {begun: func(a *adversary) { a.present(a.key, nil) }},
	"says that it cannot play any chunk": {begun: func(a *adversary) {
		a.present(a.key, nil)
		a.work(a.key, func(x cluster.Assignment) {
			a.say(a.key, "strategylab.records."+x.Run, cluster.Report{Part: x.Part, Error: "no\x1b[31m memory"}, nil)
		})
	}, notes: []string{`could not play leagues: no\x1b[31m memory`}},
	"sends garbage for its chunks": {begun: func(a *adversary) {
		a.present(a.key, nil)
		a.work(a.key, func(x cluster.Assignment) {
			a.say(a.key, "strategylab.records."+x.Run, cluster.Report{Part: x.Part, First: x.Request.First, Count: x.Request.Count, Took: 1e300}, []byte("\x1b]0;x\a"))
		})
	}, notes: []string{"is put aside: its records cannot be right"}},
	"sends garbage in the name of others": {begun: func(a *adversary) {
		a.on("strategylab.work.*", func(m *nats.Msg) { // it sees all chunks
			var x cluster.Assignment
			if _, err := cluster.Parse(m, &x); err != nil {
				return
			}
			worker := m.Subject[strings.LastIndex(m.Subject, ".")+1:]
			for range 8 {
				a.say(a.key, "strategylab.records."+x.Run, cluster.Report{Part: x.Part, Count: 1, Error: "no memory"}, nil)
				a.say(a.key, "strategylab.worker."+worker, cluster.Presence{ID: worker, Seq: 1 << 60, Cores: 1, Refuses: map[string]string{x.Run: "no"}}, nil)
				a.say(a.key, "strategylab.work."+worker, cluster.Assignment{Run: x.Run, Seq: 1 << 60, Aside: "because"}, nil)
			}
		})
		a.on("strategylab.worker.*", func(m *nats.Msg) {
			var p cluster.Presence
			if _, err := cluster.Parse(m, &p); err != nil || len(p.Plays) == 0 {
				return
			}
			for _, part := range p.Chunks {
				forged, err := a.key.Seal("strategylab.records."+p.Plays[0], cluster.Report{Part: part, Count: 1}, []byte("garbage"))
				if err != nil {
					a.t.Error(err)
					return
				}
				forged.Header.Set("Strategylab-Key", m.Header.Get("Strategylab-Key"))
				_ = a.conn.PublishMsg(forged)
			}
		})
	}, notes: []string{"somebody sends records in the name of a worker, with a wrong signature"}},
	"floods the records of others": {begun: func(a *adversary) {
		a.on("strategylab.work.*", func(m *nats.Msg) {
			var x cluster.Assignment
			if _, err := cluster.Parse(m, &x); err != nil || x.Request.First < 100 {
				return
			}
			forged, err := a.key.Seal("strategylab.records."+x.Run, cluster.Report{Part: x.Part, First: x.Request.First, Count: 1}, nil)
			if err != nil {
				a.t.Error(err)
				return
			}
			giant := nats.NewMsg(forged.Subject)
			giant.Header, giant.Data = forged.Header, append(forged.Data, make([]byte, 1<<19)...)
			for i := range 100 {
				if _ = a.conn.PublishMsg(forged); i%50 == 0 {
					_ = a.conn.PublishMsg(giant)
				}
			}
		})
		a.present(a.key, nil) // it is given chunks, too
	}},
	"says that other runs play": {begun: func(a *adversary) {
		keys := make([]cluster.Identity, 100) // more than a worker remembers
		for i := range keys {
			keys[i] = cluster.NewIdentity()
		}
		var last time.Time
		a.on("strategylab.worker.*", func(*nats.Msg) {
			if time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
			for _, key := range keys {
				run := "1234567890abcdef-" + key.ID()
				a.say(key, "strategylab.run."+run, map[string]any{"Run": run, "Seq": key.Seq(), "Protocol": cluster.Protocol, "Job": "none", "AckWait": 1}, nil)
			}
		})
	}},
	"repeats all that others say": {begun: func(a *adversary) {
		for _, subject := range []string{"worker.*", "work.*", "records.*", "run.*"} {
			var mu sync.Mutex
			seen := make(map[string]bool)
			a.on("strategylab."+subject, func(m *nats.Msg) {
				mu.Lock()
				defer mu.Unlock()
				if key := m.Header.Get("Strategylab-Signature"); !seen[key] {
					seen[key] = true
					_, _ = a.conn.PublishMsg(m), a.conn.PublishMsg(m)
				}
			})
		}
	}},
	"is a thousand ghosts": {begun: func(a *adversary) {
		for i := range 1000 {
			key := cluster.NewIdentity()
			a.say(key, "strategylab.worker."+key.ID(), cluster.Presence{ID: key.ID(), Seq: 1, Name: fmt.Sprintf("ghost\x1b[%d", i), Cores: 1 << 13, Protocol: cluster.Protocol}, nil)
		}
		for range 50 {
			key := cluster.NewIdentity()
			a.present(key, func(p *cluster.Presence) { p.Cores = 1 << 13 })
		}
	}},
	"says what it likes on the screen": {begun: func(a *adversary) {
		for i := range 12 {
			key := cluster.NewIdentity()
			a.present(key, func(p *cluster.Presence) {
				p.Name, p.Plays = "\x1b[2J\nboo", nil
				p.Refuses = map[string]string{<-a.run: fmt.Sprintf("\x1b[31m%d%s", i, strings.Repeat("x", 5000))}
				a.run <- func() string { // it stays for the others
					for run := range p.Refuses {
						return run
					}
					return ""
				}()
			})
		}
		for range 100 {
			_ = a.conn.Publish("strategylab.ping", nil)
			_ = a.conn.Publish("strategylab.run.x", []byte(`{"Run":"\u001b[2J","Protocol":7,"Version":"\u001b[2J"}`))
		}
	}, notes: []string{"more notes like the last are left out"}},
	"deletes everything on the broker": {begun: func(a *adversary) {
		a.on("strategylab.records.*", func(*nats.Msg) {
			for _, stream := range []string{"KV_strategylab_runs", "OBJ_strategylab_code"} {
				_ = a.js.DeleteStream(a.t.Context(), stream)
			}
		})
	}, notes: []string{"the broker has lost plan, scripts or name of the run; they are stored again"}},
}

// TestAdversary has each attack while two honest workers play: the digest is that of one
// machine, nobody honest is put aside, every league is credited once, and the screen says
// what happens in few lines without control characters.
func TestAdversary(t *testing.T) {
	t.Parallel()
	plan := planOf(150)
	want := here(t, plan)
	for name, tc := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, n := startBroker(t, cluster.BrokerConfig{}), newNotes()
			l := link(t, cluster.Config{URL: b.URL(), Memory: true, Note: n.add})
			tc.begun(newAdversary(t, b.URL()))
			for range 2 {
				// Not all is over before the attack has begun: its notes have come.
				serve(t, t.Context(), b.URL(), openFaulty(func(first int, _ []results.League, _ []bool) error {
					if first >= 100 {
						for _, part := range tc.notes {
							n.wait(t, func(text string) bool { return strings.Contains(text, part) })
						}
					}
					return nil
				}))
			}
			out, shares, err := coordinate(t, l, cluster.RunConfig{Plan: plan, Suspects: []string{"markov-2"}})
			if err != nil || out.Digest != want.Digest || !out.Reproducible {
				t.Errorf("%+v, %v; want %+v", out, err, want)
			}
			leagues := 0
			for _, s := range shares {
				if leagues += s.Leagues; strings.HasPrefix(s.Worker, "test ") && s.Aside != "" {
					t.Errorf("an honest worker is put aside: %s", s.Aside)
				}
			}
			if leagues != plan.Runs {
				t.Errorf("%d leagues are credited, want %d: %+v", leagues, plan.Runs, shares)
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if len(n.all) > 40 {
				t.Errorf("%d notes: %q", len(n.all), n.all)
			}
			for _, text := range n.all {
				if len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) {
					t.Errorf("note %.1500q", text)
				}
			}
		})
	}
}

// lying has a worker change choices in the leagues for which it lies.
func lying(lies func(league int) bool) func(*cluster.ServeConfig) {
	return openFaulty(func(_ int, out []results.League, _ []bool) error {
		for i := range out {
			if a := &out[i].Matches[0].A; lies(out[i].Index) {
				a.Choice = 3 - a.Choice // the other of even (1) and odd (2)
			}
		}
		return nil
	})
}

// TestLiarsAlike has all workers lie alike, so that no two of them differ: the experiment
// plays some of the verified chunks itself.
func TestLiarsAlike(t *testing.T) {
	t.Parallel()
	plan := planOf(400)
	own, err := direct(plan)
	if err != nil {
		t.Fatal(err)
	}
	b := startBroker(t, cluster.BrokerConfig{})
	for range 2 {
		serve(t, t.Context(), b.URL(), lying(func(int) bool { return true }))
	}
	var lie *cluster.CaughtError
	out, _, err := coordinate(t, link(t, cluster.Config{URL: b.URL(), Memory: true}), cluster.RunConfig{Plan: plan, Own: own, Verify: 1})
	if !errors.As(err, &lie) {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestCaughtLie has a worker that lies and is caught late, and then nobody who lies: the
// recorded leagues that it has played are removed and played again, in the same process or
// by a later one.
func TestCaughtLie(t *testing.T) {
	t.Parallel()
	plan := planOf(400)
	want := here(t, plan)
	own, err := direct(plan)
	if err != nil {
		t.Fatal(err)
	}
	b, folder := startBroker(t, cluster.BrokerConfig{}), filepath.Join(t.TempDir(), "run")
	liar, stop := context.WithCancel(t.Context())
	serve(t, liar, b.URL(), lying(func(int) bool { return true }))
	dir, err := results.Create(folder, plan)
	if err != nil {
		t.Fatal(err)
	}
	honest := sync.OnceFunc(func() { serve(t, t.Context(), b.URL(), nil); serve(t, t.Context(), b.URL(), nil) })
	caught := 0
	for session := 0; ; session++ {
		recorded := dir.Len()
		ledger, keep, err := cluster.OpenLedger(filepath.Join(folder, cluster.LedgerFile), recorded)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(dir.Rewind(keep), ledger.Cut(keep, recorded)); err != nil {
			t.Fatal(err)
		}
		if caught > 0 && keep > 0 {
			t.Errorf("%d of %d leagues stay, and all are those of the liar", keep, recorded)
		}
		prefix, err := experiments.Resume(plan, dir.Leagues(), nil)
		if err != nil {
			t.Fatal(err)
		}
		config := cluster.RunConfig{Plan: plan, Version: "test", Own: own, Ledger: ledger}
		ctx, cancel := context.WithCancel(t.Context())
		if session > 0 {
			config.Verify = 1
			honest()
		}
		c, err := link(t, cluster.Config{URL: b.URL(), Memory: true}).Coordinate(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		out, err := experiments.Run(ctx, plan, c, experiments.Tee(recorder{c, func(l *results.League) {
			if session == 0 && l.Index == 100 {
				cancel() // as if the coordinator were killed
			}
		}}, dir), experiments.Config{Workers: 64, After: prefix})
		cancel()
		shares := c.Shares()
		if cerr := errors.Join(c.Close(), ledger.Close(), dir.Close()); cerr != nil {
			t.Error(cerr)
		}
		var lie *cluster.CaughtError
		switch {
		case errors.As(err, &lie):
			caught++
		case session > 0:
			stop()
			replayed := 0
			for _, s := range shares {
				replayed += s.Replayed
			}
			if err != nil || out.Digest != want.Digest || caught != 1 || replayed < 100 {
				t.Errorf("%+v, %v, caught %d, %d leagues replayed; want %+v, caught once", out, err, caught, replayed, want)
			}
			return
		}
		if dir, err = results.Open(folder); err != nil {
			t.Fatal(err)
		}
	}
}

// recorder tells a coordinator and somebody else of leagues before they are recorded.
type recorder struct {
	c *cluster.Coordinator
	f func(*results.League)
}

func (r recorder) Append(l *results.League) error {
	r.f(l)
	return r.c.Record(l.Index)
}

// TestAbandonedRun has a coordinator end without a word: the broker still shows its run,
// and it can be removed, but not while it is played.
func TestAbandonedRun(t *testing.T) {
	t.Parallel()
	b := startBroker(t, cluster.BrokerConfig{})
	dying, l := link(t, cluster.Config{URL: b.URL()}), link(t, cluster.Config{URL: b.URL()})
	c, err := dying.Coordinate(t.Context(), cluster.RunConfig{Plan: planOf(10), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, abandoned := range []bool{false, true} {
		s, err := l.Survey(t.Context(), 500*time.Millisecond)
		for abandoned && err == nil && len(s.Runs) == 1 && !s.Runs[0].Abandoned { // what it has said last is on its way
			s, err = l.Survey(t.Context(), 500*time.Millisecond)
		}
		if err != nil || len(s.Runs) != 1 || s.Runs[0].Run != c.Run() || s.Runs[0].Abandoned != abandoned || s.Runs[0].Of != 10 {
			t.Errorf("%+v, %v; want run %s, abandoned: %v", s, err, c.Run(), abandoned)
		}
		err = l.Unplayed(t.Context(), c.Run(), 500*time.Millisecond)
		if errors.Is(err, cluster.ErrPlayed) == abandoned {
			t.Errorf("abandoned %v: %v", abandoned, err)
		}
		dying.Close()
	}
	if err := l.Remove(t.Context(), c.Run()); err != nil {
		t.Error(err)
	}
	var unknown *cluster.UnknownRunError
	if err := l.Remove(t.Context(), c.Run()); !errors.As(err, &unknown) {
		t.Errorf("removed twice: %v", err)
	}
	if s, err := l.Survey(t.Context(), time.Millisecond); err != nil || len(s.Runs) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestReplacedPlan has somebody put another plan under the name of a run.
func TestReplacedPlan(t *testing.T) {
	t.Parallel()
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL()})
	var runs []string
	for n := range 2 {
		plan := planOf(10)
		plan.Legs += n
		c, err := l.Coordinate(t.Context(), cluster.RunConfig{Plan: plan, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		runs = append(runs, c.Run())
	}
	if job, _, err := l.FindRun(t.Context(), runs[0]); err != nil || job.Plan.Legs != planOf(10).Legs {
		t.Errorf("plan of %d legs, %v", job.Plan.Legs, err)
	}
	kept, err := raw(t, b.URL()).KeyValue(t.Context(), "strategylab_runs")
	if err != nil {
		t.Fatal(err)
	}
	other, err := kept.Get(t.Context(), runs[1])
	if err == nil {
		_, err = kept.Put(t.Context(), runs[0], bytes.ReplaceAll(other.Value(), []byte(runs[1]), []byte(runs[0])))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.FindRun(t.Context(), runs[0]); err == nil || !strings.Contains(err.Error(), "somebody has put another in its place") {
		t.Errorf("the plan of another run: %v", err)
	}
}
