package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// CaughtError says that a worker was caught whose records were accepted before. The run
// has to go on from before the first of them; see Ledger.
type CaughtError struct {
	Worker string // its name and id
	Why    string
}

// Error names the worker.
func (e *CaughtError) Error() string {
	return fmt.Sprintf("worker %s is put aside: %s; all that it has played must be played again", e.Worker, e.Why)
}

// part has workers play a chunk, and returns who did; "" if it had to be rescued. o.except,
// unless empty, must not play it.
func (w *waiter) part(ctx context.Context, o *owed, out []results.League) (by string, err error) {
	o.inbox = make(chan arrival, 16*mostUnread)
	c := w.coordinator
	defer c.forget(o)
	c.owe(o)
	parts := make(map[string][]piece) // by worker
	defer func() {
		for _, p := range parts {
			c.drop(p)
		}
	}()
	for by == "" {
		var a arrival
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case a = <-o.inbox:
		}
		switch {
		case a.alone:
			return "", errAlone
		case a.poisoned && o.final:
			return "", errPoisoned
		case a.poisoned:
			return "", w.rescue(ctx, o, out)
		}
		if by, err = c.open(o, a.message, parts, out); err != nil {
			return "", err
		}
	}
	w.annotate(o, out)
	return by, nil
}

// piece is the records of some leagues of a chunk.
type piece struct {
	report
	records []byte
}

// open reads a report on a chunk into out. It returns the worker, if that has delivered
// the chunk. The error ends the run.
func (c *Coordinator) open(o *owed, m *nats.Msg, parts map[string][]piece, out []results.League) (by string, err error) {
	var p piece
	id := senderOf(m)
	if p.records, err = parse(m, &p.report); err != nil {
		return "", nil // arrive has parsed it
	}
	c.mu.Lock()
	o.unread[id]--
	name, useless := nameOf(c.members[id], id), c.aside[id] != "" || c.owed[p.Part] != o
	if p.Error != "" && o.given[id] != nil && !useless {
		why := plain(p.Error, 2*mostText)
		c.once("failed "+id+why, "failed", "worker %s could not play leagues: %s", name, why)
		c.fail(o, trial{worker: id, why: name + ": " + why})
	}
	c.unlock()
	if p.Error != "" || useless {
		return "", nil
	}
	first, end := o.request.First, o.request.First+o.request.Count
	if p.First < first || p.First >= end || p.Count < 1 || p.Count > end-p.First {
		return "", c.caught(id, fmt.Errorf("it sent %d leagues from %d on, want some of %d to %d", p.Count, p.First, first, end-1))
	}
	if p.First == first || len(parts[id]) > 0 && parts[id][0].Part != p.Part {
		c.drop(parts[id])
		parts[id] = nil // it begins, perhaps again
	}
	next := first
	for _, x := range parts[id] {
		next += x.Count
	}
	if p.First != next || !c.keep(p) {
		return "", nil // what was before it was lost on the way; or there is too much: others have the chunk soon
	}
	if parts[id] = append(parts[id], p); next+p.Count < end {
		return "", nil
	}
	took := 0.0
	for _, x := range parts[id] {
		at := x.First - o.request.First
		if err := c.read(x, out[at:at+x.Count]); err != nil {
			return "", c.caught(id, err)
		}
		took += x.Took
	}
	if !c.accept(o, p.Part, id, took) {
		return "", nil
	}
	return id, nil
}

// keep counts the memory of records that wait for the others of their chunk; false if there
// is none left.
func (c *Coordinator) keep(p piece) bool {
	return c.kept.Add(int64(len(p.records))) <= memory || c.drop([]piece{p})
}

// drop ends the wait of records. It returns false.
func (c *Coordinator) drop(all []piece) bool {
	for _, p := range all {
		c.kept.Add(-int64(len(p.records)))
	}
	return false
}

// read moves the leagues of a message to out. The error says what is impossible about them.
func (c *Coordinator) read(p piece, out []results.League) error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	defer c.readers.Put(r)
	leagues, err := r.read(p.records, p.First, p.Count)
	for i := range leagues {
		out[i], leagues[i] = leagues[i], out[i]
	}
	return err
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

