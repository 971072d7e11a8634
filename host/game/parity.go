package game

import "fmt"

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
func (p Parity) String() string {
	switch p {
	case Even:
		return "even"
	case Odd:
		return "odd"
	}
	return ""
}

// Role is the seat a player has in a match. The rules treat both alike; a role
// matters only because players are told theirs and may agree on a convention.
type Role uint8

// The zero Role is unknown, as in a foreign league that does not say.
const (
	NoRole Role = iota
	RoleA
	RoleB
)

// String returns the wire form, "PLAYER_A", "PLAYER_B" or "".
func (r Role) String() string {
	switch r {
	case RoleA:
		return "PLAYER_A"
	case RoleB:
		return "PLAYER_B"
	}
	return ""
}
