package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// The checks for whose sake players make trouble in the second round.
const (
	toldWhenBusy       = "manager.notify.busy"
	toldWhenBroken     = "manager.notify.broken"
	toldDespiteSilence = "manager.notify.silent"
)

// notifyChecks are about agents that cannot take a message.
func notifyChecks() []Check {
	again := func(id string, who int, rule string) Check {
		return seasonCheck(id[len("manager."):], Should, rule, "Send it again after 1, 2 and 4 s, in the background; nobody else has to wait for that.", func(p managerT) {
			lost := p.lost(who)
			if !p.until(0, func() bool { return p.toldAgain(lost) }) {
				p.show(lost)
				p.Fail("player %s was not told again within %v", lost.to.id, p.patience())
			}
		})
	}
	return []Check{
		again(toldWhenBusy, playerBusy, "An agent that answers HTTP 503 is told again (league.v2, retries)."),
		again(toldWhenBroken, playerBroken, "An agent to which the connection breaks is told again (league.v2, retries)."),
		seasonCheck(toldDespiteSilence[len("manager."):], Must, "A player that does not answer an announcement does not stop the league: after 10 s at most, the others go on (league.v2, notifications).",
			"Give every message a time, send to all at once, and go on without those that have not answered.", goesOnDespiteSilence),
		seasonCheck("notify.same", Should, "What is sent again is the same message: conversation_id stays (league.v2, retries).", "Make the message once, and give each attempt only a new JSON-RPC id.", func(p managerT) {
			lost := []*told{}
			p.every(protocol.TypeRoundAnnouncement, func(m *told) {
				if m.spoilt {
					lost = append(lost, m)
				}
			})
			found := false
			for _, m := range lost {
				p.every(protocol.TypeRoundAnnouncement, func(again *told) {
					if again.to != m.to || again.round != m.round || again.n != m.n+1 {
						return
					}
					found = true
					if was, is := m.message.text("conversation_id"), again.message.text("conversation_id"); was != is {
						p.show(again)
						p.Fail("conversation_id was %q, and is %q when sent again", was, is)
					}
				})
			}
			if !found {
				p.Skip("nothing was sent again")
			}
		}),
	}
}

// lost is the announcement that a player did not take.
func (p managerT) lost(who int) *told {
	var lost *told
	p.every(protocol.TypeRoundAnnouncement, func(m *told) {
		if m.spoilt && m.to == p.players()[who] && m.round == p.troubled() {
			lost = m
		}
	})
	if lost == nil {
		p.Skip("player %s was not told of round %d", p.players()[who].id, p.troubled())
	}
	return lost
}

// longestWait is how long a manager by the book waits for an agent.
const longestWait = 10 * time.Second

func goesOnDespiteSilence(p managerT) {
	lost := p.lost(playerSilent)
	var began *told
	for _, m := range p.firsts(protocol.RoleReferee, p.troubled()) {
		if began == nil || m.order < began.order {
			began = m
		}
	}
	p.show(lost)
	switch {
	case began != nil && began.order < lost.after:
		p.Note("the league went on %v after player %s was told, which did not answer", began.At.Sub(lost.At).Round(time.Millisecond), lost.to.id)
	case p.patience() < longestWait+p.aMoment():
		p.Skip("the manager waited for a player that does not answer for longer than %v: set a shorter time on it (by the protocol it has 10 s), or give a longer --timeout", p.patience())
	default:
		p.Fail("while player %s did not answer, the league stood still for %v", lost.to.id, p.patience())
	}
}

// crowdChecks are about many requests, and their time.
func crowdChecks() []Check {
	return []Check{
		seasonCheck("load.concurrent", Must, "Queries that come at the same time, and with reports, are all answered, each by its own answer (observed in real leagues).", "Lock what requests share, for as short as possible, and keep what belongs to a request out of it.", answersCrowd),
		seasonCheck("load.speed", Should, "Queries and reports are answered within a quarter of the time that agents wait, also while the league runs.", "Keep slow work, and messages to others, out of the way of an answer.", func(p managerT) {
			took := slices.Clone(p.played().took)
			limit := p.counter.opts.Timeout / 4
			slices.Sort(took)
			longest := took[len(took)-1]
			if longest > limit {
				for _, made := range p.season.probes {
					if made.answer.Took == longest {
						p.evidence = made.evidence
					}
				}
				p.Fail("an answer took %v of the %v that agents wait", longest.Round(time.Millisecond), p.counter.opts.Timeout)
			}
			p.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(took), milliseconds(took[len(took)/2]), milliseconds(longest))
		}),
	}
}

func answersCrowd(p managerT) {
	for i := range crowded {
		a := p.recall(fmt.Sprintf("crowd.%d", i))
		p.accepted(a, protocol.TypeLeagueQueryResponse)
		if got, want := a.Message.text("query_type"), crowdAsks[i%len(crowdAsks)]; got != want {
			p.Fail("query_type is %s, want %q", orMissing(a.Message["query_type"]), want)
		}
	}
}
