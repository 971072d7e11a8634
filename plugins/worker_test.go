package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// chores are the tasks of the tests' workers.
type chores struct{ log *slog.Logger }

func (chores) Load(s plugins.Script, _ uint64) (strategies.Factory, error) {
	return nil, &strategies.Error{Source: s.Path, Line: 3, Op: strategies.OpLoad, Err: errors.New("boom")}
}

func (c chores) Do(ctx context.Context, task string, input []byte, reply func([]byte) error) error {
	switch task {
	case "echo":
		c.log.Warn("echoing", "what", string(input))
		return errors.Join(reply(input), reply(input))
	case "exit":
		os.Exit(3)
	case "wait":
		_ = reply(input) // nobody waits where it fails
		<-ctx.Done()
	}
	return fmt.Errorf("cannot %s", task)
}

func startWorker(t *testing.T, log *slog.Logger) *plugins.Worker {
	t.Helper()
	w, err := plugins.NewPool(plugins.Config{Command: []string{os.Args[0], "tasks", "-"}, StartTimeout: 5 * time.Minute, Log: log}, 0).Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// TestWorker: outputs and log come back, a failed task leaves the worker as it was, and
// its end has a reason.
func TestWorker(t *testing.T) {
	t.Parallel()
	var log logged
	w := startWorker(t, slog.New(slog.NewTextHandler(&log, nil)))
	var got []string
	keep := func(output []byte) error {
		got = append(got, string(output))
		return nil
	}
	if err := w.Do(t.Context(), "echo", []byte("hello"), keep); err != nil || !slices.Equal(got, []string{"hello", "hello"}) {
		t.Errorf("got %q, error %v", got, err)
	}
	if said := log.String(); !strings.Contains(said, "what=hello") {
		t.Errorf("its log says %q", said)
	}
	var typed *strategies.Error
	if _, err := w.Load(t.Context(), &plugins.Script{Path: "x.lua"}, time.Minute); !errors.As(err, &typed) || typed.Line != 3 || typed.Source != "x.lua" {
		t.Errorf("load: %v", err)
	}
	if err := w.Do(t.Context(), "fly", nil, keep); err == nil || err.Error() != "cannot fly" || w.Dead() {
		t.Errorf("a failed task: %v; dead %v", err, w.Dead())
	}
	if err := w.Do(t.Context(), "exit", nil, keep); !plugins.Died(err) || !strings.Contains(err.Error(), "exit status 3") || !w.Dead() {
		t.Errorf("its end: %v; dead %v", err, w.Dead())
	}
}

// TestWorkerStopped: a context that is done ends the worker, and so does output that
// cannot be used.
func TestWorkerStopped(t *testing.T) {
	t.Parallel()
	w := startWorker(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	begun := func([]byte) error {
		cancel()
		return nil
	}
	if err := w.Do(ctx, "wait", []byte("begun"), begun); !errors.Is(err, context.Canceled) || !w.Dead() {
		t.Errorf("error %v; dead %v", err, w.Dead())
	}
	w = startWorker(t, nil)
	if err := w.Do(t.Context(), "echo", []byte("x"), func([]byte) error { return errors.New("nonsense") }); !plugins.Died(err) || !w.Dead() {
		t.Errorf("error %v; dead %v", err, w.Dead())
	}
}

// TestWorkerDoesNotStart: a program that ends at once, and one that is not there.
func TestWorkerDoesNotStart(t *testing.T) {
	t.Parallel()
	_, err := plugins.NewPool(plugins.Config{Command: []string{os.Args[0], "misbehave", "quit", "-"}, StartTimeout: 5 * time.Minute}, 0).Take(t.Context())
	if !plugins.Died(err) || !strings.Contains(err.Error(), "no licence") {
		t.Errorf("it quits: %v", err)
	}
	if _, err = plugins.NewPool(plugins.Config{Command: []string{"./no-such-program"}}, 0).Take(t.Context()); err == nil || plugins.Died(err) {
		t.Errorf("it is not there: %v", err)
	}
}
