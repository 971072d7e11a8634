package manager

import (
	"bytes"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

const tokenNeeded = "the manager asks for an admin token; use --admin-token TOKEN"

// wantsToken reports whether an answer asks for the admin token.
func wantsToken(a *kit.Answer) bool {
	code := protocol.Code(a.Message.Text("error_code"))
	return a.Refused && (code == protocol.CodeTokenMissing || code == protocol.CodeTokenInvalid || a.Code == 11 || a.Code == 12)
}

// earlyCheck comes before any agent registers.
func earlyCheck() kit.Check {
	return kit.Check{
		ID: "manager.start.early", Level: kit.Should,
		Rule:   "START_LEAGUE is refused without a referee, or with fewer than two players (E007).",
		Advice: "Count the agents before you make the schedule, and answer with an error.",
		Run: run(func(t T) {
			if t.players()[0].id != "" || t.referees()[0].id != "" {
				t.Skip("agents have registered already")
			}
			a := t.send(t.startLeague(t.session.AdminToken))
			if wantsToken(a) {
				t.Skip(tokenNeeded)
			}
			if t.peers.tooEarly = accepts(a); t.tooEarly {
				t.Fail("it was accepted: answered by %s; a manager whose league has begun cannot be checked, so start a fresh one", a)
			}
			t.Refused(a)
		}),
	}
}

// startChecks are about how the league begins.
func startChecks() []kit.Check {
	const compare = "Compare auth_token, or the Bearer token of the Authorization header, with the admin token, before you start anything."
	return []kit.Check{
		refusedCheck("start.report", "start.report", kit.Should, "A report before the start of the league is refused (5002, E040).", "Look the match up in the schedule; there is none yet."),
		refusedCheck("start.missing", "start.missing", kit.Must, "START_LEAGUE without the admin token is refused (E011).", compare),
		refusedCheck("start.token", "start.token", kit.Must, "START_LEAGUE with a wrong admin token is refused (E012).", compare),
		refusedCheck("start.web", "start.web", kit.Should, "START_LEAGUE without a token is refused to a web page, which the browser reveals by an Origin header (league.v2, authentication).",
			"If no token is configured, accept only requests from this machine, with a JSON Content-Type and without Origin."),
		refusedCheck("start.player", "start.player", kit.Should, "START_LEAGUE is refused to players: only the launcher may (E012).", "Check sender: it must be launcher, with the admin token."),
		leagueCheck("start.answer", kit.Should, "START_LEAGUE is answered by LEAGUE_STATUS with league_id, status, current_round, total_rounds and matches_completed.", "Answer once the schedule exists; announce the first round afterwards.", answersStart),
		leagueCheck("start.again", kit.Should, "While the league runs, START_LEAGUE is answered by LEAGUE_STATUS again, and starts nothing.", "Look at the state first.",
			func(t T) {
				a := t.recorded("start.again")
				t.Accepted(a, protocol.TypeStartLeague.Answer())
				if got, want := a.Message["total_rounds"], t.recorded("start").Message["total_rounds"]; want != nil && !bytes.Equal(got, want) {
					t.Fail("total_rounds was %s, and is %s now", want, a.Message.Shown("total_rounds"))
				}
			}),
		refusedCheck("start.over", "over.start", kit.Should, "After the end of the league, START_LEAGUE is refused (E031).", "Look at the state first; a new league is a new program, or has a new id."),
	}
}

func answersStart(t T) {
	a := t.recorded("start")
	if wantsToken(a) && t.session.AdminToken == "" {
		t.Skip(tokenNeeded)
	}
	t.Accepted(a, protocol.TypeStartLeague.Answer())
	t.Equal(a, "league_id", t.leagueID)
	known := []string{protocol.LeagueWaiting, protocol.LeagueScheduling, protocol.LeagueRunning, protocol.LeagueFinished}
	if !slices.Contains(known, a.Message.Text("status")) {
		t.Fail("status is %s, want one of %q", a.Message.Shown("status"), known)
	}
	for _, name := range []string{"current_round", "total_rounds", "matches_completed"} {
		if _, ok := a.Message.Number(name); !ok {
			t.Fail("%s is %s, want a number", name, a.Message.Shown(name))
		}
	}
}
