package wire

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// handsOutBy returns the name under which a referee is given its matches one by
// one; empty where it is sent announcements.
func (p *Peer) handsOutBy() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handOut != "" {
		return p.handOut
	}
	d := p.learned
	if d == nil {
		d = p.Dialect
	}
	return d.Assignment
}

// handOut gives a referee the matches of an announcement that are its own, a
// call for each. The answer to the last stands for all; one that the referee
// refuses ends it.
func (c *Caller) handOut(ctx context.Context, p *Peer, name string, m *protocol.RoundAnnouncement) (protocol.Message, error) {
	calls, err := p.Speaks().AssignmentCalls(name, m)
	if err != nil {
		return nil, fmt.Errorf("hand out matches by %s: %w", name, err)
	}
	answer, err := received(m.MessageType)
	for _, call := range calls {
		got, failed := c.Send(ctx, p, call, "")
		if failed != nil {
			return nil, fmt.Errorf("hand out a match by %s: %w", name, failed)
		}
		if _, failed = c.Read(m.MessageType, got); failed != nil && refuses(failed) {
			return nil, failed
		}
	}
	return answer, err
}

// handOutAnyhow looks for the name under which a referee that knows no
// announcements takes its matches. Without one the error is that of the
// announcement.
func (c *Caller) handOutAnyhow(ctx context.Context, p *Peer, m *protocol.RoundAnnouncement, unknown error) (protocol.Message, error) {
	if calls, err := p.Speaks().AssignmentCalls(dialect.AssignmentNames()[0], m); err != nil || len(calls) == 0 {
		return nil, unknown // there is nothing to hand out
	}
	for _, name := range dialect.AssignmentNames() {
		answer, err := c.handOut(ctx, p, name, m)
		if UnknownMethod(err) {
			continue
		}
		if err == nil {
			p.mu.Lock()
			p.handOut = name
			p.mu.Unlock()
		}
		return answer, err
	}
	return nil, unknown
}
