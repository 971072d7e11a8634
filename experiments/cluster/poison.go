package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// poisonError says that no worker could play a league, who tried and what happened, if it
// was heard, and which players may be the reason.
func poisonError(league int, tried, suspects []string) error {
	text := fmt.Sprintf("league %d ended or failed %d workers that tried to play it%s", league, MaxDeliver, inBrackets(tried))
	if len(suspects) > 0 {
		text += ", also without " + strings.Join(suspects, ", ")
	}
	return errors.New(text + "; look at the log of a worker for the reason")
}

// inBrackets adds what workers said to a sentence.
func inBrackets(tried []string) string {
	if len(tried) == 0 {
		return ""
	}
	return " (" + strings.Join(tried, "; ") + ")"
}

// pieces is the number of parts that a chunk is divided into that workers cannot play.
const pieces = 64

// rescue plays a chunk that has ended or failed too many workers. It divides the chunk to find the
// league that ends workers, and puts the player at fault aside: for the rest of the chunk,
// and for all chunks after it. One chunk is rescued at a time, and its parts are played one
// after the other, so that few workers end.
func (w *waiter) rescue(ctx context.Context, p *owed, out []results.League) error {
	c := w.coordinator
	c.forget(p)
	if !w.rescues {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case c.rescue <- struct{}{}:
		}
		w.rescues = true
		defer func() { w.rescues = false; <-c.rescue }()
	}
	c.mu.Lock()
	r, tried := p.request, triedBy(p.trials)
	c.status.Failed++
	quarantined := c.withPoison(r.Quarantined, r.First+r.Count)
	c.mu.Unlock()
	switch {
	case !slices.Equal(quarantined, r.Quarantined): // a player was put aside meanwhile
		r.Quarantined = quarantined
		_, err := w.part(ctx, &owed{request: r}, out)
		return err
	case r.Count == 1:
		return w.settle(ctx, r, out, tried)
	}
	c.note("poison", "%d workers in a row could not play leagues %d to %d; dividing them", MaxDeliver, r.First, r.First+r.Count-1)
	step := max(1, r.Count/pieces)
	for at := 0; at < r.Count; at += step {
		n := min(step, r.Count-at)
		part := &owed{request: chunk.Request{First: r.First + at, Count: n, Quarantined: r.Quarantined}}
		if _, err := w.part(ctx, part, out[at:at+n]); err != nil {
			return err
		}
	}
	return nil
}

// settle plays a league that ends workers without the player at fault, which it puts
// aside. As a rule that is one, so each attempt halves the number of those that may be.
func (w *waiter) settle(ctx context.Context, r chunk.Request, out []results.League, tried []string) error {
	c := w.coordinator
	without := func(fields []int) (bool, error) {
		p := &owed{request: r, final: true}
		p.request.Quarantined = slices.Clone(r.Quarantined)
		for _, field := range fields {
			p.request.Quarantined[field] = true
		}
		_, err := w.part(ctx, p, out)
		if errors.Is(err, errPoisoned) {
			return false, nil
		}
		return err == nil, err
	}
	all := c.suspects(r.Quarantined)
	if len(all) == 0 {
		return poisonError(r.First, tried, nil)
	}
	c.note("poison", "league %d ended or failed %d workers in a row%s; looking for the player at fault", r.First, MaxDeliver, inBrackets(tried))
	fault := all
	for len(fault) > 1 {
		half, rest := fault[:len(fault)/2], fault[len(fault)/2:]
		ok, err := without(half)
		if err != nil {
			return err
		}
		if fault = rest; ok {
			fault = half
		}
	}
	ok, err := without(fault)
	if err == nil && !ok && len(all) > 1 { // several are
		fault = all
		ok, err = without(fault)
	}
	if err != nil {
		return err
	}
	if !ok {
		return poisonError(r.First, tried, c.names(all))
	}
	c.note("poison", "league %d ends or fails every worker that plays it with %s, put aside from there on", r.First, strings.Join(c.names(fault), ", "))
	c.putAside(fault, r.First)
	return nil
}

// withPoison adds the players that were put aside before a league to a quarantine. The
// caller holds mu.
func (c *Coordinator) withPoison(quarantined []bool, before int) []bool {
	for field, from := range c.poison {
		if from < before && !quarantined[field] {
			quarantined = slices.Clone(quarantined)
			quarantined[field] = true
		}
	}
	return quarantined
}

// putAside has no later league played with some players. Chunks that are with workers are
// taken back: they would end those, too.
func (c *Coordinator) putAside(fields []int, from int) {
	c.mu.Lock()
	for _, field := range fields {
		c.poison[field] = from
	}
	var later []*owed
	for _, o := range c.owed {
		if o.request.First > from {
			later = append(later, o)
		}
	}
	for _, o := range later {
		c.enter(o)
	}
	c.mu.Unlock()
}

// triedBy says who failed with a chunk, and how.
func triedBy(trials []trial) (list []string) {
	for _, t := range trials {
		list = append(list, t.why)
	}
	return slices.Compact(list)
}

// annotate notes in the leagues of a chunk whom this coordinator has quarantined in it:
// the run does so from there on.
func (w *waiter) annotate(p *owed, out []results.League) {
	for field, aside := range p.request.Quarantined {
		if aside && !w.quarantined[field] {
			out[0].Notes = append(out[0].Notes, results.Note{Field: field, Fault: game.FaultQuarantined,
				Text: fmt.Sprintf("put aside from league %d on: leagues with it ended or failed %d workers in a row", p.request.First, MaxDeliver)})
		}
	}
}

// suspects returns the field indices of the players that may be the reason if workers end.
func (c *Coordinator) suspects(quarantined []bool) []int {
	var list []int
	for i, e := range c.job.Plan.Field {
		if !quarantined[i] && slices.Contains(c.config.Suspects, e.Name) {
			list = append(list, i)
		}
	}
	return list
}

// names returns the names of players.
func (c *Coordinator) names(fields []int) []string {
	var list []string
	for _, field := range fields {
		list = append(list, c.job.Plan.Field[field].Name)
	}
	return list
}
