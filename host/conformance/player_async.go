package conformance

import (
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// posted is an answer that the player has sent as a request of its own.
type posted struct {
	typ     protocol.Type
	match   string
	message fields
	raw     []byte
}

// maxPosted bounds how many of them are kept, the last ones.
const maxPosted = 1000

// takePosted keeps a request of the player's that answers one of ours.
func (s *playerSide) takePosted(in *trace.Exchange, req *protocol.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.posted) == maxPosted {
		s.posted = s.posted[1:]
	}
	s.posted = append(s.posted, posted{typ: req.Type, match: req.Header.MatchID, message: object(in.Raw).inner(), raw: in.Raw})
	close(s.came)
	s.came = make(chan struct{})
}

// answeredBy returns what answers a message that a player may also answer by a
// request of its own; empty for others.
func answeredBy(t protocol.Type) protocol.Type {
	switch t {
	case protocol.TypeGameInvitation:
		return protocol.TypeGameJoinAck
	case protocol.TypeChooseParityCall:
		return protocol.TypeChooseParityResponse
	}
	return ""
}

// deliver sends a letter like Send. Where the player only acknowledges an
// invitation or a call, its answer is what it posts to the referee within the
// deadline. A player that once did not is not waited for again.
func (p playerT) deliver(l letter) *Answer {
	head := l.message.Head()
	want := answeredBy(head.MessageType)
	before := time.Now()
	a := p.Send(l)
	if want == "" || !a.acknowledges(want) {
		return a
	}
	p.mu.Lock()
	vain := p.synchronous
	p.mu.Unlock()
	if vain {
		return a
	}
	m, came := p.awaitPosted(want, head.MatchID, before.Add(p.counter.opts.Timeout))
	if !came {
		p.mu.Lock()
		p.synchronous = true
		p.mu.Unlock()
		return a
	}
	p.saw("the player, later", m.raw)
	whole := *a
	whole.Message, whole.Took = m.message, time.Since(before)
	return &whole
}

// acknowledges reports whether an answer says no more than that the message has
// arrived.
func (a *Answer) acknowledges(want protocol.Type) bool {
	return a.Err == nil && !a.Refused && a.Status >= 200 && a.Status <= 299 &&
		protocol.Type(a.Message.text("message_type")) != want && !joinsIn(a) && choiceIn(a) == ""
}

// awaitPosted returns what the player has posted about a match, once it comes.
func (p playerT) awaitPosted(t protocol.Type, match string, until time.Time) (posted, bool) {
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	for {
		p.mu.Lock()
		for i, m := range p.posted {
			if m.typ == t && m.match == match {
				p.posted = append(p.posted[:i:i], p.posted[i+1:]...)
				p.mu.Unlock()
				return m, true
			}
		}
		came := p.came
		p.mu.Unlock()
		select {
		case <-came:
		case <-late.C:
			return posted{}, false
		case <-p.ctx.Done():
			return posted{}, false
		}
	}
}
