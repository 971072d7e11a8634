package wire_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
)

// requests are messages that lanes carry, the frequent ones first.
func requests() []*strategypb.PlayRequest {
	step := func(change func(*strategypb.Step)) *strategypb.PlayRequest {
		s := &strategypb.Step{
			Id: 300, Group: 1, Strategy: 2, BudgetUs: 5,
			Observe: &strategypb.Outcomes{Seat: []int64{3, -1, 400}, How: []byte{0x9a, 2, 1}, Number: []int64{-7}},
			Choose: &strategypb.Turns{
				Seat: []int64{1 << 40}, Match: []uint64{1 << 60}, Round: []uint32{7}, Pair: []uint32{0}, Opponent: []uint32{1 << 31}, Role: []byte{1},
			},
		}
		change(s)
		return &strategypb.PlayRequest{Steps: []*strategypb.Step{s}}
	}
	return []*strategypb.PlayRequest{
		step(func(*strategypb.Step) {}),
		step(func(s *strategypb.Step) { s.Id, s.Choose, s.Observe = 0, nil, &strategypb.Outcomes{} }),
		step(func(s *strategypb.Step) { s.Observe.How = make([]byte, 1000) }),
		step(func(s *strategypb.Step) { s.Observe.Points = []int64{1} }),
		step(func(s *strategypb.Step) { s.Observe.Of = &strategypb.Turns{Match: []uint64{4}} }),
		step(func(s *strategypb.Step) { s.Choose.Names = []string{"R1M1"} }),
		step(func(s *strategypb.Step) { s.Choose.Standings = []*strategypb.Standing{{Played: 4}} }),
		step(func(s *strategypb.Step) { s.Rosters = []*strategypb.Roster{{Players: []string{"P01"}}} }),
		step(func(s *strategypb.Step) { s.Open = []*strategypb.Open{{Id: "P01", Key0: 4}} }),
		step(func(s *strategypb.Step) { s.Close = []int64{0} }),
		step(func(s *strategypb.Step) { s.End = true }),
		{Steps: []*strategypb.Step{{Id: 1}}, Cancel: []uint64{4}},
		{Steps: []*strategypb.Step{{Id: 1}, {Id: 2, Choose: &strategypb.Turns{Seat: []int64{1}}}}},
		{},
	}
}

func replies() []*strategypb.PlayReply {
	reply := func(s *strategypb.StepReply) *strategypb.PlayReply {
		return &strategypb.PlayReply{Steps: []*strategypb.StepReply{s}}
	}
	return []*strategypb.PlayReply{
		reply(&strategypb.StepReply{Id: 7, Choices: []byte{0, 1, 3}}),
		reply(&strategypb.StepReply{}),
		{Steps: []*strategypb.StepReply{{Id: 7, Choices: make([]byte, 300)}}, CpuUs: 1 << 50},
		reply(&strategypb.StepReply{Choices: []byte{2}, Probability: []float64{0.5}}),
		reply(&strategypb.StepReply{Failed: []*strategypb.Failure{{Text: "boom"}}}),
		reply(&strategypb.StepReply{Log: []*strategypb.LogLine{{Text: "hello"}}}),
		reply(&strategypb.StepReply{Lost: "gone"}),
		{Steps: []*strategypb.StepReply{{Id: 1}, {Id: 2, Choices: []byte{1}}}},
		{Progress: []*strategypb.Progress{{Id: 1, Calls: 2}}},
		{},
	}
}

// TestFramesAreMessages sends all sorts of messages over one lane, so that each finds
// the memory of the ones before, and compares them with package proto.
func TestFramesAreMessages(t *testing.T) {
	t.Parallel()
	var there, back bytes.Buffer
	sender, receiver := wire.NewFrames(&there), wire.NewFrames(&there)
	answerer, asker := wire.NewFrames(&back), wire.NewFrames(&back)
	var request strategypb.PlayRequest
	var reply strategypb.PlayReply
	for range 2 {
		for i, want := range requests() {
			carry(t, i, sender, receiver, &there, want, new(strategypb.PlayRequest), &request)
		}
		for i, want := range replies() {
			carry(t, i, answerer, asker, &back, want, new(strategypb.PlayReply), &reply)
		}
	}
}

// carry sends want and receives it into got; package proto reads it into parsed.
func carry(t *testing.T, i int, from, to *wire.Frames, lane *bytes.Buffer, want, parsed, got proto.Message) {
	t.Helper()
	if err := from.Send(want); err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(lane.Bytes()[4:], parsed); err != nil || !proto.Equal(parsed, want) {
		t.Errorf("message %d is written as %v (error %v), want %v", i, parsed, err, want)
	}
	if err := to.Receive(got); err != nil || !proto.Equal(got, want) {
		t.Errorf("message %d is read as %v (error %v), want %v", i, got, err, want)
	}
}

// FuzzMessages reads anything at all as package proto does.
func FuzzMessages(f *testing.F) {
	for _, m := range requests() {
		b, _ := proto.Marshal(m)
		f.Add(b)
	}
	for _, m := range replies() {
		b, _ := proto.Marshal(m)
		f.Add(b)
	}
	first, _ := proto.Marshal(requests()[0])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []proto.Message{&strategypb.PlayRequest{}, &strategypb.PlayReply{}} {
			var lane bytes.Buffer
			frames := wire.NewFrames(&lane)
			got, want := proto.Clone(kind), proto.Clone(kind)
			for _, b := range [][]byte{first, data} {
				lane.Reset()
				lane.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
				lane.Write(b)
				err := frames.Receive(got)
				known := proto.Unmarshal(b, want)
				if (err == nil) != (known == nil) {
					t.Fatalf("%x: error %v, package proto says %v", b, err, known)
				}
				if err == nil && !proto.Equal(got, want) {
					t.Fatalf("%x: read as %v, package proto reads %v", b, got, want)
				}
			}
		}
	})
}