// caught puts a worker aside whose records are wrong. If others of it were accepted, the
// error ends the run.
func (c *Coordinator) caught(id string, why error) error {
	c.mu.Lock()
	defer c.unlock()
	if c.aside[id] != "" {
		return nil
	}
	e := &CaughtError{Worker: nameOf(c.members[id], id), Why: "its records cannot be right: " + plain(why.Error(), 2*mostText)}
	c.exclude(id, e.Why)
	if c.shares[id].Leagues == 0 && !c.config.Ledger.played(id) {
		return nil
	}
	if err := c.config.Ledger.distrust(id, e.Worker, e.Why); err != nil {
		return errors.Join(e, err)
	}
	return e
}

var (
	// errAlone says that there is no second worker to verify the leagues of the first.
	errAlone = errors.New("there is no other worker")
	// errPoisoned says that a chunk has failed too often that is not to be rescued.
	errPoisoned = errors.New("it ended or failed every worker")
)

// chance returns a number from 0 to 1 for the chunk that begins with a league. Nobody can
// foresee it: it follows from the key of the run.
func (c *Coordinator) chance(what string, first int) float64 {
	h := sha256.New()
	fmt.Fprintf(h, "%x %s %d", c.key.private.Seed(), what, first)
	return float64(binary.BigEndian.Uint64(h.Sum(nil))) / math.MaxUint64
}

// samples reports whether the chunk that begins with a league is played twice.
func (c *Coordinator) samples(first int) bool { return c.chance("verify", first) < c.config.Verify }

// ownShare is the share of the verified chunks that the experiment plays itself, as far as
// one processor does that: workers may lie alike.
const ownShare = 0.25

// verify has another worker play a chunk and compares the records; without another, the
// coordinator plays it. If they differ, the coordinator plays it to decide who is wrong.
func (w *waiter) verify(ctx context.Context, r chunk.Request, by string, out []results.League) error {
	c := w.coordinator
	if by == "" || clockbound(out) {
		return nil
	}
	want, err := c.encode(out)
	if err != nil {
		return err
	}
	if c.config.Own != nil && len(c.deciding) == 0 && c.chance("own", r.First) < ownShare {
		return c.decide(ctx, r, map[string][]byte{by: want})
	}
	second := make([]results.League, len(out))
	also, err := w.part(ctx, &owed{request: r, except: by}, second)
	if errors.Is(err, errAlone) && c.config.Own == nil {
		c.note("alone", "leagues %d to %d are not verified: there is no other worker", r.First, r.First+r.Count-1)
		return nil
	}
	if err != nil && !errors.Is(err, errAlone) {
		return err
	}
	var got []byte
	if err == nil {
		if also == "" || clockbound(second) {
			return nil
		}
		if got, err = c.encode(second); err != nil || bytes.Equal(got, want) {
			return err
		}
	}
	return c.decide(ctx, r, map[string][]byte{by: want, also: got})
}

// decide finds out who of some workers has sent wrong records of a chunk, by playing it.
// The error ends the run.
func (c *Coordinator) decide(ctx context.Context, r chunk.Request, sent map[string][]byte) (err error) {
	delete(sent, "")
	var right []byte
	if c.config.Own != nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case c.deciding <- struct{}{}:
		}
		defer func() { <-c.deciding }()
		out := make([]results.League, r.Count)
		own, err := c.config.Own.NewWorker(ctx)
		if err != nil {
			return err
		}
		for at, block := 0, max(1, c.config.Own.Block()); at < r.Count && err == nil; at += block {
			err = own.Play(ctx, r.First+at, out[at:min(at+block, r.Count)], r.Quarantined)
		}
		if err = errors.Join(err, own.Close()); err != nil {
			return err
		}
		if clockbound(out) {
			return nil
		}
		if right, err = c.encode(out); err != nil {
			return err
		}
	}
	for id, records := range sent {
		if right != nil && bytes.Equal(records, right) {
			continue
		}
		why := fmt.Errorf("it got other records of leagues %d to %d than the experiment itself", r.First, r.First+r.Count-1)
		if right == nil {
			why = fmt.Errorf("two workers got different records of leagues %d to %d, and it is one of them", r.First, r.First+r.Count-1)
		}
		err = errors.Join(err, c.caught(id, why))
	}
	return err
}

// encode returns the records of leagues, for comparison: without what was measured, which
// is never the same twice.
func (c *Coordinator) encode(leagues []results.League) ([]byte, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	defer c.readers.Put(r)
	leagues = slices.Clone(leagues)
	for i := range leagues {
		leagues[i].Costs = slices.DeleteFunc(slices.Clone(leagues[i].Costs), func(c results.Cost) bool { return !c.Exact })
	}
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
