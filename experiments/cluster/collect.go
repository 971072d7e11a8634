package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Headers of messages.
const (
	headerChunk  = "Strategylab-Chunk"  // name of a chunk
	headerNot    = "Strategylab-Not"    // worker that must not play it
	headerWorker = "Strategylab-Worker" // who has played the records
	headerFirst  = "Strategylab-First"  // first league of the records
	headerCount  = "Strategylab-Count"  // leagues
	headerTook   = "Strategylab-Took"   // seconds of playing
	headerError  = "Strategylab-Error"  // why a worker could not play; there are no records then
	headerPasses = "Strategylab-Passes" // the worker is the one that must not play it
)

// pending is a call of Play: the chunks that it waits for.
type pending struct {
	first, count int
	quarantined  []bool
	parts        map[string]chunk.Request // published, by name; guarded by the coordinator
	tried        map[string][]string      // by chunk: what went wrong with it; likewise
	inbox        chan arrival
}

// arrival is what a call of Play hears of a chunk.
type arrival struct {
	part     string
	request  chunk.Request
	message  jetstream.Msg // records
	poisoned bool          // it has been delivered too often
	lost     bool          // the broker has lost it
}

func (c *Coordinator) newPending(first, count int, quarantined []bool) *pending {
	return &pending{first: first, count: count, quarantined: quarantined, parts: make(map[string]chunk.Request),
		tried: make(map[string][]string), inbox: make(chan arrival, 64)}
}

// forget ends the wait for chunks.
func (c *Coordinator) forget(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for part := range p.parts {
		delete(c.pending, part)
	}
}

// publish gives a part of a call to the workers, except to one. It waits for a broker
// that is away.
func (c *Coordinator) publish(ctx context.Context, p *pending, r chunk.Request, except string) error {
	r.Quarantined = p.quarantined
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.serial++
	part := fmt.Sprintf("%d-%d-%d", r.First, r.Count, c.serial)
	p.parts[part], c.pending[part] = r, p
	c.mu.Unlock()
	m := nats.NewMsg(c.link.subject("chunk", c.job.Run))
	m.Data = body
	m.Header.Set(headerChunk, part)
	if except != "" {
		m.Header.Set(headerNot, except)
	}
	return c.link.deliver(ctx, m, c.job.Run+"."+part)
}

// deliver publishes a message once, whatever happens to the connection meanwhile.
func (l *Link) deliver(ctx context.Context, m *nats.Msg, id string) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		one, cancel := context.WithTimeout(ctx, apiTime)
		_, err := l.js.PublishMsg(one, m, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		cancel()
		var refused *jetstream.APIError
		if errors.As(err, &refused) && l.refused.CompareAndSwap(false, true) {
			l.config.Note("the broker stores nothing (%v); waiting until it does", err)
		}
		switch {
		case err == nil:
			l.refused.Store(false)
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, nats.ErrConnectionClosed):
			return connectError(l.config.URL, cmp.Or(l.conn.LastError(), err))
		case errors.Is(err, nats.ErrMaxPayload):
			return err
		}
		if !pause(ctx, wait) {
			return context.Cause(ctx)
		}
	}
}

// collect receives the records of all parts of a call into out, and returns who played
// most of them.
func (w *waiter) collect(ctx context.Context, p *pending, out []results.League) (by string, err error) {
	c := w.coordinator
	have := make([]bool, len(out))
	for missing := len(out); missing > 0; {
		var a arrival
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case a = <-p.inbox:
		}
		switch {
		case a.poisoned:
			if err := c.divide(ctx, p, a); err != nil {
				return "", err
			}
			continue
		case a.lost:
			if err := c.replace(ctx, p, a, ""); err != nil {
				return "", err
			}
			continue
		}
		worker := a.message.Headers().Get(headerWorker)
		if a.message.Headers().Get(headerPasses) != "" {
			_ = a.message.Ack() // it says nothing more
			if err := c.pass(ctx, p, a, worker); err != nil {
				return "", err
			}
			continue
		}
		leagues, err := w.open(p, a)
		if err == nil {
			by = worker
			for i := range leagues {
				if at := leagues[i].Index - p.first; !have[at] {
					have[at], missing = true, missing-1
					out[at], leagues[i] = leagues[i], out[at]
				}
			}
		}
		_ = a.message.Ack() // a message that comes again belongs to no chunk
		if err != nil && !c.mistrusts(worker) {
			c.distrust(ctx, worker, err)
		}
		if err != nil {
			if err := c.replace(ctx, p, a, worker); err != nil {
				return "", err
			}
		}
	}
	return by, nil
}

// open returns the leagues of a message, in the waiter's memory. The error says what is
// impossible about them.
func (w *waiter) open(p *pending, a arrival) ([]results.League, error) {
	h := a.message.Headers()
	first, err1 := strconv.Atoi(h.Get(headerFirst))
	count, err2 := strconv.Atoi(h.Get(headerCount))
	if err1 != nil || err2 != nil || count < 1 || first < a.request.First || first+count > a.request.First+a.request.Count {
		return nil, fmt.Errorf("it sent leagues %s, count %s, want some of %d to %d", h.Get(headerFirst), h.Get(headerCount), a.request.First, a.request.First+a.request.Count-1)
	}
	if w.coordinator.mistrusts(h.Get(headerWorker)) {
		return nil, errors.New("it is put aside")
	}
	for len(w.scratch) < count {
		w.scratch = append(w.scratch, results.League{})
	}
	leagues := w.scratch[:count]
	if err := w.decoder.Decode(a.message.Data(), first, leagues); err != nil {
		return nil, err
	}
	for i := range leagues {
		if err := w.checker.Check(&leagues[i]); err != nil {
			return nil, err
		}
	}
	return leagues, nil
}

