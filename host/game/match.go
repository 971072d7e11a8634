// Package game holds the rules of the even_odd league: the choices and how a match is scored, the
// drawn number and its distribution, the round-robin schedule, the standings and their tie-breaks,
// and the random streams that everything else takes its randomness from.
//
// The package is pure. It reads no clock, does no I/O, keeps no state between calls and imports
// only the standard library, so that the live referee, the same agents over a loopback, and the
// batch arena are driven by one set of rules and agree to the byte.
package game

import (
	"fmt"
)

// Parity is what a player chooses and what a drawn number has.
type Parity uint8

// The zero Parity means that no choice was made, or that none is known.
const (
	NoParity Parity = iota
	Even
	Odd
)

// ParseParity reads the wire form of a choice, exactly "even" or "odd" in
// lower case, as league.v2 demands. Anything else is an error.
func ParseParity(s string) (Parity, error) {
	switch s {
	case "even":
		return Even, nil
	case "odd":
		return Odd, nil
	}
	return NoParity, fmt.Errorf("parity %q is neither \"even\" nor \"odd\" (lower case)", s)
}

// ParityOf returns the parity of a drawn number.
func ParityOf(number int) Parity {
	if number&1 == 0 {
		return Even
	}
	return Odd
}

// Opposite returns the other parity; of NoParity it is NoParity.
func (p Parity) Opposite() Parity {
	switch p {
	case Even:
		return Odd
	case Odd:
		return Even
	}
	return NoParity
}

// String returns "even", "odd" or "".
func (p Parity) String() string { return nameOf(p, "", "even", "odd") }

// nameOf returns the name of a value of an enumeration; empty beyond the last.
func nameOf[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return ""
}

// Role is the seat a player has in a match. The rules treat both alike; a role
// matters only because players know theirs and may agree on a convention.
type Role uint8

// The zero Role is unknown, as in a foreign league that does not say.
const (
	NoRole Role = iota
	RoleA
	RoleB
)

// String returns the wire form, "PLAYER_A", "PLAYER_B" or "".
func (r Role) String() string { return nameOf(r, "", "PLAYER_A", "PLAYER_B") }

// Points of one match, by league.v2: three for a win or for the opponent of a
// technical loss, one each for a draw, none otherwise.
const (
	WinPoints = 3
	TiePoints = 1
)

// Result is how a match ended for one of its players.
type Result uint8

// The zero Result is unknown. A TechnicalLoss counts as a loss in every table
// and as a technical loss besides.
const (
	NoResult Result = iota
	Win
	Tie
	Loss
	TechnicalLoss
)

// String returns "win", "draw", "loss", "technical_loss" or "".
func (r Result) String() string {
	return nameOf(r, "", "win", "draw", "loss", "technical_loss")
}

// Side is what one player brought to a match. A player with a Fault has lost
// by technical loss, whatever it chose; one without has made a Choice.
type Side struct {
	Choice Parity
	Fault  Fault
}

// Verdict is the outcome of a match. Results and points stand in the order player A, player B.
type Verdict struct {
	ResultA, ResultB Result
	PointsA, PointsB int
}

// Technical reports whether the match was decided by technical loss, in
// which case no number is drawn.
func (v Verdict) Technical() bool {
	return v.ResultA == TechnicalLoss || v.ResultB == TechnicalLoss
}

// Judge scores a match. The number is looked at only if neither side is at fault: exactly one right
// choice wins 3 to 0, both right or both wrong is a draw at 1 each. One side at fault gives the
// other a win; both at fault is a loss each with no points.
func Judge(a, b Side, number int) Verdict {
	switch {
	case a.Fault != NoFault && b.Fault != NoFault:
		return Verdict{ResultA: TechnicalLoss, ResultB: TechnicalLoss}
	case a.Fault != NoFault:
		return Verdict{ResultA: TechnicalLoss, ResultB: Win, PointsB: WinPoints}
	case b.Fault != NoFault:
		return Verdict{ResultA: Win, ResultB: TechnicalLoss, PointsA: WinPoints}
	case a.Choice == b.Choice:
		return Verdict{ResultA: Tie, ResultB: Tie, PointsA: TiePoints, PointsB: TiePoints}
	case a.Choice == ParityOf(number):
		return Verdict{ResultA: Win, ResultB: Loss, PointsA: WinPoints}
	default:
		return Verdict{ResultA: Loss, ResultB: Win, PointsB: WinPoints}
	}
}

// Fault says why a player lost a match by technical loss. The numbers are
// part of the record format: they are never reused or reordered.
type Fault uint8

// The kinds of fault. The first group is met wherever strategies run; the
// second only where players are reached over a wire.
const (
	NoFault          Fault = 0
	FaultError       Fault = 1 // the strategy's code failed
	FaultInvalid     Fault = 2 // it answered something that is no choice
	FaultTimeout     Fault = 3 // it overran its time
	FaultBudget      Fault = 4 // it overran its instruction or memory budget
	FaultCrash       Fault = 5 // the process it ran in died
	FaultForfeit     Fault = 6 // an earlier fault had cost it the rest of the league
	FaultQuarantined Fault = 7 // earlier leagues had cost it the rest of the run

	FaultNoJoin     Fault = 16 // did not answer the invitation
	FaultDeclined   Fault = 17 // refused the invitation
	FaultNoAnswer   Fault = 18 // did not answer the call for a choice
	FaultDisconnect Fault = 19 // the connection broke
	FaultConnect    Fault = 20 // could not be reached
)

var faultNames = map[Fault]string{
	NoFault: "none", FaultError: "error", FaultInvalid: "invalid-choice",
	FaultTimeout: "timeout", FaultBudget: "budget", FaultCrash: "crash",
	FaultForfeit: "forfeit", FaultQuarantined: "quarantined",
	FaultNoJoin: "no-join", FaultDeclined: "declined", FaultNoAnswer: "no-answer",
	FaultDisconnect: "disconnect", FaultConnect: "connect",
}

// String returns a short lower-case name such as "timeout".
func (f Fault) String() string {
	if s, ok := faultNames[f]; ok {
		return s
	}
	return fmt.Sprintf("fault-%d", uint8(f))
}

// Reproducible reports whether the same plan would meet the fault again on
// another machine. An overrun by the wall clock depends on how fast the
// machine is; a lost process or connection on what else happened to it.
func (f Fault) Reproducible() bool {
	switch f {
	case FaultTimeout, FaultCrash, FaultNoJoin, FaultNoAnswer, FaultDisconnect, FaultConnect:
		return false
	}
	return true
}
