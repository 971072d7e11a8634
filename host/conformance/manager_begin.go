package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// starting is START_LEAGUE with an admin token, or without one.
func (p managerT) starting(token string) *protocol.StartLeague {
	h := protocol.NewHeader(protocol.TypeStartLeague, protocol.Sender(protocol.RoleLauncher, ""), protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = token, p.league
	return &protocol.StartLeague{Header: h}
}

// begin has the league started, by us or by whoever else does it.
func (p managerT) begin() {
	s := p.season
	if p.underWay() {
		s.byItself = true
		for _, name := range []string{"start", "start.again", "start.report", "start.missing", "start.token", "start.web", "start.player"} {
			s.missing[name] = "the league began by itself when everybody had registered"
		}
		return
	}
	p.shoot("start.report", func() *Answer {
		f := &fixture{id: "R99M99", players: [2]string{"P98", "P99"}}
		return p.send(p.reporting(f, p.referees()[0], p.endingOf(f)))
	})
	token := p.counter.opts.AdminToken
	const needed = "no admin token was given; with --admin-token TOKEN, that of the manager, it is tried"
	if token != "" {
		p.shoot("start.missing", func() *Answer { return p.send(p.starting("")) })
		p.shoot("start.token", func() *Answer { return p.send(p.starting(forged)) })
	} else {
		s.missing["start.missing"], s.missing["start.token"] = needed, needed
	}
	p.shoot("start.web", func() *Answer {
		return p.Send(letter{message: p.starting(""), header: http.Header{"Origin": {"http://web.example"}}})
	})
	p.shoot("start.player", func() *Answer {
		m := p.starting(p.players()[0].token)
		m.Sender = protocol.Sender(protocol.RolePlayer, p.players()[0].id)
		return p.send(m)
	})
	a := p.shoot("start", func() *Answer { return p.send(p.starting(token)) })
	if taken(a) {
		p.shoot("start.again", func() *Answer { return p.send(p.starting(token)) })
		return
	}
	p.beginOtherwise(a)
}

// underWay reports whether the league has begun by itself.
func (p managerT) underWay() bool {
	announced := func() bool {
		for _, m := range p.heard {
			if m.kind == protocol.TypeRoundAnnouncement {
				return true
			}
		}
		return false
	}
	if p.until(0, announced) {
		return true
	}
	status := object(p.query(0, protocol.QueryStatus)().Message["data"]).text("status")
	if status != protocol.LeagueRunning && status != protocol.LeagueScheduling {
		return false
	}
	return p.until(p.patience(), announced)
}

// beginOtherwise tries the other ways of starting a league that are known, and
// waits for somebody else to do it.
func (p managerT) beginOtherwise(refusal *Answer) {
	ways := []func(){
		func() {
			p.Post([]byte(`{"jsonrpc":"2.0","id":1,"method":"start_league","params":{}}`), nil)
		},
		func() {
			if u, err := url.Parse(p.counter.opts.URL); err == nil {
				u.Path, u.RawQuery = "/start_league", ""
				p.PostTo(u.String(), []byte("{}"), nil)
			}
		},
	}
	given := func() bool { return p.handedOut(0) > 0 }
	for _, way := range ways {
		if way(); p.until(p.aMoment(), given) {
			return
		}
	}
	wait := p.counter.opts.Wait
	p.counter.opts.Say(fmt.Sprintf("the manager does not start the league for us (%s); it is waited for %v that somebody starts it", refusal, wait))
	if !p.until(wait, given) {
		p.season.halt = fmt.Sprintf("START_LEAGUE is answered by %s; give --admin-token TOKEN, or start the league yourself within --wait %v when the command says so", refusal, wait)
	}
}
