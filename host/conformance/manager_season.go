package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// season is the one league that a manager plays with us. It is played once, by
// the first check that asks for it, from the start to the end, with everything
// in it that checks want to see; afterwards they look at what was written down.
type season struct {
	byItself      bool   // it began before it was started
	halt          string // why it did not come to its end, or not begin; empty if it did
	refusedReport bool   // because a report was refused
	turns         []*turn
	probes        map[string]*probe
	missing       map[string]string // why a probe was not made
	ends          []*ending         // as reported
	doubled       string            // the probe that shows a report counted twice
	spoilt        string            // the probe that was taken, so that the table is not known any more
	closing       []protocol.Type   // what the manager ends rounds with
	loose         bool              // it does not send all of it to everybody
	took          []time.Duration   // by answers while the league ran
}

// turn is one round of the season.
type turn struct {
	round    int
	last     int // what was heard before its last report
	closed   int // and when it was over
	ends     int // matches reported until then
	spoilt   bool
	fixtures []*fixture
	reported *probe // its last report
}

// probe is something that was asked during the season.
type probe struct {
	answer   *Answer
	evidence []Evidence
}

// attempted returns the season, and plays it the first time.
func (p managerT) attempted() *season {
	if p.season == nil {
		p.managerSide.season = &season{
			probes: map[string]*probe{}, missing: map[string]string{},
			closing: []protocol.Type{protocol.TypeRoundCompleted, protocol.TypeLeagueStandingsUpdate},
		}
		stage := managerT{&T{ctx: p.ctx, counter: p.counter, side: p.side}, p.managerSide}
		stage.playSeason()
		// Whether the manager has left meanwhile does not matter: checks look only at
		// what was written down.
	}
	return p.season
}

// played returns the season. It skips the check if the league did not begin.
func (p managerT) played() *season {
	s := p.attempted()
	if len(s.turns) == 0 {
		p.Skip("the league did not begin: %s", p.halted())
	}
	return s
}

// halted says why the league did not come to its end, or where that stands.
func (p managerT) halted() string {
	if p.counter.makes(managerGoesOn) {
		return "see " + managerGoesOn
	}
	return p.season.halt
}

// complete returns the season, and skips the check if it did not come to its end.
func (p managerT) complete() *season {
	s := p.played()
	if s.halt != "" {
		p.Skip("the league did not come to its end: %s", p.halted())
	}
	return s
}

// playSeason plays the league. Nothing in it ends a check.
func (p managerT) playSeason() {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case stop:
			p.season.halt = ended.detail
		default:
			panic(ended)
		}
	}()
	p.enrol()
	p.begin()
	for p.ctx.Err() == nil && p.season.halt == "" {
		t := p.nextTurn()
		if t == nil {
			break
		}
		p.season.turns = append(p.season.turns, t)
		p.play(t)
		p.awaitEnd(t)
		p.afterTurn(t)
	}
	p.afterwards()
}

// enrol registers everybody who has not been, and skips the check if somebody is
// turned away: that is another check's matter.
func (p managerT) enrol() {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case stop:
			p.Skip("not all agents can be registered: %s", ended.detail)
		default:
			panic(ended)
		}
	}()
	for _, m := range p.arrivals() {
		p.join(m)
	}
}

// arrivals are the members in the order in which they register: the referees
// first, since some leagues begin with the last player.
func (s *managerSide) arrivals() []*member {
	return append(slices.Clone(s.referees()), s.players()...)
}

