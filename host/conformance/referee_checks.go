package conformance

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// The checks that others build on.
const (
	refereePlays = "referee.round.plays"
	refereeHears = "referee.standings.ack"
)

// refereeChecks are in the order in which they are made: what others build on
// comes first, and what ends the league last.
func refereeChecks() []Check {
	checks := slices.Concat(
		refereeRegistrationChecks(), roundChecks(), askingChecks(), turnChecks(), resultChecks(), reportChecks(),
		replyChecks(), postedChecks(), retryChecks(), faultChecks(), deadlineChecks(), believingChecks(), frameChecks(), burdenChecks(),
		refereeHostileChecks(), refereeEndChecks(),
	)
	return checks
}

// duelCheck is a check that looks at matches.
func duelCheck(name string, level Level, rule, advice string, run func(p refereeT)) Check {
	return Check{ID: "referee." + name, Level: level, Needs: []string{refereePlays}, Rule: rule, Advice: advice, run: forReferee(run)}
}

// roundChecks are about what the manager announces.
func roundChecks() []Check {
	acked := func(name string, t protocol.Type, m func(p refereeT) protocol.Message) Check {
		about, _ := protocol.Describe(t)
		return Check{
			ID: "referee." + name + ".ack", Level: Should,
			Rule:   string(t) + " is answered by " + string(about.Answer) + ", within 10 s.",
			Advice: "Answer with the acknowledgement, and do what is to be done afterwards; take by message_type whatever the method is called.",
			run: forReferee(func(p refereeT) {
				p.needsRegistration()
				p.accepted(p.send(m(p)), about.Answer)
			}),
		}
	}
	return []Check{
		{
			ID: refereePlays, Level: Must,
			Rule:   "A referee plays the matches that ROUND_ANNOUNCEMENT gives it: it invites both players, calls on both for a choice, sends GAME_OVER to both and reports to the manager (league.v2, flow).",
			Advice: "Take from matches those whose referee_id or referee_endpoint is your own, and speak to the players at player_A_endpoint and player_B_endpoint.",
			run: forReferee(func(p refereeT) {
				p.needsRegistration()
				d := p.scene("win")
				for _, t := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall} {
					p.one(d, t, sideA)
					p.one(d, t, sideB)
				}
			}),
		},
		acked("round", protocol.TypeRoundAnnouncement, func(p refereeT) protocol.Message { return p.announcement(p.duel(plan{})) }),
		acked("standings", protocol.TypeLeagueStandingsUpdate, func(p refereeT) protocol.Message { return p.standings(0) }),
		acked("roundend", protocol.TypeRoundCompleted, func(p refereeT) protocol.Message {
			one, none := protocol.Some(1), protocol.Some(0)
			return &protocol.RoundCompleted{
				Header: p.fromManager(protocol.TypeRoundCompleted, 1), MatchesCompleted: one, MatchesPlayed: one, NextRoundID: protocol.RoundNumber(2),
				Summary: &protocol.RoundSummary{TotalMatches: one, Wins: one, Draws: none, TechnicalLosses: none},
			}
		}),
		duelCheck("round.others", Must, "Matches of other referees are left alone (ROUND_ANNOUNCEMENT).",
			"Compare referee_id with the id that the manager gave, before a match is begun.",
			func(p refereeT) {
				d := p.duel(plan{})
				m := p.announcement(d)
				m.Matches[0].RefereeID, m.Matches[0].RefereeEndpoint = p.another(), p.manager.url
				p.send(m)
				p.leavesAlone(d)
			}),
		duelCheck("round.again", Must, "A round that is announced again is not played again: the manager may have lost the acknowledgement (league.v2, flow).",
			"Keep the matches by match_id, and begin each once.", announcedTwice),
	}
}

// another is the id of another referee.
func (p refereeT) another() string {
	if p.id == otherReferee {
		return ownReferee
	}
	return otherReferee
}

