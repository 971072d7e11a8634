package wire

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
)

// A step in the middle of a league has few fields, and an experiment has a hundred
// thousand of them. They are written and read here, in the format of strategy.proto,
// without memory allocation and with a fraction of the code that has to be in the
// processor's caches for messages in general. Whatever else a message has is left to
// package proto: then append and read return false.

// appendRequest appends a request with one step.
func appendRequest(b []byte, m *pb.PlayRequest) ([]byte, bool) {
	if len(m.Steps) != 1 || len(m.Cancel) > 0 {
		return b, false
	}
	s := m.Steps[0]
	if len(s.Rosters)+len(s.Open)+len(s.Close) > 0 || s.End {
		return b, false
	}
	b, step := begin(b, 1)
	b = appendNumber(b, 1, s.Id)
	b = appendNumber(b, 2, s.Group)
	b = appendNumber(b, 3, uint64(s.Strategy))
	b = appendNumber(b, 4, s.BudgetUs)
	if o := s.Observe; o != nil {
		if len(o.Points) > 0 || o.Of != nil {
			return b, false
		}
		var at int
		b, at = begin(b, 7)
		b = appendSigned(b, 1, o.Seat)
		b = appendBytes(b, 2, o.How)
		b = appendSigned(b, 3, o.Number)
		b = end(b, at)
	}
	if c := s.Choose; c != nil {
		if len(c.Names)+len(c.Standings) > 0 {
			return b, false
		}
		var at int
		b, at = begin(b, 8)
		b = appendSigned(b, 1, c.Seat)
		b = appendNumbers(b, 2, c.Match)
		b = appendNumbers(b, 3, c.Round)
		b = appendNumbers(b, 4, c.Pair)
		b = appendNumbers(b, 5, c.Opponent)
		b = appendBytes(b, 6, c.Role)
		b = end(b, at)
	}
	return end(b, step), true
}

// appendReply appends the answer to one step.
func appendReply(b []byte, m *pb.PlayReply) ([]byte, bool) {
	if len(m.Steps) != 1 || len(m.Progress) > 0 {
		return b, false
	}
	s := m.Steps[0]
	if len(s.Probability)+len(s.Failed)+len(s.Log)+len(s.Lost) > 0 {
		return b, false
	}
	b, at := begin(b, 1)
	b = appendNumber(b, 1, s.Id)
	b = appendBytes(b, 2, s.Choices)
	b = end(b, at)
	return appendNumber(b, 3, m.CpuUs), true
}

// begin starts a field whose length end fills in.
func begin(b []byte, field protowire.Number) (_ []byte, at int) {
	b = append(protowire.AppendTag(b, field, protowire.BytesType), 0)
	return b, len(b)
}