// divide publishes a chunk that workers could not play in smaller parts. The error names
// a single league to which that has happened.
func (c *Coordinator) divide(ctx context.Context, p *pending, a arrival) error {
	c.mu.Lock()
	tried := p.tried[a.part]
	delete(p.parts, a.part)
	delete(c.pending, a.part)
	c.status.Failed++
	c.mu.Unlock()
	if a.request.Count == 1 {
		return &PoisonError{League: a.request.First, Tried: tried, Suspects: c.suspects(p.quarantined)}
	}
	c.link.config.Note("%d workers in a row could not play leagues %d to %d; dividing them", MaxDeliver, a.request.First, a.request.First+a.request.Count-1)
	step := max(1, a.request.Count/64)
	for at := 0; at < a.request.Count; at += step {
		if err := c.publish(ctx, p, chunk.Request{First: a.request.First + at, Count: min(step, a.request.Count-at)}, ""); err != nil {
			return err
		}
	}
	return nil
}

// replace publishes a chunk again, under another name.
func (c *Coordinator) replace(ctx context.Context, p *pending, a arrival, except string) error {
	c.mu.Lock()
	delete(p.parts, a.part)
	delete(c.pending, a.part)
	c.mu.Unlock()
	return c.publish(ctx, p, chunk.Request{First: a.request.First, Count: a.request.Count}, except)
}

// errAlone says that there is no second worker to verify the leagues of the first.
var errAlone = errors.New("there is no other worker")

// pass publishes a chunk again that came to the worker that must not play it, when
// another had time to take it.
func (c *Coordinator) pass(ctx context.Context, p *pending, a arrival, worker string) error {
	if !c.hasOther(worker) {
		return errAlone
	}
	if !pause(ctx, verifyPause) {
		return context.Cause(ctx)
	}
	return c.replace(ctx, p, a, worker)
}

// PoisonError is a league that no worker could play.
type PoisonError struct {
	League   int
	Tried    []string // who tried, and what happened, if it was heard
	Suspects []string // players that may be the reason
}

// Error names the league, the workers and the suspects.
func (e *PoisonError) Error() string {
	text := fmt.Sprintf("league %d ended or failed %d workers that tried to play it", e.League, MaxDeliver)
	if len(e.Tried) > 0 {
		text += " (" + strings.Join(e.Tried, "; ") + ")"
	}
	if len(e.Suspects) > 0 {
		text += "; play without the one at fault, which may be " + strings.Join(e.Suspects, ", ")
	}
	return text
}

func (c *Coordinator) suspects(quarantined []bool) []string {
	var list []string
	for i, e := range c.job.Plan.Field {
		if !quarantined[i] && slices.Contains(c.config.Suspects, e.Name) {
			list = append(list, e.Name)
		}
	}
	return list
}

// samples reports whether two workers play the chunk that begins with a league.
func (c *Coordinator) samples(first int) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.job.Run, first)
	const golden = 0x9e3779b97f4a7c15
	return float64(h.Sum64()*golden)/math.MaxUint64 < c.config.Verify
}

// verifyPause is the wait for another worker than the first.
const verifyPause = 200 * time.Millisecond

// verify has another worker play a chunk and compares the records.
func (w *waiter) verify(ctx context.Context, p *pending, by string, out []results.League) error {
	c := w.coordinator
	if clockbound(out) || !c.hasOther(by) {
		return nil
	}
	want, err := w.encoder.Encode(out)
	if err != nil {
		return err
	}
	want = bytes.Clone(want)
	c.forget(p)
	again := c.newPending(p.first, p.count, p.quarantined)
	defer c.forget(again)
	if err := c.publish(ctx, again, chunk.Request{First: p.first, Count: p.count}, by); err != nil {
		return err
	}
	second := make([]results.League, len(out))
	also, err := w.collect(ctx, again, second)
	if errors.Is(err, errAlone) {
		return nil
	}
	if err != nil || clockbound(second) {
		return err
	}
	got, err := w.encoder.Encode(second)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("leagues %d to %d: workers %s and %s played the same leagues and got different records; "+
			"one of them is not what it claims to be: stop it, and continue with --resume", p.first, p.first+p.count-1, c.nameOf(by), c.nameOf(also))
	}
	return nil
}

// clockbound reports whether leagues have faults that depend on the machine.
func clockbound(leagues []results.League) bool {
	for i := range leagues {
		for _, m := range leagues[i].Matches {
			for _, f := range []game.Fault{m.A.Fault, m.B.Fault} {
				if f != game.NoFault && !f.Reproducible() {
					return true
				}
			}
		}
	}
	return false
}