// leavesAlone ends the check if a match is begun that is not to be. A match
// that is announced afterwards, and is played, says how long that would take.
func (p refereeT) leavesAlone(d *duel) {
	evidence := p.evidence
	p.played(plan{})
	if begun := p.all(d, ""); len(begun) > 0 {
		p.evidence = evidence
		p.show(begun[0])
		p.Fail("match %s is played: %s came for it", d.id, begun[0].Type)
	}
}

func announcedTwice(p refereeT) {
	d := p.played(plan{})
	p.send(p.announcement(d))
	p.played(plan{})
	for _, who := range []int{sideA, sideB} {
		if list := p.all(d, protocol.TypeGameInvitation, who); len(list) > 1 {
			p.show(list[1])
			p.Fail("match %s was announced again when it was over, and player %s was invited again", d.id, playerIDs[who])
		}
	}
}

// standings are those of the players, of whom the first has so many wins.
func (p refereeT) standings(wins int) *protocol.LeagueStandingsUpdate {
	list := standings(playerIDs[:]...)
	list[0].Wins, list[0].Played, list[0].Points = protocol.Some(wins), protocol.Some(wins+1), 3*wins+1
	return &protocol.LeagueStandingsUpdate{Header: p.fromManager(protocol.TypeLeagueStandingsUpdate, 1), Standings: list}
}

// scenes are the matches that several checks look at, by how they go.
func scenes() map[string]plan {
	return map[string]plan{
		"win":      {},
		"draw":     {choose: [2]reaction{choosing(protocol.Odd), choosing(protocol.Odd)}},
		"declined": {join: [2]reaction{declines}},
		"invalid":  {choose: [2]reaction{choosing(protocol.Even, with("parity_choice", "EVEN"))}},
		"both":     {join: [2]reaction{declines, declines}},
		"busy":     {join: [2]reaction{firstly(1, turnsAway, joining())}, choose: [2]reaction{sideB: firstly(1, turnsAway, choosing(protocol.Odd))}},
		"spent":    {join: [2]reaction{turnsAway}},
		"silent":   {join: [2]reaction{never}},
		"mute":     {choose: [2]reaction{never}},
		"deaf":     {over: [2]reaction{turnsAway}},
		"whole":    {choose: [2]reaction{firstly(1, inTime, choosing(protocol.Even))}},
		"late":     {choose: [2]reaction{tooLate}},
	}
}

// groups are scenes in which the referee has to wait. Those of one group are
// played at the same time.
func groups() [][]string { return [][]string{{"spent", "deaf"}, {"silent", "mute", "whole", "late"}} }

// scene returns a match, once it is over.
func (p refereeT) scene(name string) *duel {
	d := p.stage(name)
	p.ends(d)
	return d
}

// stage returns a match that is under way, or over.
func (p refereeT) stage(name string) *duel {
	p.mu.Lock()
	d := p.scenes[name]
	p.mu.Unlock()
	if d != nil {
		return d
	}
	names := []string{name}
	for _, group := range groups() {
		if slices.Contains(group, name) {
			names = group
		}
	}
	var plans []plan
	for _, name := range names {
		plans = append(plans, scenes()[name])
	}
	all := p.together(plans...)
	p.mu.Lock()
	for i, name := range names {
		p.scenes[name] = all[i]
	}
	d = p.scenes[name]
	p.mu.Unlock()
	p.send(p.announcement(all...))
	return d
}

// begunWithin waits until a match has come to something that has to do with the
// referee's own deadlines, which may be longer than anybody wants to wait.
func (p refereeT) begunWithin(holds func() bool) {
	p.mu.Lock()
	quiet := time.Since(p.lastHeard)
	p.mu.Unlock()
	if !p.until(p.patience()-quiet, holds) {
		p.tooLong()
	}
}

// tooLong leaves a check out for which nobody wants to wait.
func (p refereeT) tooLong() {
	p.Skip("nothing happened within %v: the referee's deadlines are longer than that; set short ones on it, or give a longer --timeout", p.patience().Round(time.Second))
}
