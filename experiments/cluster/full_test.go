package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
)

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
