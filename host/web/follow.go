package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// events keeps a page up to date until its spectator leaves or the server drains.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	if p.watching.Add(1) > int64(p.cfg.Spectators) {
		p.watching.Add(-1)
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%d spectators are watching, which is the limit; this page asks again", p.cfg.Spectators), http.StatusServiceUnavailable)
		return
	}
	defer p.watching.Add(-1)
	version, current := p.known(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")))
	if !current { // the page is that of another process
		Reload(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.ProtoMajor == 1 { // ends with the connection: without chunks an update is one write
		w.Header().Set("Transfer-Encoding", "identity")
	}
	s := spectator{w: w, control: http.NewResponseController(w), patience: p.cfg.Patience}
	p.follow(r.Context(), &s, version)
}

// Reload answers a request for events by having the page loaded again, because another
// one is now at its address.
func Reload(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("event: reload\ndata: \n\n")) // a page that is gone is no error
}

// known reads a version, and reports whether it is one of this process.
func (p *Page) known(id string) (version uint64, current bool) {
	epoch, number, _ := strings.Cut(id, "-")
	version, err := strconv.ParseUint(number, 10, 64)
	return version, err == nil && epoch == p.epoch
}

// heartbeat is how often a silent connection is tried.
const heartbeat = 15 * time.Second

func (p *Page) follow(ctx context.Context, s *spectator, version uint64) {
	if s.send(nil) != nil { // the head of the answer: the page is connected
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for last := false; !last; {
		if last = ctx.Err() != nil; last && p.refresh() != nil {
			return
		}
		fresh := p.announced() // before since: what is rendered after that is announced
		events, now := p.since(version)
		version = now
		if len(events) > 0 && s.send(events) != nil || last && s.send([]byte("event: end\ndata: \n\n")) != nil {
			return
		}
		if !last && !p.await(ctx, s, fresh, beat.C) {
			return
		}
	}
}

// await returns when the page has been rendered again, or ctx ends. One of those who
// wait renders it, so that a change wakes the others once. It reports false if the
// spectator is gone or nothing can be rendered.
func (p *Page) await(ctx context.Context, s *spectator, fresh <-chan struct{}, beat <-chan time.Time) bool {
	for {
		select {
		case <-fresh:
			return true
		case <-ctx.Done():
			return true
		case <-beat:
			if s.send([]byte(":\n\n")) != nil {
				return false
			}
		case p.lead <- struct{}{}:
			ok := p.renderNext(ctx, s, beat)
			<-p.lead
			return ok
		}
	}
}

// renderNext waits for the next change, renders it when it is time, and wakes those who
// wait for that. Only one at a time does it.
func (p *Page) renderNext(ctx context.Context, s *spectator, beat <-chan time.Time) bool {
	changed := p.change()
	if p.current() != p.told { // somebody who came or left has rendered it
		changed = nil
	}
	for changed != nil {
		select {
		case <-changed:
			changed = nil
		case <-ctx.Done():
			return true
		case <-beat:
			if s.send([]byte(":\n\n")) != nil {
				return false
			}
		}
	}
	timer := time.NewTimer(p.rest())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return true
	}
	if p.refresh() != nil {
		return false
	}
	p.told = p.current()
	p.announce()
	return true
}

// current returns the version that was rendered last.
func (p *Page) current() uint64 {
	p.rendering.RLock()
	defer p.rendering.RUnlock()
	return p.version
}

// announced returns what is closed when the page has been rendered for those who wait.
func (p *Page) announced() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fresh
}

func (p *Page) announce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.fresh)
	p.fresh = make(chan struct{})
}

// perSpectator is what a spectator adds to the least time between two updates, so that
// sending them takes a part of the time only.
const perSpectator = 300 * time.Microsecond

// rest returns how long the next rendering for those who watch has to wait.
func (p *Page) rest() time.Duration {
	p.rendering.RLock()
	defer p.rendering.RUnlock()
	return time.Until(p.rendered.Add(p.cfg.Interval + time.Duration(p.watching.Load())*perSpectator))
}

// spectator is a connection that events are sent on.
type spectator struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

// send writes events. It fails if the spectator is gone, or does not read them in time.
func (s *spectator) send(events []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
		return err
	}
	if _, err := s.w.Write(events); err != nil {
		return err
	}
	return s.control.Flush()
}
