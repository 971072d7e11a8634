package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// refereeT is what a check of a referee works with.
type refereeT struct {
	*T
	*refereeSide
}

// forReferee makes a check's function of one that is given the referee's side.
func forReferee(run func(p refereeT)) func(*T) {
	return func(t *T) { run(refereeT{t, t.side.(*refereeSide)}) }
}

// longestPause is the longest that a referee by the book lets pass between two
// attempts.
const longestPause = 4 * time.Second

// patience is how long something is waited for that the referee may have to
// pause for.
func (s *refereeSide) patience() time.Duration { return s.c.opts.Timeout + longestPause }

// needsRegistration skips a check that says nothing of a referee that knows
// nobody here.
func (p refereeT) needsRegistration() {
	if !p.registered() {
		p.Skip("the referee did not register here and takes no matches from this manager: start it with the manager %s", p.manager.url)
	}
}

// duel makes up a match that is not announced yet.
func (p refereeT) duel(plan plan) *duel {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rounds++
	return p.place(plan, p.rounds, 1)
}

// together makes up several matches of one round.
func (p refereeT) together(plans ...plan) []*duel {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rounds++
	var all []*duel
	for i, plan := range plans {
		all = append(all, p.place(plan, p.rounds, i+1))
	}
	return all
}

// place makes up a match. The lock is held.
func (s *refereeSide) place(plan plan, round, number int) *duel {
	d := &duel{side: s, id: fmt.Sprintf("R%dM%d", round, number), round: round, plan: plan}
	for i, token := range s.tokens {
		d.keys[i] = protocol.NewVerifier(token).MatchKeys(s.league, d.id, s.id)
	}
	s.duels[d.id] = d
	return d
}

// fromManager is the header of a message of the manager.
func (p refereeT) fromManager(t protocol.Type, round int) protocol.Header {
	h := protocol.NewHeader(t, "league_manager", protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	p.mu.Lock()
	defer p.mu.Unlock()
	h.LeagueID, h.RoundID, h.AuthToken = p.league, protocol.RoundNumber(round), p.verifier.ManagerToken(p.league)
	return h
}

// announcement is that of matches of one round.
func (p refereeT) announcement(duels ...*duel) *protocol.RoundAnnouncement {
	m := &protocol.RoundAnnouncement{Header: p.fromManager(protocol.TypeRoundAnnouncement, duels[0].round)}
	for _, d := range duels {
		m.Matches = append(m.Matches, protocol.AnnouncedMatch{
			MatchID: d.id, GameType: protocol.GameEvenOdd, PlayerAID: playerIDs[sideA], PlayerBID: playerIDs[sideB],
			RefereeID: p.id, RefereeEndpoint: p.counter.opts.URL,
			PlayerAEndpoint: p.players[sideA].url, PlayerBEndpoint: p.players[sideB].url,
			PlayerAKeys: &d.keys[sideA], PlayerBKeys: &d.keys[sideB],
		})
	}
	return m
}

// send sends a message in the dialect that the referee registered in.
func (p refereeT) send(m protocol.Message) *Answer {
	return p.Send(letter{message: m, dialect: p.dialect})
}

// edited sends a message after changing its members.
func (p refereeT) edited(m protocol.Message, edit func(map[string]any)) *Answer {
	return p.Send(letter{message: m, dialect: p.dialect, edit: edit})
}

// begin announces a match. What is answered is no matter here.
func (p refereeT) begin(plan plan) *duel {
	d := p.duel(plan)
	p.send(p.announcement(d))
	return d
}

// played begins a match and waits until it is over.
func (p refereeT) played(plan plan) *duel {
	d := p.begin(plan)
	p.ends(d)
	return d
}

// ends waits until a match is over, and ends the check if that takes too long.
func (p refereeT) ends(d *duel) {
	for n := 0; ; {
		over, now := false, 0
		more := p.until(p.patience(), func() bool {
			over, now = d.over(), len(d.heard)
			return over || now > n
		})
		if over {
			return
		}
		if !more {
			p.showAll(d)
			p.Fail("match %s has come to a halt: for %v nothing was heard of it; %s", d.id, p.patience(), p.tally(d))
		}
		n = now
	}
}

// tally says what was heard of a match.
func (p refereeT) tally(d *duel) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := ""
	for _, t := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
		text += fmt.Sprintf("%d and %d %s, ", d.count(t, sideA), d.count(t, sideB), t)
	}
	return text + fmt.Sprintf("%d %s", d.count(protocol.TypeMatchResultReport, atManager), protocol.TypeMatchResultReport)
}

// all returns what was heard of a match, of a type, or of every type for "".
func (p refereeT) all(d *duel, t protocol.Type, who ...int) []*heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*heard
	for _, h := range d.heard {
		if (t == "" || h.Type == t) && (len(who) == 0 || slices.Contains(who, h.who)) {
			copied := *h
			list = append(list, &copied)
		}
	}
	return list
}

// one returns the first message of a type that somebody heard of a match.
func (p refereeT) one(d *duel, t protocol.Type, who int) *heard {
	list := p.all(d, t, who)
	if len(list) == 0 {
		p.Fail("%s was sent no %s of match %s", whoIs(who), t, d.id)
	}
	p.show(list[0])
	return list[0]
}

func whoIs(who int) string {
	if who == atManager {
		return "the manager"
	}
	return "player " + playerIDs[who]
}

// show keeps a message of the referee as evidence.
func (p refereeT) show(h *heard) {
	p.keep(Evidence{From: "the referee to " + whoIs(h.who), Request: shown(h.Raw), Status: max(h.said.Status, 200), Answer: shown(h.said.Body)})
}

func (p refereeT) showAll(d *duel) {
	for _, h := range p.all(d, "") {
		p.show(h)
	}
}

// bears ends the check unless a message bears a member with a value.
func (p refereeT) bears(h *heard, name, want string) {
	if got := h.message.text(name); got != want {
		p.show(h)
		p.Fail("%s of %s is %s, want %q", name, h.Type, orMissing(h.message[name]), want)
	}
}
