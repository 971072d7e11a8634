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
	"strconv"
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

// pending waits for the records of one chunk.
type pending struct {
	request chunk.Request // its quarantine is that of the last publication
	final   bool          // it is not rescued
	except  string        // the worker that must not play it, empty for none
	part    string        // the name under which it was last published; guarded by the coordinator
	tried   []string      // what went wrong with it; likewise
	holders []string      // workers that had it when it had been delivered too often; likewise
	excused int           // how often it was published again after that; likewise
	inbox   chan arrival
}

// arrival is what a call of Play hears of a chunk.
type arrival struct {
	message  jetstream.Msg // records
	poisoned bool          // it has been delivered too often
	lost     bool          // the broker has lost it
}

// forget ends the wait for a chunk.
func (c *Coordinator) forget(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, p.part)
}

// publish gives a chunk to the workers, except to one, under a new name. It waits for a
// broker that is away.
func (c *Coordinator) publish(ctx context.Context, p *pending, except string) error {
	c.mu.Lock()
	p.request.Quarantined = c.withPoison(p.request.Quarantined, p.request.First)
	p.except = except
	body, err := json.Marshal(p.request)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	delete(c.pending, p.part)
	c.serial++
	p.part = fmt.Sprintf("%d-%d-%d", p.request.First, p.request.Count, c.serial)
	part := p.part
	c.pending[part] = p
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
		one, cancel := context.WithTimeout(ctx, l.config.AckWait) // a broker that was killed meanwhile does not answer
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

// part has workers play a chunk, and returns who played most of it; "" if it had to be
// rescued. except, unless empty, must not play it.
func (w *waiter) part(ctx context.Context, p *pending, out []results.League, except string) (by string, err error) {
	p.inbox = make(chan arrival, 64)
	defer w.coordinator.forget(p)
	if err := w.coordinator.publish(ctx, p, except); err != nil {
		return "", err
	}
	return w.collect(ctx, p, out)
}

// collect receives the records of a chunk into out, and returns who played most of it.
func (w *waiter) collect(ctx context.Context, p *pending, out []results.League) (by string, err error) {
	c := w.coordinator
	have := make([]bool, len(out))
	missing := len(out)
	again := func(except string) error {
		clear(have)
		missing = len(out)
		return c.publish(ctx, p, except)
	}
	for missing > 0 {
		var a arrival
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case a = <-p.inbox:
		}
		switch {
		case a.poisoned && c.excuses(ctx, p):
			if err := again(p.except); err != nil {
				return "", err
			}
			continue
		case a.poisoned && p.final:
			return "", errPoisoned
		case a.poisoned:
			return "", w.rescue(ctx, p, out)
		case a.lost:
			if err := again(p.except); err != nil {
				return "", err
			}
			continue
		case a.message.Headers().Get(headerChunk) != p.part: // it was published again since
			_ = a.message.Ack()
			continue
		}
		worker := a.message.Headers().Get(headerWorker)
		if a.message.Headers().Get(headerPasses) != "" {
			_ = a.message.Ack() // it says nothing more
			if err := c.pass(ctx, p, worker); err != nil {
				return "", err
			}
			continue
		}
		n, err := c.open(p, a, have, out)
		if missing -= n; err == nil {
			by = worker
		}
		_ = a.message.Ack() // a message that comes again belongs to no chunk
		if err != nil && !c.mistrusts(worker) {
			c.distrust(ctx, worker, err)
		}
		if err != nil {
			if err := again(worker); err != nil {
				return "", err
			}
		}
	}
	w.annotate(p, out)
	return by, nil
}

// open moves the leagues of a message to out, but for those that it has, and returns their
// number. The error says what is impossible about them.
func (c *Coordinator) open(p *pending, a arrival, have []bool, out []results.League) (n int, err error) {
	h := a.message.Headers()
	first, err1 := strconv.Atoi(h.Get(headerFirst))
	count, err2 := strconv.Atoi(h.Get(headerCount))
	if err1 != nil || err2 != nil || count < 1 || first < p.request.First || first+count > p.request.First+p.request.Count {
		return 0, fmt.Errorf("it sent leagues %s, count %s, want some of %d to %d", h.Get(headerFirst), h.Get(headerCount), p.request.First, p.request.First+p.request.Count-1)
	}
	if c.mistrusts(h.Get(headerWorker)) {
		return 0, errors.New("it is put aside")
	}
	r, err := c.reader()
	if err != nil {
		return 0, err
	}
	defer c.give(r)
	leagues, err := r.read(a.message.Data(), first, count)
	if err != nil {
		return 0, err
	}
	for i := range leagues {
		if at := leagues[i].Index - p.request.First; !have[at] {
			have[at] = true
			out[at], leagues[i] = leagues[i], out[at]
			n++
		}
	}
	return n, nil
}

// read returns leagues in the reader's memory.
func (r *reader) read(records []byte, first, count int) ([]results.League, error) {
	for len(r.scratch) < count {
		r.scratch = append(r.scratch, results.League{})
	}
	leagues := r.scratch[:count]
	if err := r.decoder.Decode(records, first, leagues); err != nil {
		return nil, err
	}
	for i := range leagues {
		if err := r.checker.Check(&leagues[i]); err != nil {
			return nil, err
		}
		for _, n := range leagues[i].Notes {
			if n.Fault == game.FaultQuarantined {
				return nil, fmt.Errorf("it quarantined a player in league %d, which is not for a worker to do", leagues[i].Index)
			}
		}
	}
	return leagues, nil
}

// errAlone says that there is no second worker to verify the leagues of the first.
var errAlone = errors.New("there is no other worker")

// pass publishes a chunk again that came to the worker that must not play it, when
// another had time to take it.
func (c *Coordinator) pass(ctx context.Context, p *pending, worker string) error {
	if !c.hasOther(worker) {
		return errAlone
	}
	if !pause(ctx, c.link.config.AckWait/20) {
		return context.Cause(ctx)
	}
	return c.publish(ctx, p, worker)
}

// samples reports whether two workers play the chunk that begins with a league.
func (c *Coordinator) samples(first int) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.job.Run, first)
	const golden = 0x9e3779b97f4a7c15
	return float64(h.Sum64()*golden)/math.MaxUint64 < c.config.Verify
}

// verify has another worker play a chunk and compares the records.
func (w *waiter) verify(ctx context.Context, r chunk.Request, by string, out []results.League) error {
	c := w.coordinator
	if by == "" || clockbound(out) || !c.hasOther(by) {
		return nil
	}
	want, err := c.encode(out)
	if err != nil {
		return err
	}
	second := make([]results.League, len(out))
	also, err := w.part(ctx, &pending{request: r}, second, by)
	if errors.Is(err, errAlone) {
		return nil
	}
	if err != nil || also == "" || clockbound(second) {
		return err
	}
	got, err := c.encode(second)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("leagues %d to %d: workers %s and %s played the same leagues and got different records; "+
			"one of them is not what it claims to be: stop it, and continue with --resume", r.First, r.First+r.Count-1, c.nameOf(by), c.nameOf(also))
	}
	return nil
}

// encode returns the records of leagues.
func (c *Coordinator) encode(leagues []results.League) ([]byte, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	defer c.give(r)
	records, err := r.encoder.Encode(leagues)
	return bytes.Clone(records), err
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
