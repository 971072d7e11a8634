package conformance

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// burdenChecks are about many matches, and slow peers.
func burdenChecks() []Check {
	return []Check{
		duelCheck("load.concurrent", Must, "A referee keeps the matches apart that it conducts at the same time: each is reported with its own choices.", "Keep what belongs to a match by match_id, and nothing of it in variables that all matches share.",
			conductsMany),
		duelCheck("load.limit", Should, "No more matches are under way at once than max_concurrent_matches of the registration says.", "Let matches wait until others have ended, or register with the right number.",
			keepsToItsLimit),
		{
			ID: "referee.load.stalled", Level: Should, Needs: []string{refereeHears},
			Rule:   "A peer that sends slowly holds up nobody else: while one request is under way, others are answered.",
			Advice: "Serve requests concurrently; in Python, ThreadingHTTPServer in the place of HTTPServer.",
			run: forReferee(func(p refereeT) {
				p.besideSlowPeer(func() *Answer { return p.send(p.standings(0)) })
			}),
		},
		{
			ID: "referee.load.speed", Level: Should, Needs: []string{refereeHears},
			Rule:   "An announcement is acknowledged at once, within a quarter of the time that the manager waits: matches are played afterwards.",
			Advice: "Begin matches in the background, and answer first.",
			run: forReferee(func(p refereeT) {
				d := p.duel(plan{})
				a := p.send(p.announcement(d))
				p.ends(d)
				if limit := p.counter.opts.Timeout / 4; a.Took > limit {
					p.Fail("the acknowledgement took %v of %v", a.Took.Round(time.Millisecond), p.counter.opts.Timeout)
				}
				p.Note("acknowledged after %.1f ms", milliseconds(a.Took))
			}),
		},
	}
}

// besideSlowPeer asks while another peer has sent half a request, for as long
// as an agent may take to notice that request.
func (t *T) besideSlowPeer(ask func() *Answer) {
	u, err := parseHTTP(t.counter.opts.URL)
	if err != nil {
		t.Skip("it is tried over plain HTTP only")
	}
	conn, err := stall(t.ctx, u)
	if err != nil {
		t.Fail("no second connection: %v", err)
	}
	defer conn.Close() // it has served
	for range noticed {
		a := ask()
		if a.Err != nil {
			t.Fail("while another peer had sent half a request, a message was not answered: %v", a.Err)
		}
		t.accepted(a, "")
		t.pause(notice)
	}
}

// limit is how many matches the referee says that it conducts at once.
func (p refereeT) limit() int {
	p.needsRegistration()
	p.mu.Lock()
	defer p.mu.Unlock()
	n, _ := number(p.asked[0].refereeMeta()["max_concurrent_matches"])
	return n
}

func conductsMany(p refereeT) {
	const many = 5
	var plans []plan
	choices := []protocol.Choice{protocol.Even, protocol.Odd}
	for i := range many {
		plans = append(plans, plan{choose: [2]reaction{choosing(choices[i&1]), choosing(choices[i>>1&1])}})
	}
	all := p.together(plans...)
	p.send(p.announcement(all...))
	for i, d := range all {
		p.ends(d)
		h := p.one(d, protocol.TypeMatchResultReport, atManager)
		got := h.reported().choices
		if got[playerIDs[sideA]] != string(choices[i&1]) || got[playerIDs[sideB]] != string(choices[i>>1&1]) {
			p.Fail("in match %s, one of %d at a time, %s and %s were chosen; the report has %v", d.id, many, choices[i&1], choices[i>>1&1], got)
		}
	}
}

// mostTried is the largest number of matches that is tried at once.
const mostTried = 20

