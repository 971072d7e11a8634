package results

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
)

// MaxNoteText is the longest Note.Text, in bytes.
const MaxNoteText = 1024

// Codes of a match in a record; see FORMAT.md.
const (
	narrowDraw = 63  // numbers that fit beside two choices in one byte
	escape     = 255 // the match is spelled out
	maxFault   = 63  // six bits of a side
)

// codec converts leagues to payloads and back. It is immutable.
type codec struct {
	players int
	matches int
	draw    game.Draw
	size    int // numbers that can be drawn
	first   int // smallest of them
	solid   bool
	seatLen int       // bytes of a field index
	plain   []Match   // by code, for one-byte matches
	notes   int       // maximum in a record
	limits  [2]uint64 // shortest and longest payload
}

func newCodec(h Header) (*codec, error) {
	sched, err := game.NewSchedule(h.Players, h.Legs)
	if err != nil {
		return nil, err
	}
	c := &codec{
		players: h.Players, matches: len(sched.Matches()), draw: h.Draw,
		size: h.Draw.Size(), first: h.Draw.Number(0), seatLen: 1,
		notes: h.Players * (maxFault + 1),
	}
	if c.players > 256 {
		c.seatLen = 2
	}
	c.solid = h.Draw.Number(c.size-1)-c.first == c.size-1
	if c.size <= narrowDraw {
		for code := range 4 * c.size {
			c.plain = append(c.plain, c.decided(code, c.draw.Number(code>>2)))
		}
	}
	seats := uint64(c.players * c.seatLen)
	const note, cost = 3*binary.MaxVarintLen16 + MaxNoteText, binary.MaxVarintLen16 + binary.MaxVarintLen64
	c.limits = [2]uint64{
		1 + seats + uint64(c.matches) + 1,
		binary.MaxVarintLen64 + seats + uint64(c.matches)*(3+binary.MaxVarintLen16) +
			binary.MaxVarintLen32 + uint64(c.notes)*note + uint64(c.players+1)*cost,
	}
	return c, nil
}

// decided returns the match without faults whose choices are the low two bits of code.
func (c *codec) decided(code, number int) Match {
	return Match{
		A:      game.Side{Choice: game.Parity(code>>1&1) + game.Even},
		B:      game.Side{Choice: game.Parity(code&1) + game.Even},
		Number: int32(number),
	}
}

// index is the inverse of draw.Number.
func (c *codec) index(number int32) (int, bool) {
	if c.solid {
		i := int(number) - c.first
		return i, i >= 0 && i < c.size
	}
	return c.draw.Index(int(number))
}

// checkMatch enforces that a side without a fault has a choice, and that a number
// is drawn exactly if neither side has a fault.
func checkMatch(m Match) error {
	clean := m.A.Fault == game.NoFault && m.B.Fault == game.NoFault
	switch {
	case m.A.Choice > game.Odd || m.B.Choice > game.Odd:
		return errors.New("invalid choice")
	case m.A.Fault > maxFault || m.B.Fault > maxFault:
		return fmt.Errorf("fault above %d", maxFault)
	case m.A.Fault == game.NoFault && m.A.Choice == game.NoParity,
		m.B.Fault == game.NoFault && m.B.Choice == game.NoParity:
		return errors.New("neither a choice nor a fault")
	case clean && m.Number == NoNumber:
		return errors.New("no drawn number without a fault")
	case !clean && m.Number != NoNumber:
		return errors.New("a drawn number despite a fault")
	}
	return nil
}

// append adds the payload for l to buf.
func (c *codec) append(buf []byte, l *League) ([]byte, error) {
	if l.Index < 0 || l.Index >= MaxRuns {
		return nil, fmt.Errorf("league %d is not in [0, %d)", l.Index, MaxRuns)
	}
	if len(l.Matches) != c.matches {
		return nil, fmt.Errorf("league %d has %d matches, want %d", l.Index, len(l.Matches), c.matches)
	}
	if err := checkSeats(l.Seats, c.players); err != nil {
		return nil, fmt.Errorf("league %d: %w", l.Index, err)
	}
	buf = binary.AppendUvarint(buf, uint64(l.Index))
	for _, field := range l.Seats {
		if c.seatLen == 1 {
			buf = append(buf, byte(field))
		} else {
			buf = binary.LittleEndian.AppendUint16(buf, uint16(field))
		}
	}
	for i := range l.Matches {
		m := &l.Matches[i]
		if code := c.code(m); code < len(c.plain) {
			buf = append(buf, byte(code))
			continue
		}
		var err error
		if buf, err = c.appendMatch(buf, *m); err != nil {
			return nil, fmt.Errorf("league %d, match %d: %w", l.Index, i, err)
		}
	}
	return c.appendNotes(buf, l)
}

