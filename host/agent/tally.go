package agent

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// Tally logs what happens again and again to the same agents: the first time of each kind, and at
// the end how often it was. It is safe for concurrent use; the zero value is empty.
type Tally struct {
	mu    sync.Mutex
	times map[[3]string]int // by what happened, agent and kind
}

// Note logs an event of an agent at the level of information, unless it has logged
// that of the kind before.
func (t *Tally) Note(log *slog.Logger, what, agent, kind string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == nil {
		t.times = make(map[[3]string]int)
	}
	of := [3]string{what, agent, kind}
	if t.times[of]++; t.times[of] == 1 {
		log.Info(what, "agent", agent, "message", kind, "error", err)
	}
}

// Close logs how often each kind has happened that happened more than once, and empties the tally.
func (t *Tally) Close(log *slog.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range slices.SortedFunc(maps.Keys(t.times), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		if n := t.times[of]; n > 1 {
			log.Info(of[0], "agent", of[1], "message", of[2], "times", n)
		}
	}
	t.times = nil
}
