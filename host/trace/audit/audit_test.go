package audit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/trace/audit"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// recorded plays a league of five over two legs and returns what the agents
// whose names begin so have seen of it.
func recorded(t *testing.T, agents string) []*trace.Exchange {
	t.Helper()
	path := filepath.Join(t.TempDir(), "league.jsonl")
	rec, err := trace.Create(path, trace.Head{Command: "test"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	l := &host.League{
		Network:  new(host.Memory),
		Manager:  manager.Config{LeagueID: "cup", Players: 5, Legs: 2, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{{Concurrent: 4}},
		Tap: func(agent string) jsonrpc.Tap {
			if strings.HasPrefix(agent, agents) {
				return rec.Tap(agent)
			}
			return nil
		},
	}
	for i := range 5 {
		f := builtin.All()[i]
		if i == 4 {
			f = broken{f}
		}
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{Factory: f, Name: f.Info().Name}})
	}
	if _, err := l.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, err := trace.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return read.Exchanges
}

// broken is a strategy that fails in every other match, so that the league has
// technical losses.
type broken struct{ strategies.Factory }

func (b broken) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	inner, err := b.Factory.New(ctx, s)
	return &faulty{Strategy: inner}, err
}

type faulty struct {
	strategies.Strategy
	calls int
}

func (f *faulty) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if f.calls++; f.calls%2 == 0 {
		return 0, errors.New("out of ideas")
	}
	return f.Strategy.Choose(ctx, t)
}

// one returns the audit of the only league in a recording.
func one(t *testing.T, exchanges []*trace.Exchange) audit.Report {
	t.Helper()
	leagues := audit.Leagues(exchanges)
	if len(leagues) != 1 {
		t.Fatalf("the recording is divided into %d leagues, want 1", len(leagues))
	}
	return leagues[0].Audit()
}

func brokenIDs(r audit.Report) []string {
	var ids []string
	for _, c := range r.Broken() {
		ids = append(ids, c.ID)
	}
	return ids
}

// An honest league passes, whoever recorded it, and every check has had
// something to look at.
func TestHonestLeague(t *testing.T) {
	t.Parallel()
	for agents, want := range map[string]struct{ matches, draws int }{"": {20, 16}, "manager": {20, 16}, "REF": {20, 16}, "P01": {8, 8}} {
		exchanges := recorded(t, agents)
		r := one(t, exchanges)
		for _, c := range r.Checks {
			if !c.Holds() {
				t.Errorf("recorded by %q: %s does not hold: %v", agents, c.ID, c.Findings)
			}
			blind := c.ID == "deadlines" || agents == "manager" && slices.Contains([]string{"choices", "offences", "same-result"}, c.ID) ||
				agents == "REF" && slices.Contains([]string{"standings", "champion"}, c.ID) || agents == "P01" && c.ID == "same-result"
			if c.Examined == 0 && !blind {
				t.Errorf("recorded by %q: %s had nothing to look at", agents, c.ID)
			}
		}
		if r.Matches != want.matches {
			t.Errorf("recorded by %q: %d results, want %d", agents, r.Matches, want.matches)
		}
		if n := len(audit.Leagues(exchanges)[0].Draws()); n != want.draws {
			t.Errorf("recorded by %q: %d draws, want %d", agents, n, want.draws)
		}
	}
}

// Every kind of foul play is found, and by the check that is there for it.
func TestFoulPlay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		foul  func(*testing.T, []*trace.Exchange) []*trace.Exchange
		finds []string
	}{
		{"choices altered after the draw", alteredChoices, []string{"choices"}},
		{"a number that is called even and is odd", wrongParity, []string{"numbers"}},
		{"a number out of range", outOfRange, []string{"numbers"}},
		{"the loser wins", loserWins, []string{"scoring", "standings"}},
		{"two stories of one match", twoStories, []string{"same-result"}},
		{"a technical loss for somebody who answered", framed, []string{"offences", "standings"}},
		{"late before the deadline", early, []string{"deadlines"}},
		{"a gift of points", gift, []string{"standings"}},
		{"another champion", otherChampion, []string{"champion"}},
		{"a rematch instead of a match", rematch, []string{"schedule"}},
		{"a match that nobody announced", unannounced, []string{"schedule", "unexpected"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := one(t, c.foul(t, recorded(t, "")))
			if got := brokenIDs(r); !slices.Equal(got, c.finds) {
				t.Errorf("found %v, want %v: %+v", got, c.finds, r.Broken())
			}
		})
	}
}

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

// Two leagues of one name, one after the other, are two.
func TestLeaguesAreDivided(t *testing.T) {
	t.Parallel()
	xs := append(recorded(t, "P01"), recorded(t, "P01")...)
	if n := len(audit.Leagues(xs)); n != 2 {
		t.Errorf("divided into %d leagues, want 2", n)
	}
}
