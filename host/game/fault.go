package game

import "fmt"

// Fault says why a player lost a match on technical grounds. The numbers are
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

// ParseFault is the inverse of Fault.String.
func ParseFault(s string) (Fault, error) {
	for f, name := range faultNames {
		if name == s {
			return f, nil
		}
	}
	return NoFault, fmt.Errorf("unknown fault %q", s)
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
