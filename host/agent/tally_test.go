package agent_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/agent"
)

// Each kind of each agent is logged once, with its number at the end.
func TestTally(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var tally agent.Tally
	for range 3 {
		tally.Note(log, "refused", "P01", "GAME_OVER", errors.New("no"))
	}
	tally.Note(log, "refused", "P02", "GAME_OVER", errors.New("no"))
	if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "level=WARN") {
		t.Errorf("%d lines:\n%s", n, &out)
	}
	out.Reset()
	tally.Close(log)
	tally.Close(log)
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "agent=P01") || !strings.Contains(got, "times=3") {
		t.Errorf("at the end:\n%s", got)
	}
}