// nextTurn waits until matches are given that nobody has reported, and returns
// nil when none will be.
func (p managerT) nextTurn() *turn {
	var t *turn
	fresh := func() []*fixture {
		var list []*fixture
		for _, f := range p.given {
			if f.ended == nil && (len(list) == 0 || f.round == list[0].round) {
				list = append(list, f)
			}
		}
		return list
	}
	given := func() bool { return len(fresh()) > 0 || p.completed() || p.ctx.Err() != nil }
	wait := p.patience()
	if n := p.listed(); n > 0 && len(p.season.ends) >= n {
		wait = p.aMoment() // nothing more is to come
	}
	if held := false; !p.until(wait, func() bool { held = held || p.holding > 0; return given() }) && held {
		p.until(p.patience(), given) // it may have waited for who was silent
	}
	p.until(p.patience(), func() bool {
		list := fresh()
		if len(list) == 0 {
			return true
		}
		t = &turn{round: list[0].round, fixtures: list}
		return len(list) >= p.announcedIn(list[0].round)
	})
	if t == nil && len(p.season.ends) < p.pairs() {
		p.season.halt = fmt.Sprintf("within %v no match was given to a referee any more, neither by ROUND_ANNOUNCEMENT nor by a message of its own; %d were reported",
			p.patience().Round(time.Second), len(p.season.ends))
	}
	return t
}

// pairs is how many matches there are in a leg.
func (s *managerSide) pairs() int { return len(s.players()) * (len(s.players()) - 1) / 2 }

// announcedIn returns how many matches a round has, by what players were told or
// else by their number. The lock is held.
func (s *managerSide) announcedIn(round int) int {
	for _, m := range s.heard {
		if m.kind == protocol.TypeRoundAnnouncement && m.to.role == protocol.RolePlayer && m.round == round && len(m.matches) > 0 {
			return len(m.matches)
		}
	}
	return len(s.players()) / 2
}

// completed reports whether somebody has heard of the league's end. The lock is
// held.
func (s *managerSide) completed() bool {
	return slices.ContainsFunc(s.heard, func(m *told) bool { return m.kind == protocol.TypeLeagueCompleted })
}

// awaitEnd waits until everybody has been told what ends a round. Where the
// manager goes on without that, so do we; and what it never sends is not waited
// for again.
func (p managerT) awaitEnd(t *turn) {
	s := p.season
	going := func() bool {
		return p.completed() || slices.ContainsFunc(p.given, func(f *fixture) bool { return f.ended == nil })
	}
	full := func() bool {
		return !slices.ContainsFunc(s.closing, func(kind protocol.Type) bool { return !p.allTold(kind, t.last) })
	}
	p.until(p.patience(), func() bool { return full() || going() })
	wait := longestPause
	if s.loose {
		wait = p.aMoment()
	}
	if p.until(wait, full) {
		return
	}
	s.loose = true
	s.closing = slices.DeleteFunc(s.closing, func(kind protocol.Type) bool {
		return p.until(0, func() bool {
			return !slices.ContainsFunc(p.heard, func(m *told) bool { return m.kind == kind && m.order > t.last })
		})
	})
}

// allTold reports whether every agent has heard something of a kind since. The
// lock is held.
func (s *managerSide) allTold(kind protocol.Type, since int) bool {
	for _, to := range s.members {
		if !slices.ContainsFunc(s.heard, func(m *told) bool { return m.to == to && m.kind == kind && m.order > since && m.settled }) {
			return false
		}
	}
	return true
}

// shoot makes a probe, and keeps it.
func (p managerT) shoot(name string, ask func() *Answer) *Answer {
	p.evidence = nil
	a := ask()
	p.season.probes[name] = &probe{a, slices.Clone(p.evidence)}
	p.season.took = append(p.season.took, a.Took)
	return a
}

// recall returns a probe of the season, with its evidence. It skips the check
// if the probe was not made.
func (p managerT) recall(name string) *Answer {
	s := p.attempted()
	made := s.probes[name]
	if made == nil {
		switch why := s.missing[name]; {
		case why != "":
			p.Skip("%s", why)
		case s.halt != "":
			p.Skip("the league did not come so far: %s", p.halted())
		default:
			p.Skip("the league had too few matches for that; more players (--players) play more")
		}
	}
	for _, e := range made.evidence {
		p.keep(e)
	}
	return made.answer
}
