package conformance

import (
	"bytes"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// seasonCheck is a check that looks at the league when it was played. A manager
// that does not survive bad input plays none.
func seasonCheck(name string, level Level, rule, advice string, run func(p managerT)) Check {
	return Check{ID: "manager." + name, Level: level, Needs: []string{managerTakes, managerSurvives}, Rule: rule, Advice: advice, run: forManager(run)}
}

// needing adds to what a check needs.
func (c Check) needing(ids ...string) Check {
	c.Needs = append(c.Needs, ids...)
	return c
}

// refusedCheck is one of which the season has made a probe that is to be refused.
func refusedCheck(name, made string, level Level, rule, advice string) Check {
	return seasonCheck(name, level, rule, advice, func(p managerT) { p.refused(p.recall(made)) })
}

// wantsToken reports whether an answer asks for the admin token.
func wantsToken(a *Answer) bool {
	code := protocol.Code(a.Message.text("error_code"))
	return a.Refused && (code == protocol.CodeTokenMissing || code == protocol.CodeTokenInvalid || a.Code == 11 || a.Code == 12)
}

// earlyChecks come before anybody has registered.
func earlyChecks() []Check {
	return []Check{{
		ID: "manager.start.early", Level: Should,
		Rule:   "START_LEAGUE is refused while there is no referee, or fewer than two players (E007).",
		Advice: "Count the agents before the schedule is made, and answer with an error.",
		run: forManager(func(p managerT) {
			if p.players()[0].id != "" || p.referees()[0].id != "" {
				p.Skip("agents have registered already")
			}
			a := p.send(p.starting(p.counter.opts.AdminToken))
			if wantsToken(a) {
				p.Skip("the manager wants an admin token; give it with --admin-token TOKEN")
			}
			if p.begunEarly = taken(a); p.begunEarly {
				p.Fail("it was taken: answered by %s; a manager whose league has begun before cannot be checked, so start a fresh one", a)
			}
			p.refused(a)
		}),
	}}
}

// startChecks are about how the league begins.
func startChecks() []Check {
	const compare = "Compare auth_token, or the Bearer token of the Authorization header, with the admin token, before anything is started."
	return []Check{
		refusedCheck("start.report", "start.report", Should, "A report before the league has started is refused (5002, E040).", "Look the match up in the schedule; there is none yet."),
		refusedCheck("start.missing", "start.missing", Must, "START_LEAGUE without the admin token is refused (E011).", compare),
		refusedCheck("start.token", "start.token", Must, "START_LEAGUE with a wrong admin token is refused (E012).", compare),
		refusedCheck("start.web", "start.web", Should, "START_LEAGUE without a token is refused to a web page, which the browser betrays by an Origin header (league.v2, authentication).",
			"Where no token is configured, start only for requests from this machine, with a JSON Content-Type and without Origin."),
		refusedCheck("start.player", "start.player", Should, "START_LEAGUE is refused to players: only the launcher may (E012).", "Look at sender: it must be launcher, with the admin token."),
		seasonCheck("start.answer", Should, "START_LEAGUE is answered by LEAGUE_STATUS with league_id, status, current_round, total_rounds and matches_completed.", "Answer when the schedule is made; announce the first round afterwards.", startsWithStatus),
		seasonCheck("start.again", Should, "While the league runs, START_LEAGUE is answered by LEAGUE_STATUS again, and starts nothing.", "Look at the state first.",
			func(p managerT) {
				a := p.recall("start.again")
				p.accepted(a, protocol.TypeLeagueStatus)
				if got, want := a.Message["total_rounds"], p.recall("start").Message["total_rounds"]; want != nil && !bytes.Equal(got, want) {
					p.Fail("total_rounds was %s, and is %s now", want, orMissing(got))
				}
			}),
		refusedCheck("start.over", "over.start", Should, "When the league is complete, START_LEAGUE is refused (E031).", "Look at the state first; a new league is a new program, or has a new id."),
	}
}

func startsWithStatus(p managerT) {
	a := p.recall("start")
	if wantsToken(a) && p.counter.opts.AdminToken == "" {
		p.Skip("the manager wants an admin token; give it with --admin-token TOKEN")
	}
	p.accepted(a, protocol.TypeLeagueStatus)
	if got := a.Message.text("league_id"); got != p.league {
		p.Fail("league_id is %s, want %q", orMissing(a.Message["league_id"]), p.league)
	}
	known := []string{protocol.LeagueWaiting, protocol.LeagueScheduling, protocol.LeagueRunning, protocol.LeagueFinished}
	if got := a.Message.text("status"); !slices.Contains(known, got) {
		p.Fail("status is %s, want one of %q", orMissing(a.Message["status"]), known)
	}
	for _, name := range []string{"current_round", "total_rounds", "matches_completed"} {
		if _, ok := number(a.Message[name]); !ok {
			p.Fail("%s is %s, want a number", name, orMissing(a.Message[name]))
		}
	}
}

// lateChecks are about registrations while the league runs.
func lateChecks() []Check {
	return []Check{
		refusedCheck("late.refused", "late", Must, "A player that registers when the league has started is turned away (league.v2, registration).", "Look at the state first: the schedule is made."),
		seasonCheck("late.form", Wild, "Who is turned away gets a result with status REJECTED and a reason, and no id, token or league (LEAGUE_REGISTER_RESPONSE).",
			`Answer {"status": "REJECTED", "reason": "League already started"} with the header fields, and leave out the rest.`, func(p managerT) {
				a := p.recall("late")
				p.refused(a)
				if a.Document.has("error") || a.Message.text("status") != protocol.StatusRejected {
					p.Fail("status is %s, in %s", orMissing(a.Message["status"]), a)
				}
				if a.Message.text("reason") == "" {
					p.Fail("reason is %s", orMissing(a.Message["reason"]))
				}
				for _, name := range []string{"player_id", "auth_token", "league_id"} {
					if a.Message.has(name) {
						p.Fail("%s is %s", name, a.Message[name])
					}
				}
			}).needing("manager.late.refused"),
		seasonCheck("late.unharmed", Must, "A registration that was turned away leaves nothing behind: the players are those that there were (GET_PLAYERS).", "Check everything before anything is stored.", func(p managerT) {
			a := p.recall("late.players")
			p.accepted(a, protocol.TypeLeagueQueryResponse)
			players := list(object(a.Message["data"])["players"])
			for _, f := range players {
				if p.named(f.text("player_id")) == nil {
					p.Fail("there is a player %s now", orMissing(f["player_id"]))
				}
			}
			if len(players) != len(p.players()) {
				p.Fail("there are %d players now, and were %d", len(players), len(p.players()))
			}
		}).needing("manager.query.players"),
		seasonCheck("late.back", Should, "A player that registers again with its token is taken for itself: it gets the id that it has, also while the league runs (league.v2, registration).",
			"Look whose auth_token the registration bears, and answer as the first time.", func(p managerT) {
				a := p.recall("late.back")
				p.accepted(a, protocol.TypeLeagueRegisterResponse)
				if got, want := a.Message.text("player_id"), p.players()[0].id; got != want {
					p.Fail("player %s is called %s now", want, orMissing(a.Message["player_id"]))
				}
			}),
	}
}
