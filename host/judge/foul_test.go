package judge_test

import (
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
