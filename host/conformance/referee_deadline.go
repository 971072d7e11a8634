package conformance

import (
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// beforeDeadline is how long before its deadline a player answers that uses all
// its time, and nearly: a message takes some time on its way.
const beforeDeadline = 250 * time.Millisecond

// deadlineChecks are about answers at the end of the time that a player has.
func deadlineChecks() []Check {
	return []Check{
		duelCheck("call.whole", Should, "A player has all the time that the deadline of the call states: a choice that comes just before it counts (CHOOSE_PARITY_CALL).",
			"Wait for the answer until the deadline that was stated, rounded as it was stated, and not less.", usesItsTime),
		duelCheck("reply.late", Should, "An answer that comes when its time is over does not count: what counts is the answer to the next attempt (league.v2, timeouts).",
			"Drop the connection at the deadline, or what comes over it, and let no late answer touch the match, nor the next.", answersTooLate),
	}
}

// inTime answers a call just before its deadline; at once where that is later
// than anybody wants to wait, or over.
func inTime(d *duel, h *heard) Said {
	if left, ok := h.left(); ok && left <= d.side.c.opts.Timeout {
		d.side.until(left-beforeDeadline, func() bool { return d.count(protocol.TypeGameOver, sideB) > 0 })
	}
	return choosing(protocol.Even)(d, h)
}

// left is how much time a call gives, counted from when it came. Clocks may
// differ, so that the deadline is also compared with the call's own timestamp.
func (h *heard) left() (time.Duration, bool) {
	deadline, err := protocol.ParseTimestamp(h.message.text("deadline"))
	if err != nil {
		return 0, false
	}
	left := deadline.Sub(h.At)
	if stamp, err := protocol.ParseTimestamp(h.message.text("timestamp")); err == nil {
		left = min(left, deadline.Sub(stamp))
	}
	return left, left > 0
}

// usesItsTime tries more than once: on a machine that has much else to do an
// answer may be late that was sent in time.
func usesItsTime(p refereeT) {
	const tries = 3
	for try, d := 1, p.stage("whole"); ; try++ {
		p.ends(d)
		h := p.one(d, protocol.TypeChooseParityCall, sideA)
		left, ok := h.left()
		switch {
		case !ok:
			p.Skip("the call states no deadline, or one that is over when it comes: %s", orMissing(h.message["deadline"]))
		case left > p.counter.opts.Timeout:
			p.Skip("the call leaves %v: set a short deadline on the referee, or give a longer --timeout", left.Round(time.Second))
		}
		if o := p.one(d, protocol.TypeGameOver, sideB).told(); o.choices[playerIDs[sideA]] != "" && len(p.all(d, protocol.TypeChooseParityCall, sideA)) == 1 {
			p.Note("answered %v after the call, of %v", h.answered.Sub(h.At).Round(time.Millisecond), left.Round(time.Millisecond))
			return
		}
		if try == tries {
			p.Fail("player %s answered %v before the deadline that it was told, and that did not count: %s", playerIDs[sideA], beforeDeadline, p.tally(d))
		}
		d = p.begin(scenes()["whole"])
	}
}

// tooLate answers the first call with another choice than the next, when it is
// over: the referee has gone on. Where that takes longer than anybody wants to
// wait, it is answered in time.
func tooLate(d *duel, h *heard) Said {
	if h.n > 1 {
		// The late answer is on its way before this one.
		d.side.until(d.side.c.opts.Timeout, func() bool { return d.answered(protocol.TypeChooseParityCall, sideA) })
		return choosing(protocol.Even)(d, h)
	}
	if !d.side.until(d.side.patience(), func() bool { d.late = d.goneOn(); return d.late }) {
		return choosing(protocol.Even)(d, h)
	}
	return choosing(protocol.Odd)(d, h)
}

// answered reports whether a message of a type was answered. The lock is held.
func (d *duel) answered(t protocol.Type, who int) bool {
	for _, h := range d.heard {
		if h.Type == t && h.who == who && !h.answered.IsZero() {
			return true
		}
	}
	return false
}

// goneOn reports whether the referee waits for the first answer of the first
// player no longer. The lock is held.
func (d *duel) goneOn() bool {
	return d.count(protocol.TypeChooseParityCall, sideA) > 1 || d.count(protocol.TypeGameOver, sideB) > 0
}

func answersTooLate(p refereeT) {
	d := p.stage("late")
	p.begunWithin(func() bool { return d.answered(protocol.TypeChooseParityCall, sideA) })
	p.mu.Lock()
	late := d.late
	p.mu.Unlock()
	if !late {
		p.tooLong()
	}
	p.ends(d)
	called := p.all(d, protocol.TypeChooseParityCall, sideA)
	o := p.one(d, protocol.TypeGameOver, sideB).told()
	if o.choices[playerIDs[sideA]] == string(protocol.Odd) {
		p.show(called[0])
		p.Fail("the choice odd of player %s came when the time of its call was over, and counts", playerIDs[sideA])
	}
	if len(called) > 1 && o.choices[playerIDs[sideA]] == "" {
		p.show(called[1])
		p.Fail("the answer to the second call came in time, and does not count: status is %q", o.status)
	}
	next := p.played(plan{})
	if o := p.one(next, protocol.TypeGameOver, sideB).told(); o.choices[playerIDs[sideA]] != string(protocol.Even) {
		p.Fail("in the match that followed, player %s chose even; GAME_OVER has %v", playerIDs[sideA], o.choices)
	}
}