func end(b []byte, at int) []byte {
	n := len(b) - at
	if n < 0x80 {
		b[at-1] = byte(n)
		return b
	}
	var size [binary.MaxVarintLen64]byte
	return slices.Replace(b, at-1, at, protowire.AppendVarint(size[:0], uint64(n))...)
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendNumbers[T uint32 | uint64](b []byte, field protowire.Number, column []T) []byte {
	if len(column) == 0 {
		return b
	}
	b, at := begin(b, field)
	for _, v := range column {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return end(b, at)
}

func appendSigned(b []byte, field protowire.Number, column []int64) []byte {
	if len(column) == 0 {
		return b
	}
	b, at := begin(b, field)
	for _, v := range column {
		b = protowire.AppendVarint(b, protowire.EncodeZigZag(v))
	}
	return end(b, at)
}

// hot is the memory of requests that were read.
type hot struct {
	step    pb.Step
	observe pb.Outcomes
	choose  pb.Turns
}

// Keys of fields: number and type.
const (
	number = uint64(protowire.VarintType)
	list   = uint64(protowire.BytesType)
	key    = 3 // bits of the type
)

// readRequest reads a request with one step into m, which shares the memory of h.
func (h *hot) readRequest(b []byte, m *pb.PlayRequest) bool {
	f := fields{rest: b}
	if !f.next() || f.key != 1<<key|list || len(f.rest) > 0 {
		return false
	}
	s := &h.step
	s.Id, s.Group, s.Strategy, s.BudgetUs, s.Observe, s.Choose = 0, 0, 0, 0, nil, nil
	f = fields{rest: f.bytes}
	for f.next() {
		switch {
		case f.key == 1<<key|number:
			s.Id = f.value
		case f.key == 2<<key|number:
			s.Group = f.value
		case f.key == 3<<key|number:
			s.Strategy = uint32(f.value)
		case f.key == 4<<key|number:
			s.BudgetUs = f.value
		case f.key == 7<<key|list && s.Observe == nil:
			s.Observe = &h.observe
			f.bad = !readOutcomes(f.bytes, s.Observe)
		case f.key == 8<<key|list && s.Choose == nil:
			s.Choose = &h.choose
			f.bad = !readTurns(f.bytes, s.Choose)
		default:
			return false
		}
	}
	m.Steps, m.Cancel = append(m.Steps[:0], s), nil
	return !f.bad
}

func readOutcomes(b []byte, o *pb.Outcomes) bool {
	o.Seat, o.How, o.Number = o.Seat[:0], o.How[:0], o.Number[:0]
	f := fields{rest: b}
	for f.next() {
		switch f.key {
		case 1<<key | list:
			o.Seat = readSigned(&f, o.Seat)
		case 2<<key | list:
			o.How = append(o.How[:0], f.bytes...)
		case 3<<key | list:
			o.Number = readSigned(&f, o.Number)
		default:
			return false
		}
	}
	return !f.bad
}

func readTurns(b []byte, t *pb.Turns) bool {
	t.Seat, t.Match, t.Round = t.Seat[:0], t.Match[:0], t.Round[:0]
	t.Pair, t.Opponent, t.Role = t.Pair[:0], t.Opponent[:0], t.Role[:0]
	f := fields{rest: b}
	for f.next() {
		switch f.key {
		case 1<<key | list:
			t.Seat = readSigned(&f, t.Seat)
		case 2<<key | list:
			t.Match = readNumbers(&f, t.Match)
		case 3<<key | list:
			t.Round = readNumbers(&f, t.Round)
		case 4<<key | list:
			t.Pair = readNumbers(&f, t.Pair)
		case 5<<key | list:
			t.Opponent = readNumbers(&f, t.Opponent)
		case 6<<key | list:
			t.Role = append(t.Role[:0], f.bytes...)
		default:
			return false
		}
	}
	return !f.bad
}

// readReply reads the answer to one step into m. The answer has memory of its own,
// because the lane is free for others before it is used.
func readReply(b []byte, m *pb.PlayReply) bool {
	m.CpuUs, m.Steps, m.Progress = 0, m.Steps[:0], nil
	s := new(pb.StepReply)
	outer := fields{rest: b}
	for outer.next() {
		switch {
		case outer.key == 3<<key|number:
			m.CpuUs = outer.value
			continue
		case outer.key != 1<<key|list || len(m.Steps) > 0:
			return false
		}
		m.Steps = append(m.Steps, s)
		f := fields{rest: outer.bytes}
		for f.next() {
			switch f.key {
			case 1<<key | number:
				s.Id = f.value
			case 2<<key | list:
				s.Choices = append(s.Choices[:0], f.bytes...)
			default:
				return false
			}
		}
		outer.bad = f.bad
	}
	return !outer.bad
}

// fields takes a message apart.
type fields struct {
	rest  []byte
	key   uint64
	value uint64 // of a number
	bytes []byte // of a list
	bad   bool   // the rest cannot be read here
}

// next returns false at the end.
func (f *fields) next() bool {
	if f.bad || len(f.rest) == 0 {
		return false
	}
	f.key = f.varint()
	switch f.key & (1<<key - 1) {
	case number:
		f.value = f.varint()
	case list:
		n := f.varint()
		if n > uint64(len(f.rest)) {
			f.bad = true
			return false
		}
		f.bytes, f.rest = f.rest[:n], f.rest[n:]
	default:
		f.bad = true
	}
	return !f.bad
}

func (f *fields) varint() uint64 {
	if len(f.rest) > 0 && f.rest[0] < 0x80 {
		v := f.rest[0]
		f.rest = f.rest[1:]
		return uint64(v)
	}
	v, n := protowire.ConsumeVarint(f.rest)
	if n < 0 {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

// readNumbers appends the numbers of a column.
func readNumbers[T uint32 | uint64](f *fields, column []T) []T {
	list := fields{rest: f.bytes}
	for len(list.rest) > 0 {
		column = append(column, T(list.varint()))
	}
	f.bad = f.bad || list.bad
	return column
}

func readSigned(f *fields, column []int64) []int64 {
	list := fields{rest: f.bytes}
	for len(list.rest) > 0 {
		column = append(column, protowire.DecodeZigZag(list.varint()))
	}
	f.bad = f.bad || list.bad
	return column
}
