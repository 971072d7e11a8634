package agent

import (
	"log/slog"
	"sync"
)

// Tally logs what happens again and again to the same agents: the first time of each kind, and at
// the end how often it was. It is safe for concurrent use; the zero value is empty.
type Tally struct {
	mu    sync.Mutex
	kinds []*tallied
}

type tallied struct {
	what, agent, kind string
	times             int
}

// Note logs an event of an agent at the level of information, unless it has logged
// that of the kind before.
func (t *Tally) Note(log *slog.Logger, what, agent, kind string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.kinds {
		if k.what == what && k.agent == agent && k.kind == kind {
			k.times++
			return
		}
	}
	t.kinds = append(t.kinds, &tallied{what, agent, kind, 1})
	log.Info(what, "agent", agent, "message", kind, "error", err)
}

// Close logs how often each kind has happened that happened more than once, and empties the tally.
func (t *Tally) Close(log *slog.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.kinds {
		if k.times > 1 {
			log.Info(k.what, "agent", k.agent, "message", k.kind, "times", k.times)
		}
	}
	t.kinds = nil
}