// code returns the index of a match in plain. It has one if it is without faults and its number one
// of a draw without gaps, as nearly every match; others get codes, the number of all.
func (c *codec) code(m *Match) int {
	const codes = 256
	a, b, number := int(m.A.Choice)-int(game.Even), int(m.B.Choice)-int(game.Even), int(m.Number)-c.first
	if !c.solid || m.A.Fault|m.B.Fault != game.NoFault || uint(a)|uint(b) > 1 || uint(number) >= uint(c.size) {
		return codes
	}
	return number<<2 | a<<1 | b
}

func (c *codec) appendMatch(buf []byte, m Match) ([]byte, error) {
	if err := checkMatch(m); err != nil {
		return nil, err
	}
	if m.Number == NoNumber {
		return append(buf, escape,
			byte(m.A.Fault)<<2|byte(m.A.Choice), byte(m.B.Fault)<<2|byte(m.B.Choice)), nil
	}
	i, ok := c.index(m.Number)
	if !ok {
		return nil, fmt.Errorf("number %d cannot come from draw %s", m.Number, c.draw)
	}
	choices := byte(m.A.Choice-game.Even)<<1 | byte(m.B.Choice-game.Even)
	if c.plain != nil {
		return append(buf, byte(i)<<2|choices), nil
	}
	return append(buf, choices, byte(i)), nil
}

func (c *codec) appendNotes(buf []byte, l *League) ([]byte, error) {
	if len(l.Notes) > c.notes {
		return nil, fmt.Errorf("league %d has %d notes, want at most %d", l.Index, len(l.Notes), c.notes)
	}
	buf = binary.AppendUvarint(buf, uint64(len(l.Notes)))
	for _, n := range l.Notes {
		if n.Field < 0 || n.Field >= c.players || n.Fault > maxFault || len(n.Text) > MaxNoteText {
			return nil, fmt.Errorf("league %d: invalid note on player %d, fault %d, %d bytes",
				l.Index, n.Field, n.Fault, len(n.Text))
		}
		buf = binary.AppendUvarint(buf, uint64(n.Field))
		buf = append(buf, byte(n.Fault))
		buf = binary.AppendUvarint(buf, uint64(len(n.Text)))
		buf = append(buf, n.Text...)
	}
	return c.appendCosts(buf, l)
}

// appendCosts adds nothing if there are none.
func (c *codec) appendCosts(buf []byte, l *League) ([]byte, error) {
	if len(l.Costs) == 0 {
		return buf, nil
	}
	buf = binary.AppendUvarint(buf, uint64(len(l.Costs)))
	last := -1
	for _, x := range l.Costs {
		if x.Field <= last || x.Field >= c.players || x.Share <= FullShare || x.Share > MaxShare {
			return nil, fmt.Errorf("league %d: invalid cost of player %d, share %d", l.Index, x.Field, x.Share)
		}
		last = x.Field
		share := uint64(x.Share) << 1
		if x.Exact {
			share |= 1
		}
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(x.Field)), share)
	}
	return buf, nil
}

// checkSeats reports whether seats is a permutation of 0..players-1.
func checkSeats(seats []int, players int) error {
	if len(seats) != players {
		return fmt.Errorf("%d seats, want %d", len(seats), players)
	}
	var taken [(game.MaxPlayers + 63) / 64]uint64
	for s, field := range seats {
		if field < 0 || field >= players {
			return fmt.Errorf("seat %d holds player %d of %d", s, field, players)
		}
		if taken[field/64]&(1<<(field%64)) != 0 {
			return fmt.Errorf("player %d has two seats", field)
		}
		taken[field/64] |= 1 << (field % 64)
	}
	return nil
}

var errShort = errors.New("record too short")

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
		p.fail(fmt.Errorf("number %d, want at most %d", v, most))
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
	c.decodeCosts(p, l)
	if p.err == nil && len(p.b) > 0 {
		return fmt.Errorf("%d extra bytes", len(p.b))
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

// decodeRare reads a match of several bytes.
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
			p.fail(fmt.Errorf("note on unknown fault %d", n.Fault))
		}
		if p.err != nil {
			return
		}
		l.Notes = append(l.Notes, n)
	}
}

func (c *codec) decodeCosts(p *payload, l *League) {
	l.Costs = l.Costs[:0]
	if p.err != nil || len(p.b) == 0 {
		return
	}
	last := -1
	n := p.uvarint(uint64(c.players))
	if n == 0 {
		p.fail(errors.New("a list of costs without costs"))
	}
	for range n {
		field, share := p.uvarint(uint64(c.players-1)), p.uvarint(MaxShare<<1|1)
		x := Cost{Field: field, Share: int64(share >> 1), Exact: share&1 != 0}
		if p.err == nil && (field <= last || x.Share <= FullShare) {
			p.fail(fmt.Errorf("cost of player %d, share %d", field, x.Share))
		}
		if p.err != nil {
			return
		}
		last = field
		l.Costs = append(l.Costs, x)
	}
}