func keepsToItsLimit(p refereeT) {
	limit := p.limit()
	if limit < 1 || limit > mostTried {
		p.Skip("it registered for %d matches at once; up to %d are tried", limit, mostTried)
	}
	open, most, begun := 0, 0, 0 // under the side's lock
	wait := p.aMoment()
	plans := make([]plan, limit+2)
	for i := range plans {
		plans[i] = plan{
			join: [2]reaction{func(d *duel, h *heard) Said {
				d.side.mu.Lock()
				if h.n == 1 {
					open++
					begun++
					most = max(most, open)
				}
				d.side.mu.Unlock()
				// Another one may come, as long as there is another.
				d.side.until(wait, func() bool { return most > limit || begun == len(plans) })
				return joining()(d, h)
			}},
			choose: [2]reaction{func(d *duel, h *heard) Said {
				d.side.mu.Lock()
				if h.n == 1 {
					open-- // before GAME_OVER, lest the next begins before we know
				}
				d.side.mu.Unlock()
				return choosing(protocol.Even)(d, h)
			}},
		}
	}
	all := p.together(plans...)
	p.send(p.announcement(all...))
	for _, d := range all {
		p.ends(d)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if most > limit {
		p.Fail("%d matches were under way at once; it registered for %d", most, limit)
	}
	p.Note("%d at most", most)
}

// refereeHostileChecks are about input that no good peer sends.
func refereeHostileChecks() []Check {
	valid := func(t *T) letter {
		p := refereeT{t, t.side.(*refereeSide)}
		return letter{message: p.announcement(p.duel(plan{})), dialect: p.dialect}
	}
	bad := func(name, what string, edit func(m, match map[string]any)) attack {
		return attack{name, Should, what, "Check each match of an announcement before it is begun, and answer -32602.", 0, memberAttack(inMatch(edit))}
	}
	all := append(attacks(protocol.TypeRoundAnnouncement, "notify_match_result"),
		bad("match", "An announcement of a match without match_id", func(_, match map[string]any) { delete(match, "match_id") }),
		bad("wrongtype", "An announcement whose match_id is a number", func(_, match map[string]any) { match["match_id"] = 7 }),
		bad("path", "An announcement whose match_id is a path", func(_, match map[string]any) { match["match_id"] = "../../R1M1" }),
		bad("self", "A match of a player against itself", func(_, match map[string]any) { match["player_B_id"] = match["player_A_id"] }),
		bad("twice", "An announcement in which a match stands twice", func(m, match map[string]any) { m["matches"] = []any{match, match} }),
		bad("game", "A match of another game than even_odd", func(_, match map[string]any) { match["game_type"] = "chess" }),
	)
	return append(attackChecks(Referee, all, valid), Check{
		ID: "referee.hostile.then", Level: Must, Needs: []string{refereePlays},
		Rule:   "After all that, the referee goes on conducting matches.",
		Advice: "Let no input end or block the process: handle each request apart, and release locks when one fails.",
		run:    forReferee(func(p refereeT) { p.played(plan{}) }),
	})
}

// refereeEndChecks come last, since a referee may leave when its league is
// complete.
func refereeEndChecks() []Check {
	return []Check{
		{
			ID: "referee.register.once", Level: Should,
			Rule:   "A referee that was accepted does not register a second time unasked (league.v2, registration).",
			Advice: "Read status ACCEPTED and the referee_id from the answer, wherever it sits, and stop registering.",
			run: forReferee(func(p refereeT) {
				p.first()
				p.mu.Lock()
				asked := slices.DeleteFunc(slices.Clone(p.asked), func(r *registration) bool { return !r.accepted })
				allowed := 1 + p.renewals
				p.mu.Unlock()
				if len(asked) > allowed {
					p.saw("the referee to the manager", asked[len(asked)-1].Raw)
					p.Fail("it registered %s and was accepted each time", times(len(asked)))
				}
			}),
		},
		{
			ID: "referee.end.ack", Level: Should,
			Rule:   "LEAGUE_COMPLETED is answered by LEAGUE_COMPLETED_ACK, before the referee leaves.",
			Advice: "Send the answer first, and end the process afterwards.",
			run: forReferee(func(p refereeT) {
				p.needsRegistration()
				p.accepted(p.send(p.leagueCompleted()), protocol.TypeLeagueCompletedAck)
			}),
		},
		{
			ID: "referee.end.again", Level: Wild, Needs: []string{"referee.end.ack"},
			Rule:   "After LEAGUE_COMPLETED a referee leaves, or stays and acknowledges a repetition.",
			Advice: "Either end the process or go on answering.",
			run: forReferee(func(p refereeT) {
				p.needsRegistration()
				p.endsOrStays(func() *Answer { return p.send(p.leagueCompleted()) }, func(a *Answer) { p.accepted(a, protocol.TypeLeagueCompletedAck) })
			}),
		},
	}
}
