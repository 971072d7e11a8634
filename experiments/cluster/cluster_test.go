package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// faulty is a driver that fails or changes records.
type faulty struct {
	experiments.Driver
	play func(first int, out []results.League, quarantined []bool) error // after the leagues were played
}

func (f faulty) NewWorker(ctx context.Context) (experiments.Worker, error) {
	w, err := f.Driver.NewWorker(ctx)
	return faultyWorker{w, f.play}, err
}

type faultyWorker struct {
	experiments.Worker
	play func(first int, out []results.League, quarantined []bool) error
}

func (w faultyWorker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	if err := w.Worker.Play(ctx, first, out, quarantined); err != nil {
		return err
	}
	return w.play(first, out, quarantined)
}

// openFaulty opens jobs with a faulty driver.
func openFaulty(play func(first int, out []results.League, quarantined []bool) error) func(*cluster.ServeConfig) {
	return func(c *cluster.ServeConfig) {
		c.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			d, end, err := open(ctx, job, source)
			return faulty{d, play}, end, err
		}
	}
}

// counting is a driver that counts its workers.
type counting struct {
	experiments.Driver
	made *atomic.Int32
}

func (c counting) NewWorker(ctx context.Context) (experiments.Worker, error) {
	c.made.Add(1)
	return c.Driver.NewWorker(ctx)
}

// TestOneWorkerForACore has a machine with one core play many chunks. It plays them all
// with one worker of the driver, so in one process with a grown heap and warm caches, also
// while the broker stores the records of an earlier chunk.
func TestOneWorkerForACore(t *testing.T) {
	t.Parallel()
	plan := planOf(2000)
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true})
	var made atomic.Int32
	serve(t, t.Context(), b.URL(), func(c *cluster.ServeConfig) {
		c.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			d, end, err := open(ctx, job, source)
			return counting{d, &made}, end, err
		}
	})
	if out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan}); err != nil || out.Leagues != plan.Runs {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := made.Load(); n != 1 {
		t.Errorf("the driver made %d workers, want 1", n)
	}
}

// poisonous fails in a league in which none of some players is quarantined.
func poisonous(league int, players ...int) func(int, []results.League, []bool) error {
	return func(first int, out []results.League, quarantined []bool) error {
		if first > league || league >= first+len(out) {
			return nil
		}
		for _, field := range players {
			if quarantined[field] {
				return nil
			}
		}
		return errors.New("no memory left")
	}
}

// TestVerify has two workers of which one plays other choices, which no record shows: only
// playing twice does.
func TestVerify(t *testing.T) {
	t.Parallel()
	plan := planOf(60)
	want := here(t, plan)
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true})
	serve(t, t.Context(), b.URL(), nil)
	serve(t, t.Context(), b.URL(), nil)
	if out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan, Verify: 1}); err != nil || out.Digest != want.Digest {
		t.Fatalf("two honest workers: %+v, %v; want %+v", out, err, want)
	}
	serve(t, t.Context(), b.URL(), openFaulty(func(_ int, out []results.League, _ []bool) error {
		for i := range out {
			a := &out[i].Matches[0].A
			a.Choice = 3 - a.Choice // the other of even (1) and odd (2)
		}
		return nil
	}))
	_, _, err := coordinate(t, l, cluster.RunConfig{Plan: planOf(5000), Verify: 1})
	if err == nil || !strings.Contains(err.Error(), "different records") {
		t.Fatalf("a worker that plays other choices: %v", err)
	}
}

// TestRefused has wrong tokens and prefixes: the sentence says so, without the token.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := startBroker(t, cluster.BrokerConfig{})
	for _, bad := range []string{"nats://wrong@" + strings.SplitN(b.URL(), "@", 2)[1], "nats://" + strings.SplitN(b.URL(), "@", 2)[1]} {
		_, err := cluster.Connect(t.Context(), cluster.Config{URL: bad, Wait: true})
		var refused *cluster.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "refuses the token") || refused.Hint == "" || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := cluster.Connect(t.Context(), cluster.Config{URL: b.URL(), Prefix: "a b"}); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("prefix: %v", err)
	}
}

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

// TestFullStore begins a run where the broker has no room for plan and scripts: the
// experiment says so and plays on its own processors. As soon as there is room, a worker on
// another machine plays the rest. The full disk, of which a request to the broker takes ten
// seconds to fail, is for whole runs.
func TestFullStore(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(t *testing.T, n *notes) (url string, clear func()){
		"of a bucket": fullBucket, "of a disk": fullDisk,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "of a disk" && os.Getenv("WHOLE_TESTS") == "" {
				t.Skip("it waits for 12 s; set WHOLE_TESTS")
			}
			plan, n, half := planOf(300), newNotes(), make(chan struct{})
			url, clear := fill(t, n)
			l := link(t, cluster.Config{URL: url, Note: n.add})
			c, err := l.Coordinate(t.Context(), cluster.RunConfig{Plan: plan, Version: "test", Sources: map[int][]byte{1: make([]byte, 1<<21)}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			n.wait(t, func(text string) bool {
				return strings.Contains(text, "the broker does not keep plan and scripts of the run")
			})
			config := cluster.ServeConfig{Cores: 1, Name: "own", Version: "test"}
			openFaulty(func(first int, _ []results.League, _ []bool) error {
				if first >= 100 {
					<-half
				}
				return nil
			})(&config)
			ctx, cancel := context.WithCancel(t.Context())
			var own sync.WaitGroup
			own.Go(func() {
				if err := c.Serve(ctx, config); err != nil {
					t.Error(err)
				}
			})
			defer own.Wait()
			defer cancel()
			ended := make(chan error, 1)
			var out experiments.Outcome
			go func() {
				var err error
				out, err = experiments.Run(t.Context(), plan, c, experiments.Tee(), experiments.Config{Workers: 64})
				ended <- err
			}()
			clear()
			serve(t, t.Context(), url, func(s *cluster.ServeConfig) {
				s.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
					if _, err := source(job.Sources[1]); err != nil {
						return nil, nil, err
					}
					defer close(half)
					return open(ctx, job, source)
				}
			})
			if err := <-ended; err != nil || out.Digest != here(t, plan).Digest {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// fullBucket is a broker whose administrator has given the code too little room.
func fullBucket(t *testing.T, _ *notes) (url string, clear func()) {
	b := startBroker(t, cluster.BrokerConfig{})
	js := raw(t, b.URL())
	if _, err := js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "strategylab_code", MaxBytes: 1 << 12}); err != nil {
		t.Fatal(err)
	}
	return b.URL(), func() {
		if _, err := js.UpdateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "strategylab_code", MaxBytes: 1 << 23}); err != nil {
			t.Error(err)
		}
	}
}

// fullDisk is a broker on a disk that is full. It has room when the experiment has stored what
// the worker needs, so that this need not look for it again and again, as the other does.
func fullDisk(t *testing.T, n *notes) (url string, clear func()) {
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "none", disk).CombinedOutput(); err != nil {
		t.Skipf("a small disk needs root: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	b := startBroker(t, cluster.BrokerConfig{Dir: filepath.Join(disk, "broker")})
	before, err := link(t, cluster.Config{URL: b.URL()}).Coordinate(t.Context(), cluster.RunConfig{Plan: planOf(1), Version: "test"})
	if err != nil { // it was not full from the start
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = before.Close() })
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 1<<12))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return b.URL(), func() {
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
		n.wait(t, func(text string) bool { return strings.Contains(text, "they are stored again") })
	}
}
