package plugins

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSilentWorker stops a worker, which then gives no sign of life: it is killed.
func TestSilentWorker(t *testing.T) {
	t.Parallel()
	c, err := Config{Command: []string{os.Args[0], "tasks", "-"}, NoTLS: true, StartTimeout: 5 * time.Minute}.orDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{process: newProcess(&c, true)}
	w.process.silence = time.Second
	if err := w.process.launch(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	if err := w.process.child.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(t.Context(), "wait", nil, nil); !Died(err) || !strings.Contains(err.Error(), "silent for 11s") {
		t.Errorf("error %v", err)
	}
}
