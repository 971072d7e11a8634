package referee

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Bounds of what a manager learns of matches that are not over.
const (
	progressRest = 100 * time.Millisecond // between two messages
	maxProgress  = 256                    // matches in one
)

// progress is what the manager may learn of the matches in play. It holds the latest
// state of each and no queue, so a slow manager hears less, and no match waits for it.
type progress struct {
	mu      sync.Mutex
	wanted  bool
	matches map[string]*unfolding
	news    chan struct{} // has a value when something has changed
}

// unfolding is how far a match is.
type unfolding struct {
	protocol.MatchState
	deadline time.Time
	changed  bool // since it was reported
	over     bool // there is nothing more to say after this
}

func newProgress() *progress {
	return &progress{matches: make(map[string]*unfolding), news: make(chan struct{}, 1)}
}

// want says whether the manager takes progress.
func (p *progress) want(wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted = wanted; !wanted {
		clear(p.matches)
	}
}

// note takes an event of the referee. It returns at once.
func (p *progress) note(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted {
		return
	}
	u := p.matches[e.Match]
	if u == nil {
		if len(p.matches) == maxProgress {
			return
		}
		u = &unfolding{MatchState: protocol.MatchState{MatchID: e.Match}}
	}
	include := func(list *[]string) {
		if !slices.Contains(*list, e.Player) {
			*list = append(*list, e.Player)
		}
	}
	switch e.Kind {
	case Asked:
		include(&u.Asked)
		u.deadline = e.Deadline
	case Chose:
		include(&u.Chosen)
	case Retried:
		include(&u.Retried)
	case Forfeited:
		if u.Faults == nil {
			u.Faults = make(map[string]string, 1)
		}
		u.Faults[e.Player] = cmp.Or(e.Error, e.Fault)
	case Finished, Alarm:
		if u.over = u.changed && u.Faults != nil; !u.over { // else no result says what happened
			delete(p.matches, e.Match)
		}
		return
	default:
		return
	}
	u.changed, p.matches[e.Match] = true, u
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// take returns the matches that have changed since it was called last.
func (p *progress) take(now time.Time) (changed []protocol.MatchState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, u := range p.matches {
		if !u.changed {
			continue
		}
		u.changed = false
		s := u.MatchState
		s.Asked, s.Chosen, s.Retried, s.Faults = slices.Clone(s.Asked), slices.Clone(s.Chosen), slices.Clone(s.Retried), maps.Clone(s.Faults)
		if !u.deadline.IsZero() {
			s.TimeLeftMS = protocol.Some(int(max(0, u.deadline.Sub(now).Milliseconds())))
		}
		changed = append(changed, s)
		if u.over {
			delete(p.matches, id)
		}
	}
	return changed
}

// tellProgress tells a manager that takes it how far matches are, until ctx ends. What
// does not arrive is not sent again: the next change says more.
func (r *Referee) tellProgress(ctx context.Context) {
	for {
		select {
		case <-r.progress.news:
		case <-ctx.Done():
			return
		}
		h := r.member.Me.Header(protocol.TypeMatchProgress, protocol.Timestamp(r.cfg.Now()))
		h.LeagueID = r.member.Me.League()
		matches := r.progress.take(r.cfg.Now())
		if len(matches) == 0 {
			continue
		}
		attempt, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
		_, err := r.cfg.Caller.Call(attempt, r.cfg.Manager, &protocol.MatchProgress{Header: h, Matches: matches})
		cancel()
		if wire.Refused(err) {
			r.progress.want(false) // until it asks again
		}
		if agent.Wait(ctx, progressRest) != nil {
			return
		}
	}
}
