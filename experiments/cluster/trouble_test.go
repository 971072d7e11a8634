package cluster_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/experiments/cluster/broker"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/results"
)

// raw is a client of a broker as anybody may write one.
func raw(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// TestTamperedCode has somebody replace a source on the broker: workers refuse it, and the
// experiment says so.
func TestTamperedCode(t *testing.T) {
	t.Parallel()
	b, n := startBroker(t, cluster.BrokerConfig{}), newNotes()
	l := link(t, cluster.Config{URL: b.URL(), Memory: true, Note: n.add})
	c, err := l.Coordinate(t.Context(), cluster.RunConfig{Plan: planOf(10), Version: "test", Sources: map[int][]byte{1: []byte("honest code")}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	store, err := raw(t, b.URL()).ObjectStore(t.Context(), "strategylab_code")
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(s *cluster.ServeConfig) {
		s.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			if content, err := source(job.Sources[1]); err != nil || string(content) != "honest code" {
				return nil, nil, err
			}
			return open(ctx, job, source)
		}
	}
	all, err := store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	replaced := 0
	for _, o := range all {
		if o.Size == uint64(len("honest code")) {
			if _, err := store.PutString(t.Context(), o.Name, "crooked code"); err != nil {
				t.Fatal(err)
			}
			replaced++
		}
	}
	if replaced != 1 {
		t.Fatalf("%d sources on the broker, want 1", replaced)
	}
	serve(t, t.Context(), b.URL(), fetch)
	n.wait(t, func(text string) bool {
		return strings.Contains(text, "cannot play this run: the broker has other code than the run names")
	})
}

// TestOtherVersion has an experiment of another version: a worker refuses it and names
// both versions.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	b, n := startBroker(t, cluster.BrokerConfig{}), newNotes()
	link(t, cluster.Config{URL: b.URL(), Memory: true})
	l := link(t, cluster.Config{URL: b.URL(), Note: n.add})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- l.Serve(ctx, cluster.ServeConfig{Cores: 1, Name: "test", Version: "v1.2.3", Open: open})
	}()
	defer func() { cancel(); <-ended }()
	value, err := json.Marshal(map[string]any{"Run": "future", "Protocol": 99, "Version": "v9.9.9", "Job": strings.Repeat("0", 64)})
	if err != nil {
		t.Fatal(err)
	}
	conn := raw(t, b.URL()).Conn()
	if _, err := conn.Subscribe("strategylab.worker.*", func(*nats.Msg) { _ = conn.Publish("strategylab.run.future", value) }); err != nil {
		t.Fatal(err)
	}
	n.wait(t, func(text string) bool {
		return strings.Contains(text, "v1.2.3") && strings.Contains(text, "v9.9.9") && strings.Contains(text, "version 99")
	})
}

// TestBrokerRestarts stops the broker in the middle of a run and starts it again, with and
// without what it had stored.
func TestBrokerRestarts(t *testing.T) {
	t.Parallel()
	plan := planOf(400)
	want := here(t, plan)
	for name, loses := range map[string]bool{"keeps": false, "loses its disk": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b, err := broker.Start(t.Context(), cluster.BrokerConfig{Listen: jsonrpctest.Address(t), Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			url, address := b.URL(), b.Address()
			l := link(t, cluster.Config{URL: url})
			var once sync.Once
			restarted := make(chan *broker.Broker, 1)
			serve(t, t.Context(), url, openFaulty(func(first int, _ []results.League, _ []bool) error {
				if first < 100 {
					return nil
				}
				once.Do(func() {
					if err := b.Close(); err != nil {
						t.Error(err)
					}
					if loses {
						if err := os.RemoveAll(filepath.Join(dir, "jetstream")); err != nil {
							t.Error(err)
						}
					}
					again, err := broker.Start(context.Background(), cluster.BrokerConfig{Listen: address, Dir: dir})
					if err != nil {
						t.Error(err)
					}
					restarted <- again
				})
				return nil
			}))
			out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan})
			if err != nil || out.Digest != want.Digest {
				t.Errorf("%+v, %v; want %+v", out, err, want)
			}
			again := <-restarted
			t.Cleanup(func() { _ = again.Close() })
		})
	}
}

// TestKilledWorkers has workers that end in the middle of chunks, without a word: others
// play them.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	plan := planOf(300)
	want := here(t, plan)
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true, AckWait: 500 * time.Millisecond})
	for range 4 {
		dying := link(t, cluster.Config{URL: b.URL()})
		serveOn(t, dying, openFaulty(func(first int, _ []results.League, _ []bool) error {
			if first >= 20 {
				dying.Close() // nothing that it says arrives any more
			}
			return nil
		}))
	}
	serve(t, t.Context(), b.URL(), nil)
	out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan})
	if err != nil || out.Digest != want.Digest {
		t.Errorf("%+v, %v; want %+v", out, err, want)
	}
}

// TestPoisonWithoutAWord has a league that ends every worker that plays it with one of its
// players, without a word: the run finds out whose fault it is by who is silent.
func TestPoisonWithoutAWord(t *testing.T) {
	t.Parallel()
	b, n := startBroker(t, cluster.BrokerConfig{}), newNotes()
	l := link(t, cluster.Config{URL: b.URL(), Memory: true, Note: n.add})
	died := make(chan struct{}, 1)
	start := func() {
		dying := link(t, cluster.Config{URL: b.URL()})
		serveOn(t, dying, openFaulty(func(first int, out []results.League, quarantined []bool) error {
			if poisonous(50, 1)(first, out, quarantined) != nil {
				dying.Close()
				died <- struct{}{}
			}
			return nil
		}))
	}
	plan := planOf(80)
	c, err := l.Coordinate(t.Context(), cluster.RunConfig{Plan: plan, Version: "test", Suspects: []string{"markov-2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out experiments.Outcome
	played := make(chan error, 1)
	go func() {
		var err error
		out, err = experiments.Run(t.Context(), plan, c, experiments.Tee(), experiments.Config{Workers: 64})
		played <- err
	}()
	for start(); ; {
		select {
		case <-died:
			start() // as what supervises a worker does
		case err := <-played:
			if err != nil || out.Leagues != plan.Runs || !slices.Equal(out.Quarantined, []int{1}) {
				t.Errorf("%+v, %v", out, err)
			}
			n.wait(t, func(text string) bool {
				return strings.HasPrefix(text, "league 50 ended or failed 5 workers in a row (dying (") && strings.Contains(text, "last heard")
			})
			return
		}
	}
}

// serveOn runs a worker whose connection may end.
func serveOn(t *testing.T, l *cluster.Link, change func(*cluster.ServeConfig)) {
	t.Helper()
	c := cluster.ServeConfig{Cores: 1, Name: "dying", Version: "test", Open: open}
	change(&c)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx, c) }()
	t.Cleanup(func() { cancel(); <-ended })
}
