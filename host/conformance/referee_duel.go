package conformance

import (
	"bytes"
	"net"
	"net/http"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// duel is a match that the referee under test conducts.
type duel struct {
	side  *refereeSide
	id    string
	round int
	keys  [2]protocol.KeyPair
	plan  plan
	heard []*heard // everything the referee said of it, in order; guarded by the side's lock
	late  bool     // an answer was given when its time was over; likewise
}

// A reaction is what is answered to a message of the referee.
type reaction func(d *duel, h *heard) Said

// plan says what is answered in a match; what it leaves out is answered by the
// book, with PLAYER_A choosing even and PLAYER_B odd.
type plan struct {
	join, choose, over [2]reaction
	report             reaction
}

// heard is a message of the referee about a match.
type heard struct {
	*trace.Exchange
	who      int    // sideA, sideB or atManager
	message  fields // without its wrapping
	n        int    // how many of its type have come to who, with it
	said     Said   // what was answered, once it was
	answered time.Time
}

// onAnyPort is a free port of the same host.
func onAnyPort(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return net.JoinHostPort(host, "0")
}

func (s *refereeSide) asPlayer(who int, in *trace.Exchange) Said { return s.hear(who, in) }

// hear takes down a message of the referee and answers it.
func (s *refereeSide) hear(who int, in *trace.Exchange) Said {
	h := &heard{Exchange: in, who: who, message: (&registration{Exchange: in}).message(), n: 1}
	s.mu.Lock()
	d := s.duels[h.message.text("match_id")]
	if d != nil {
		for _, other := range d.heard {
			if other.who == who && other.Type == h.Type {
				h.n++
			}
		}
		d.heard = append(d.heard, h)
	}
	s.lastHeard = time.Now()
	s.notify()
	s.mu.Unlock()
	if d == nil {
		return inKind(in.Raw, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, "there is no such match"))
	}
	said := d.react(h)
	s.mu.Lock()
	h.said, h.answered = said, time.Now()
	s.notify()
	s.mu.Unlock()
	return said
}

func (d *duel) react(h *heard) Said {
	own, byTheBook := reaction(nil), reaction(func(_ *duel, h *heard) Said { return inKind(h.Raw, nil) })
	switch {
	case h.who == atManager:
		own, byTheBook = d.plan.report, records
	case h.Type == protocol.TypeGameInvitation:
		own, byTheBook = d.plan.join[h.who], joining()
	case h.Type == protocol.TypeChooseParityCall:
		own, byTheBook = d.plan.choose[h.who], choosing([2]protocol.Choice{protocol.Even, protocol.Odd}[h.who])
	case h.Type == protocol.TypeGameOver:
		own = d.plan.over[h.who]
	}
	if own == nil {
		own = byTheBook
	}
	return own(d, h)
}

// count returns how many messages of a type somebody has heard. The lock is
// held.
func (d *duel) count(t protocol.Type, who int) int {
	n := 0
	for _, h := range d.heard {
		if h.Type == t && h.who == who {
			n++
		}
	}
	return n
}

// over reports whether everybody knows how the match ended. The lock is held.
func (d *duel) over() bool {
	return d.count(protocol.TypeGameOver, sideA) > 0 && d.count(protocol.TypeGameOver, sideB) > 0 && d.count(protocol.TypeMatchResultReport, atManager) > 0
}

// edit changes the members of the message in an answer.
func (s Said) edit(edit func(map[string]any)) Said {
	if edit == nil || len(s.Body) == 0 {
		return s
	}
	var tree any
	decode(s.Body, &tree)
	change(tree, edit)
	s.Body = encode(tree)
	return s
}

// with sets a member of an answer.
func with(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

// joining accepts an invitation.
func joining(edits ...func(map[string]any)) reaction {
	return func(d *duel, h *heard) Said {
		m := &protocol.GameJoinAck{PlayerID: playerIDs[h.who], ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true)}
		return d.answer(h, m, protocol.TypeGameJoinAck, edits)
	}
}

// choosing answers a call.
func choosing(c protocol.Choice, edits ...func(map[string]any)) reaction {
	return func(d *duel, h *heard) Said {
		m := &protocol.ChooseParityResponse{PlayerID: playerIDs[h.who], ParityChoice: c}
		return d.answer(h, m, protocol.TypeChooseParityResponse, edits)
	}
}

func (d *duel) answer(h *heard, m protocol.Message, t protocol.Type, edits []func(map[string]any)) Said {
	*m.Head() = protocol.Header{MessageType: t, Sender: protocol.Sender(protocol.RolePlayer, playerIDs[h.who]), AuthToken: d.keys[h.who].Expect, MatchID: d.id}
	said := inKind(h.Raw, m)
	for _, edit := range edits {
		said = said.edit(edit)
	}
	return said
}

// records takes a report down.
func records(_ *duel, h *heard) Said {
	m := &protocol.MatchResultAck{Status: protocol.StatusAccepted, Recorded: protocol.Some(true)}
	m.MessageType = protocol.TypeMatchResultAck
	return inKind(h.Raw, m)
}

// declines does not join.
func declines(d *duel, h *heard) Said { return joining(with("accept", false))(d, h) }

// turnsAway answers as somebody who has no time.
func turnsAway(_ *duel, h *heard) Said { return busy(h.Raw) }

// never answers not at all.
func never(*duel, *heard) Said { return Said{Delay: time.Hour} }

// firstly answers the first n messages in one way, and then in another.
func firstly(n int, before, after reaction) reaction {
	return func(d *duel, h *heard) Said {
		if h.n <= n {
			return before(d, h)
		}
		return after(d, h)
	}
}

// received says that a message has arrived, and no more.
func received(_ *duel, h *heard) Said {
	return Said{Status: http.StatusOK, Body: bytes.Join([][]byte{[]byte(`{"jsonrpc":"2.0","id":`), idOf(h.Raw), []byte(`,"result":{"status":"ACKNOWLEDGED"}}`)}, nil)}
}

func idOf(request []byte) []byte {
	if id := object(request)["id"]; id != nil {
		return id
	}
	return []byte(`"` + jsonrpc.RandomID() + `"`)
}
