package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// A command that ends after a signal has the last word; one that takes a moment says what
// it finishes, and one that does not end is left behind.
func TestStoppable(t *testing.T) {
	t.Parallel()
	const notice, left = "stopping: writing a page, for 4s at most; a second signal ends it at once", "stopped before the end of this: writing a page"
	for _, tc := range []struct {
		takes time.Duration // after the signal
		code  int
		after time.Duration
		says  []string
	}{
		{0, 7, 0, nil},
		{time.Second, 7, time.Second, []string{notice}},
		{time.Hour, exitStopped, stopTime, []string{notice, left}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var stderr bytes.Buffer
			p := command.Process{Stderr: &stderr, Stage: new(command.Stage)}
			p.Stage.Set("writing a page")
			time.AfterFunc(time.Minute, cancel)
			start := time.Now()
			code := stoppable(ctx, p, stopTime, func() int {
				time.Sleep(time.Minute + tc.takes)
				return 7
			})
			if took := time.Since(start) - time.Minute; code != tc.code || took != tc.after {
				t.Errorf("%v: code %d after %v, want %d after %v", tc.takes, code, took, tc.code, tc.after)
			}
			said := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			for i, want := range tc.says {
				if i >= len(said) || !strings.Contains(said[i], want) {
					t.Errorf("%v: said %q, want %q", tc.takes, said, tc.says)
				}
			}
			if tc.says == nil && stderr.Len() > 0 {
				t.Errorf("%v: said %q", tc.takes, said)
			}
			time.Sleep(2 * time.Hour) // the command that was left behind
		})
	}
}
