// Package wire translates between strategies.Step and the columns of the plugin
// protocol, for both ends.
//
// Both ends remember the same few facts about every open seat: its players, the
// match it was last asked about, and its standing. So most entries of a step
// take a few bytes. Neither end trusts the other: invalid input is an error and
// ends the group.
package wire

import (
	"errors"
	"fmt"
	"math"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// MostMessage bounds one message between host and plugin, in bytes.
const MostMessage = 16 << 20

// ErrProtocol is wrapped by all errors about invalid input from the other end.
var ErrProtocol = errors.New("protocol violation")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

// memory is what both ends remember about one seat.
type memory struct {
	roster *roster
	turn   strategies.Turn // with the standing after the outcomes since
}

// seats is what one end remembers about the open seats of a group.
type seats map[strategies.SeatID]*memory

// get returns the seat of a number from the other end, or from the user of this one.
func (s seats) get(number int64) (strategies.SeatID, *memory, error) {
	if number >= 0 && number <= math.MaxUint32 {
		if m := s[strategies.SeatID(number)]; m != nil {
			return strategies.SeatID(number), m, nil
		}
	}
	return 0, nil, broken("seat %d is not open", number)
}

// roster is the players of a league; seats share it.
type roster struct {
	players []string
	index   map[string]uint32 // from 1
}

func newRoster(players []string) *roster {
	r := &roster{players: players, index: make(map[string]uint32, len(players))}
	for i, p := range players {
		if r.index[p] == 0 {
			r.index[p] = uint32(i + 1)
		}
	}
	return r
}

// The bits of Outcomes.how.
const (
	parityMask  = 3
	theirsShift = 2
	resultShift = 4
	resultMask  = 7
	drewBit     = 0x80
)

// The bytes of StepReply.choices.
const (
	answerOdd = iota
	answerEven
	answerProbability
	answerFailed
)

// scored returns the points of a result in league.v2.
func scored(r game.Result) int {
	switch r {
	case game.Win:
		return game.WinPoints
	case game.Tie:
		return game.TiePoints
	}
	return 0
}
