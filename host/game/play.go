package game

import (
	"fmt"
	"time"
)

// Phase is how far a live match has come, in the words of league.v2.
type Phase uint8

// The phases of a match, in the order they are gone through.
const (
	WaitingForPlayers Phase = iota
	CollectingChoices
	DrawingNumber
	Finished
)

// String returns the name on the wire, such as "COLLECTING_CHOICES".
func (p Phase) String() string {
	return nameOf(p, "WAITING_FOR_PLAYERS", "COLLECTING_CHOICES", "DRAWING_NUMBER", "FINISHED")
}

// Play is one live match: what has been heard from its players, and what follows from it. The
// referee that drives it carries messages and waits for deadlines; what they mean is decided here.
// The zero value is a match that waits for its players. It is not safe for concurrent use.
type Play struct {
	phase  Phase
	sides  [2]Side
	joined [2]bool
	number int
	drew   bool
}

// The sides of a match as indices.
const (
	SideA = 0
	SideB = 1
)

// untimely is the error of a call that does not belong to the phase the match is
// in, such as a choice after the draw. The call has changed nothing.
func (p *Play) untimely(did string) error {
	return fmt.Errorf("%s while the match is in %s", did, p.phase)
}

// Phase returns how far the match has come.
func (p *Play) Phase() Phase { return p.phase }

// Join records that a side has come. When both have, choices are collected.
// Joining twice changes nothing.
func (p *Play) Join(side int) error {
	if p.phase != WaitingForPlayers || p.sides[side].Fault != NoFault {
		return p.untimely("join")
	}
	p.joined[side] = true
	p.advance()
	return nil
}

// Choose records a side's choice. The first choice stands: another one is an
// error, so that nobody chooses with hindsight.
func (p *Play) Choose(side int, choice Parity) error {
	if p.phase != CollectingChoices || p.sides[side] != (Side{}) {
		return p.untimely("choice")
	}
	if choice != Even && choice != Odd {
		return fmt.Errorf("choice: no parity")
	}
	p.sides[side].Choice = choice
	p.advance()
	return nil
}

// Fail records a technical loss of one side. A side fails while
// something is still expected of it, and once.
func (p *Play) Fail(side int, fault Fault) error {
	expected := p.sides[side] == (Side{}) &&
		(p.phase == CollectingChoices || p.phase == WaitingForPlayers && !p.joined[side])
	if !expected || fault == NoFault {
		return p.untimely("fault")
	}
	p.sides[side].Fault = fault
	p.advance()
	return nil
}

// Draw records the drawn number and finishes the match.
func (p *Play) Draw(number int) error {
	if p.phase != DrawingNumber {
		return p.untimely("draw")
	}
	p.number, p.drew, p.phase = number, true, Finished
	return nil
}

// Waiting reports whether something is still expected of a side.
func (p *Play) Waiting(side int) bool {
	switch p.phase {
	case WaitingForPlayers:
		return !p.joined[side] && p.sides[side].Fault == NoFault
	case CollectingChoices:
		return p.sides[side] == (Side{})
	}
	return false
}

// Sides returns what the players have brought so far, A and B.
func (p *Play) Sides() (a, b Side) { return p.sides[SideA], p.sides[SideB] }

// Number returns the drawn number, or false if none was drawn.
func (p *Play) Number() (int, bool) { return p.number, p.drew }

// Verdict scores a finished match. It panics before.
func (p *Play) Verdict() Verdict {
	if p.phase != Finished {
		panic("game: verdict of a match that is not finished")
	}
	return Judge(p.sides[SideA], p.sides[SideB], p.number)
}

// advance moves on when nothing more is expected in a phase. Once a side has
// failed to come, the other is not asked for a choice: its win is certain.
func (p *Play) advance() {
	a, b := p.sides[SideA], p.sides[SideB]
	if p.Waiting(SideA) || p.Waiting(SideB) {
		return
	}
	switch {
	case a.Fault != NoFault || b.Fault != NoFault:
		p.phase = Finished
	case p.phase == WaitingForPlayers:
		p.phase = CollectingChoices
	case p.phase == CollectingChoices:
		p.phase = DrawingNumber
	}
}

// Backoff is how a request that failed is tried again: by league.v2 at most 3
// times, after 1, 2 and 4 seconds.
type Backoff struct {
	Retries int           // after the first try; 0 for none
	First   time.Duration // before the first retry; doubled for each that follows
	Most    time.Duration // no delay is longer
}

// LeagueBackoff is the back-off of league.v2.
func LeagueBackoff() Backoff {
	return Backoff{Retries: 3, First: time.Second, Most: 30 * time.Second}
}

// Delay returns how long to wait before the n-th retry, counted from 1, or
// false if there is no retry.
func (b Backoff) Delay(n int) (time.Duration, bool) {
	if n < 1 || n > b.Retries {
		return 0, false
	}
	d := b.First
	for i := 1; i < n && d < b.Most; i++ {
		d *= 2
	}
	return min(d, b.Most), true
}

// Total is the time of all delays together.
func (b Backoff) Total() (all time.Duration) {
	for n := range max(b.Retries, 0) {
		d, _ := b.Delay(n + 1)
		all += d
	}
	return all
}

// Asked reports whether both sides came, so that choices were asked for.
func (p *Play) Asked() bool { return p.joined[SideA] && p.joined[SideB] }

// Resume returns a match as it was recorded: whether both sides came, what
// they brought, and the number if one was drawn. A match may be
// incomplete; it then continues there. The error says what cannot be.
func Resume(asked bool, a, b Side, number *int) (Play, error) {
	var p Play
	for side, s := range [2]Side{a, b} {
		if asked || s.Fault == NoFault {
			if err := p.Join(side); err != nil {
				return Play{}, err
			}
		} else if err := p.Fail(side, s.Fault); err != nil {
			return Play{}, err
		}
	}
	for side, s := range [2]Side{a, b} {
		var err error
		switch {
		case !asked:
		case s.Fault != NoFault:
			err = p.Fail(side, s.Fault)
		case s.Choice != NoParity:
			err = p.Choose(side, s.Choice)
		}
		if err != nil {
			return Play{}, err
		}
	}
	if number != nil {
		if err := p.Draw(*number); err != nil {
			return Play{}, err
		}
	}
	return p, nil
}
