package judge_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// tellings returns the tellings of the first match that ended so: the results
// in GAME_OVER and the report.
func tellings(t *testing.T, exchanges []*trace.Exchange, status string) (overs []*protocol.GameOver, reports []*protocol.MatchResultReport) {
	t.Helper()
	match := ""
	for _, x := range exchanges {
		switch m := x.Request.(type) {
		case *protocol.GameOver:
			if match == "" && m.GameResult.Status == status {
				match = m.MatchID
			}
			if m.MatchID == match {
				overs = append(overs, m)
			}
		case *protocol.MatchResultReport:
			if m.MatchID == match {
				reports = append(reports, m)
			}
		}
	}
	if len(overs) < 2 || len(reports) < 1 {
		t.Fatalf("the league has no match that ended with %s", status)
	}
	return overs, reports
}

func other(c protocol.Choice) protocol.Choice {
	if c == protocol.Even {
		return protocol.Odd
	}
	return protocol.Even
}

// alteredChoices turns both choices and the number round in all accounts: the
// result stays.
func alteredChoices(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	overs, reports := tellings(t, xs, protocol.StatusWin)
	turn := func(choices map[string]protocol.Choice, number *protocol.Opt[int], parity *protocol.Opt[string]) {
		for p, c := range choices {
			choices[p] = other(c)
		}
		*number = protocol.Some(number.Value()%10 + 1)
		*parity = protocol.Some(string(other(protocol.Choice(parity.Value()))))
	}
	for _, m := range overs {
		turn(m.GameResult.Choices, &m.GameResult.DrawnNumber, &m.GameResult.NumberParity)
	}
	for _, m := range reports {
		turn(m.Result.Details.Choices, &m.Result.Details.DrawnNumber, &m.Result.Details.NumberParity)
	}
	return xs
}

func wrongParity(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	overs, _ := tellings(t, xs, protocol.StatusWin)
	p := &overs[0].GameResult.NumberParity
	*p = protocol.Some(string(other(protocol.Choice(p.Value()))))
	return xs
}

func outOfRange(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	overs, reports := tellings(t, xs, protocol.StatusWin)
	for _, m := range overs {
		m.GameResult.DrawnNumber = protocol.Some(m.GameResult.DrawnNumber.Value() + 10)
	}
	for _, m := range reports {
		m.Result.Details.DrawnNumber = protocol.Some(m.Result.Details.DrawnNumber.Value() + 10)
	}
	return xs
}

func loserWins(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	overs, reports := tellings(t, xs, protocol.StatusWin)
	winner := overs[0].GameResult.WinnerPlayerID.Value()
	loser := ""
	for p := range overs[0].GameResult.Choices {
		if p != winner {
			loser = p
		}
	}
	for _, m := range overs {
		m.GameResult.WinnerPlayerID = protocol.Some(loser)
	}
	for _, m := range reports {
		m.Result.Winner = protocol.Some(loser)
		m.Result.Score = map[string]int{loser: 3, winner: 0}
	}
	return xs
}

func twoStories(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	overs, _ := tellings(t, xs, protocol.StatusDraw)
	n := overs[1].GameResult.DrawnNumber.Value()
	overs[1].GameResult.DrawnNumber = protocol.Some((n+1)%10 + 1) // the same parity
	return xs
}

func framed(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	overs, reports := tellings(t, xs, protocol.StatusDraw)
	var players []string
	for p := range overs[0].GameResult.Choices {
		players = append(players, p)
	}
	slices.Sort(players)
	for _, m := range overs {
		m.GameResult.Status, m.GameResult.WinnerPlayerID = protocol.StatusTechnicalLoss, protocol.Some(players[0])
		m.GameResult.DrawnNumber, m.GameResult.NumberParity = protocol.Null[int](), protocol.Null[string]()
		m.GameResult.TechnicalLossPlayerIDs = players[1:]
	}
	for _, m := range reports {
		m.Result.Winner, m.Result.Score = protocol.Some(players[0]), nil
		m.Result.Details.Status, m.Result.Details.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, players[1:]
		m.Result.Details.DrawnNumber, m.Result.Details.NumberParity = protocol.Null[int](), protocol.Null[string]()
	}
	return xs
}

func early(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	for i, x := range xs {
		call, ok := x.Request.(*protocol.ChooseParityCall)
		if !ok {
			continue
		}
		e := &protocol.GameError{ErrorCode: string(protocol.CodeTimeout), AffectedPlayer: call.PlayerID}
		e.MatchID, e.Timestamp = call.MatchID, call.Timestamp
		said := *x
		said.Type, said.Request, said.Answer = protocol.TypeGameError, e, nil
		return slices.Insert(xs, i+1, &said)
	}
	t.Fatal("nobody was asked")
	return nil
}

func final(t *testing.T, xs []*trace.Exchange) []*protocol.LeagueCompleted {
	t.Helper()
	var all []*protocol.LeagueCompleted
	for _, x := range xs {
		if m, ok := x.Request.(*protocol.LeagueCompleted); ok {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		t.Fatal("the league is not complete")
	}
	return all
}

func gift(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	for _, m := range final(t, xs) {
		m.FinalStandings[0].Points++
	}
	return xs
}

func otherChampion(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	for _, m := range final(t, xs) {
		m.Champion.PlayerID = m.FinalStandings[1].PlayerID
	}
	return xs
}

// rematch has the announcements say that the two who meet in R2M1 meet a third
// time in R1M1, of which nothing else was recorded.
func rematch(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	extra := protocol.AnnouncedMatch{}
	for _, x := range xs {
		if m, ok := x.Request.(*protocol.RoundAnnouncement); ok && m.RoundID.Number() == 2 {
			extra = m.Matches[0]
		}
	}
	extra.MatchID = "R99M1"
	for i, x := range xs {
		if m, ok := x.Request.(*protocol.RoundAnnouncement); ok && m.RoundID.Number() == 10 {
			a := *m
			a.RoundID, a.Matches = protocol.RoundNumber(99), []protocol.AnnouncedMatch{extra}
			said := *x
			said.Request = &a
			return slices.Insert(xs, i, &said)
		}
	}
	t.Fatal("no tenth round was announced")
	return nil
}

func unannounced(t *testing.T, xs []*trace.Exchange) []*trace.Exchange {
	for _, x := range xs {
		if m, ok := x.Request.(*protocol.RoundAnnouncement); ok && m.RoundID.Number() == 3 {
			m.Matches = slices.DeleteFunc(m.Matches, func(a protocol.AnnouncedMatch) bool { return a.MatchID == "R3M1" })
		}
	}
	return xs
}
