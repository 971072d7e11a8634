package results

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
)

var errShort = errors.New("the record ends too soon")

// payload is a cursor over the bytes of one record.
type payload struct {
	b   []byte
	err error // the first failure; later reads return zero
}

func (p *payload) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.b = nil
}

func (p *payload) byte() byte {
	if len(p.b) == 0 {
		p.fail(errShort)
		return 0
	}
	v := p.b[0]
	p.b = p.b[1:]
	return v
}

func (p *payload) uvarint(most uint64) int {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail(errShort)
		return 0
	}
	if v > most {
		p.fail(fmt.Errorf("number %d where at most %d can stand", v, most))
		return 0
	}
	p.b = p.b[n:]
	return int(v)
}

func (p *payload) take(n int) []byte {
	if n > len(p.b) {
		p.fail(errShort)
		return nil
	}
	v := p.b[:n]
	p.b = p.b[n:]
	return v
}

// decode reads a payload into l, whose memory is reused.
func (c *codec) decode(b []byte, l *League) error {
	p := &payload{b: b}
	l.Index = p.uvarint(MaxRuns - 1)
	l.Seats = l.Seats[:0]
	for seats := p.take(c.players * c.seatLen); len(seats) > 0; seats = seats[c.seatLen:] {
		if c.seatLen == 1 {
			l.Seats = append(l.Seats, int(seats[0]))
		} else {
			l.Seats = append(l.Seats, int(binary.LittleEndian.Uint16(seats)))
		}
	}
	if p.err != nil {
		return p.err
	}
	if err := checkSeats(l.Seats, c.players); err != nil {
		return err
	}
	c.decodeMatches(p, l)
	c.decodeNotes(p, l)
	if p.err == nil && len(p.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(p.b))
	}
	return p.err
}

func (c *codec) decodeMatches(p *payload, l *League) {
	if cap(l.Matches) < c.matches {
		l.Matches = make([]Match, c.matches)
	}
	l.Matches = l.Matches[:c.matches]
	b := p.b
	for i := range l.Matches {
		if len(b) > 0 && int(b[0]) < len(c.plain) {
			l.Matches[i], b = c.plain[b[0]], b[1:]
			continue
		}
		p.b = b
		l.Matches[i] = c.decodeRare(p)
		if p.err != nil {
			p.err = fmt.Errorf("match %d: %w", i, p.err)
			return
		}
		b = p.b
	}
	p.b = b
}

// decodeRare reads a match that is longer than a byte.
func (c *codec) decodeRare(p *payload) Match {
	code := p.byte()
	if p.err != nil {
		return Match{}
	}
	if code == escape {
		a, b := p.byte(), p.byte()
		m := Match{
			A:      game.Side{Choice: game.Parity(a & 3), Fault: game.Fault(a >> 2)},
			B:      game.Side{Choice: game.Parity(b & 3), Fault: game.Fault(b >> 2)},
			Number: NoNumber,
		}
		if err := checkMatch(m); err != nil {
			p.fail(err)
		}
		return m
	}
	if c.plain != nil || code > 3 {
		p.fail(fmt.Errorf("unknown code %d", code))
		return Match{}
	}
	i := int(p.byte())
	if i >= c.size {
		p.fail(fmt.Errorf("number %d of %d", i, c.size))
		return Match{}
	}
	return c.decided(int(code), c.draw.Number(i))
}

func (c *codec) decodeNotes(p *payload, l *League) {
	l.Notes = l.Notes[:0]
	for range p.uvarint(uint64(c.notes)) {
		var n Note
		n.Field = p.uvarint(uint64(c.players - 1))
		n.Fault = game.Fault(p.byte())
		n.Text = string(p.take(p.uvarint(MaxNoteText)))
		if n.Fault > maxFault {
			p.fail(fmt.Errorf("a note on fault %d", n.Fault))
		}
		if p.err != nil {
			return
		}
		l.Notes = append(l.Notes, n)
	}
}
