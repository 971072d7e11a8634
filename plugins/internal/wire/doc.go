// Package wire translates between steps, as package strategies knows them, and
// the columns of the plugin protocol, for both ends of it.
//
// Both ends remember the same little of every open seat: who its players are,
// which match it was last asked about, and what its record is. That is what
// lets most entries of a step go in a few bytes. Neither end trusts the other:
// whatever does not fit is an error, and the group is given up.
package wire

import (
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// ErrProtocol is wrapped by everything that is wrong with what the other end
// has sent.
var ErrProtocol = errors.New("breaks the protocol")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

// memory is what both ends remember of one seat.
type memory struct {
	roster   *roster
	turn     match
	standing strategies.Standing
}

// match says which match an entry speaks of.
type match struct {
	match    uint64
	id       string
	round    int
	opponent string
	role     game.Role
}

// roster is the players of a league; rosters are shared among seats.
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

// scored is how many points a result is worth in league.v2.
func scored(r game.Result) int {
	switch r {
	case game.Win:
		return game.WinPoints
	case game.Tie:
		return game.TiePoints
	}
	return 0
}
