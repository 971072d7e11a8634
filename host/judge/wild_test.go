package judge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// post makes the answers to calls for choices in a match requests of their own, which
// arrive two seconds after the call.
func (b *book) post(match string) {
	b.t.Helper()
	for _, x := range slices.Clone(b.xs) {
		call, ok := x.Request.(*protocol.ChooseParityCall)
		if !ok || x.Match != match {
			continue
		}
		posted := *x
		posted.Type, posted.Request, posted.Answer = protocol.TypeChooseParityResponse, x.Answer, nil
		posted.Sent, posted.Peer, posted.Sender = false, "192.0.2.7:4242", "player:"+call.PlayerID
		posted.At = x.At.Add(2 * time.Second)
		x.Answer = nil
		b.xs = slices.Insert(b.xs, slices.Index(b.xs, x)+1, &posted)
	}
}

// personal words the result of a match for its receiver, flat and without a winner.
func (b *book) personal(match, to, words string) {
	b.t.Helper()
	m := b.over(match, to)
	g := m.GameResult
	m.Result, m.GameResult = words, &protocol.GameResult{ResultDetails: protocol.ResultDetails{DrawnNumber: g.DrawnNumber, Choices: g.Choices}}
}

// Leagues of programs with other habits are judged like ours: what they write is
// honest, and a number that they change is found.
func TestOtherHabitsAreJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		habit  func(b *book)
		choice int // what is examined of choices and of scoring
		score  int
	}{
		{"choices are posted", func(b *book) { b.post("R1M1") }, 18, 9},
		{"joins are posted", func(b *book) {
			for _, p := range []string{"P01", "P02"} {
				x, _ := find[*protocol.GameInvitation](b, "R1M1", p)
				posted := *x
				posted.Type, posted.Request, posted.Answer, posted.Sent = protocol.TypeGameJoinAck, x.Answer, nil, false
				x.Answer = nil
				b.xs = slices.Insert(b.xs, slices.Index(b.xs, x)+1, &posted)
			}
		}, 18, 9},
		{"the loser is told LOSS", func(b *book) { b.personal("R1M1", "P02", "loss") }, 18, 9},
		{"the winner is told WIN", func(b *book) { b.personal("R1M1", "P01", "Win") }, 18, 9},
		{"a tie is a TIE", func(b *book) { b.personal("R2M1", "P03", "TIE") }, 18, 9},
		{"the winner of a tie is called none", func(b *book) {
			b.over("R2M1", "P03").GameResult.WinnerPlayerID = some("none")
			b.report("R2M1").Result.Winner = some("DRAW")
		}, 18, 9},
		{"words of its own", func(b *book) { b.personal("R1M1", "P01", "VICTORY") }, 18, 8},
		{"reports without details", func(b *book) { b.report("R1M1").Result.Details = nil }, 16, 8},
		{"every round is round 1", func(b *book) {
			for _, x := range b.xs {
				x.Request.Head().RoundID = protocol.RoundNumber(1)
			}
		}, 18, 9},
		{"no score", func(b *book) { b.report("R1M1").Result.Score = nil }, 18, 9},
		{"the schedule is asked for", func(b *book) {
			b.dropType(protocol.TypeRoundAnnouncement, "")
			b.say("P01", "manager", "league_query_schedule", nil, nil)
			x := b.xs[len(b.xs)-1]
			b.xs = slices.Insert(b.xs[:len(b.xs)-1], 0, x.WithAnswer(200, b.schedule()))
		}, 18, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := write(t, false)
			c.habit(b)
			r := one(t, b.xs)
			if diff := cmp.Diff(map[string][]string{}, findings(r)); diff != "" {
				t.Errorf("an honest league has findings (-want +got)\n%s", diff)
			}
			if got := [2]int{check(t, r, "choices").Examined, check(t, r, "scoring").Examined}; got != [2]int{c.choice, c.score} {
				t.Errorf("%v choices and results are examined, want %v", got, [2]int{c.choice, c.score})
			}
			b.over("R3M1", "P03").GameResult.DrawnNumber = some(4)
			if got := finding(one(t, b.xs)); !slices.Equal(got, []string{"numbers", "scoring", "same-result"}) {
				t.Errorf("a changed number breaks %v", got)
			}
		})
	}
}

// Other rules than those of the protocol are reported as such, once, and the league is
// judged by them: who keeps them breaks nothing, and who breaks them is found.
func TestOtherRulesAreNoViolations(t *testing.T) {
	t.Parallel()
	tables := func(b *book, change func(rows []protocol.Standing)) {
		for _, x := range b.xs {
			switch m := x.Request.(type) {
			case *protocol.LeagueStandingsUpdate:
				change(m.Standings)
			case *protocol.LeagueCompleted:
				change(m.FinalStandings)
			}
		}
	}
	numbers := func(b *book, change func(n int) int) {
		for _, x := range b.xs {
			switch m := x.Request.(type) {
			case *protocol.GameOver:
				m.GameResult.DrawnNumber = some(change(m.GameResult.DrawnNumber.Value()))
			case *protocol.MatchResultReport:
				m.Result.Details.DrawnNumber = some(change(m.Result.Details.DrawnNumber.Value()))
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(b *book)
		says   map[string][]string
		cheat  func(b *book)
		finds  []string
	}{
		{"numbers up to 100", func(b *book) { numbers(b, func(n int) int { return 10*n + n%2 }) }, map[string][]string{
			"numbers": {"another rule: the numbers come from 31 to 80; the protocol draws from 1 to 10"},
		}, func(b *book) { b.over("R3M1", "P03").GameResult.DrawnNumber = some(40) }, []string{"numbers", "scoring", "same-result"}},
		{"two points for a win", func(b *book) {
			for _, m := range season {
				for id, p := range b.report(m.id).Result.Score {
					b.report(m.id).Result.Score[id] = min(p, 2)
				}
			}
			tables(b, func(rows []protocol.Standing) {
				for i := range rows {
					rows[i].Points -= rows[i].Wins.Value()
				}
			})
		}, map[string][]string{
			"scoring":   {"another rule: results give 2 for a win, 1 for a tie and 0 for a loss; the protocol 3 for a win, 1 for a tie and 0 for a loss"},
			"standings": {"another rule: the table counts 2 for a win, 1 for a tie and 0 for a loss; the protocol 3 for a win, 1 for a tie and 0 for a loss"},
		}, func(b *book) { b.standings("1")[0].Points = 3 }, []string{"scoring", "standings"}},
		{"no points for a win that is a walkover", func(b *book) {
			for _, to := range []string{"P01", "P02"} {
				r := b.over("R1M1", to).GameResult
				r.Status, r.TechnicalLossPlayerIDs, r.DrawnNumber, r.NumberParity = protocol.StatusTechnicalLoss, []string{"P02"}, protocol.Null[int](), protocol.Null[string]()
			}
			r := &b.report("R1M1").Result
			r.Score = map[string]int{"P01": 0, "P02": 0}
			r.Details.Status, r.Details.TechnicalLossPlayerIDs, r.Details.DrawnNumber = protocol.StatusTechnicalLoss, []string{"P02"}, protocol.Null[int]()
			b.dropType(protocol.TypeChooseParityCall, "R1M1")
			tables(b, func(rows []protocol.Standing) {
				for i := range rows {
					if rows[i].PlayerID == "P01" {
						rows[i].Points -= 3
					}
					rows[i].Rank = 0
				}
			})
		}, map[string][]string{
			"scoring": {"another rule: technical losses give other points"},
		}, func(b *book) { b.standings("3")[2].Points = 9 }, []string{"scoring", "standings"}},
		{"ranks by wins", func(b *book) {
			end := b.end()
			for i := range end.FinalStandings {
				end.FinalStandings[i].Rank += 2
			}
			end.FinalStandings = append(end.FinalStandings,
				protocol.Standing{Rank: 1, PlayerID: "P04", Wins: some(3), Draws: some(0), Losses: some(3), Points: 9},
				protocol.Standing{Rank: 2, PlayerID: "P05", Wins: some(2), Draws: some(4), Losses: some(0), Points: 10})
			end.Champion.PlayerID, end.TotalMatches = "P04", protocol.Opt[int]{}
		}, map[string][]string{
			"ranks": {"another rule: ranks follow the wins, not the points"},
		}, func(b *book) { b.end().FinalStandings[2].Rank = 1 }, []string{"ranks"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := write(t, false)
			c.change(b)
			if diff := cmp.Diff(c.says, findings(one(t, b.xs))); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
			c.cheat(b)
			outcomes := one(t, b.xs)
			if got := finding(outcomes); !slices.Equal(got, c.finds) || !slices.ContainsFunc(outcomes, func(o judge.Outcome) bool { return o.Answer == judge.Broken }) {
				t.Errorf("who breaks it is found by %v, want %v: %v", got, c.finds, findings(outcomes))
			}
		})
	}
}

// asked has a player ask for the table after a round, and returns its first row, which
// the test may change.
func (b *book) asked(round string) *protocol.Standing {
	b.t.Helper()
	_, m := find[*protocol.LeagueStandingsUpdate](b, round, "P01")
	rows := slices.Clone(m.Standings)
	b.after(round, "P01", "league_query", doc{"query_type": protocol.QueryStandings}).Answer = &protocol.LeagueQueryResponse{QueryType: protocol.QueryStandings, Standings: rows}
	return &rows[0]
}

// roundEnd has the manager end a round of one match after its table.
func (b *book) roundEnd(round string, summary doc) {
	b.t.Helper()
	b.after(round, "manager", "round_completed", doc{"round_id": round, "matches_completed": 1, "matches_played": 1, "summary": summary})
}

// after inserts a message after the table of a round.
func (b *book) after(round, agent, example string, members doc) *trace.Exchange {
	b.t.Helper()
	table, _ := find[*protocol.LeagueStandingsUpdate](b, round, "P01")
	b.say(agent, "P01", example, members, nil)
	x := b.xs[len(b.xs)-1]
	b.xs = slices.Insert(b.xs[:len(b.xs)-1], slices.Index(b.xs, table)+1, x)
	return x
}

// schedule is the manager's answer to a query for the schedule.
func (b *book) schedule() []byte {
	b.t.Helper()
	answer := b.example("league_query_response_schedule")
	var rounds []doc
	for _, m := range season {
		rounds = append(rounds, doc{"round_id": m.round, "byes": []string{}, "matches": []doc{{
			"match_id": m.id, "game_type": "even_odd", "player_A_id": m.players[0], "player_B_id": m.players[1], "status": "PENDING",
		}}})
	}
	result := answer["result"].(doc)
	result["league_id"], result["data"] = "cup", doc{"total_rounds": 3, "rounds": rounds}
	return b.json(answer)
}

// A posted choice counts unless the referee refused it.
func TestRefusedChoiceIsNoAnswer(t *testing.T) {
	t.Parallel()
	b := write(t, false)
	b.post("R1M1")
	for _, x := range b.xs {
		if x.Type == protocol.TypeChooseParityResponse && x.Sender == "player:P01" {
			x.Refused = errors.New("E001 TIMEOUT_ERROR")
		}
	}
	got := check(t, one(t, b.xs), "choices")
	if got.Examined != 15 || got.Unknown != 3 || len(got.Findings) > 0 {
		t.Errorf("%d choices are examined and %d unknown, want 15 and 3: %v", got.Examined, got.Unknown, got.Findings)
	}
}

// A match that begins again, as after the death of its referee, is a match of its
// own: the two results are not compared, and no table is compared with either.
func TestMatchThatBeginsAgain(t *testing.T) {
	t.Parallel()
	b := write(t, false)
	first := slices.IndexFunc(b.xs, func(x *trace.Exchange) bool { return x.Match == "R1M1" })
	last := slices.IndexFunc(b.xs, func(x *trace.Exchange) bool { return x.Type == protocol.TypeMatchResultReport })
	again := write(t, false)
	for _, p := range []string{"P01", "P02"} {
		r := again.over("R1M1", p).GameResult
		r.DrawnNumber, r.NumberParity, r.WinnerPlayerID = some(9), some("odd"), some("P02")
	}
	d := &again.report("R1M1").Result
	d.Winner, d.Score, d.Details.DrawnNumber, d.Details.NumberParity = some("P02"), map[string]int{"P01": 0, "P02": 3}, some(9), some("odd")
	b.xs = slices.Insert(b.xs, last+1, again.xs[first:last+1]...)
	r := one(t, b.xs)
	if diff := cmp.Diff(map[string][]string{}, findings(r)); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	if n := judge.Divide(b.xs)[0].Decided(); n != 4 || check(t, r, "same-result").Examined != 8 {
		t.Errorf("%d matches, %d comparisons; want 4 and 8", n, check(t, r, "same-result").Examined)
	}
	if got := check(t, r, "standings"); got.Examined != 4 {
		t.Errorf("%d rows are examined, want those of P03 in four tables", got.Examined)
	}
	var numbers []int
	for _, d := range judge.Divide(b.xs)[0].Draws() {
		numbers = append(numbers, d.Number)
	}
	if want := []int{8, 9, 7, 3}; !slices.Equal(numbers, want) {
		t.Errorf("the drawn numbers are %v, want %v", numbers, want)
	}
}

// A referee that lost its data begins a match again and has lost the key; nobody can know
// whether it disliked the number.
func TestCommitmentOfAMatchThatBeginsAgain(t *testing.T) {
	t.Parallel()
	lost := write(t, true)
	lost.drop(func(x *trace.Exchange) bool {
		return x.Match != "R1M1" || x.Request.Head().MessageType == protocol.TypeGameOver || x.Agent != "REF01"
	})
	lost.dropType(protocol.TypeMatchResultReport, "")
	for _, p := range []string{"P01", "P02"} {
		_, call, _ := lost.call("R1M1", p)
		call.DrawCommitment = strings.Repeat("00", 32)
	}
	b := write(t, true)
	b.xs = slices.Insert(b.xs, 1, lost.xs...)
	r := one(t, b.xs)
	if got := check(t, r, "commitments"); len(findings(r)) > 0 || got.Unknown != 1 || got.Examined != 2 {
		t.Errorf("%+v; findings %v", got.Verdict, findings(r))
	}
	again := slices.IndexFunc(b.xs[5:], func(x *trace.Exchange) bool { return x.Type == protocol.TypeGameInvitation }) + 5
	b.xs = slices.Delete(b.xs, again, again+2) // a second commitment without that
	if got := finding(one(t, b.xs)); !slices.Equal(got, []string{"commitments"}) {
		t.Errorf("a second commitment is found by %v", got)
	}
}

// A league may number the matches of each round from 1 again; who records only its own
// matches does not see the others end.
func TestIdsOfAnEarlierRound(t *testing.T) {
	t.Parallel()
	b := write(t, false)
	b.drop(func(x *trace.Exchange) bool { return x.Agent == "REF01" && x.Peer != endpoint("P03") })
	for _, x := range b.xs {
		if a, ok := x.Request.(*protocol.RoundAnnouncement); ok {
			a.Matches[0].MatchID = "M1"
		}
		if x.Match != "" {
			x.Match, x.Request.Head().MatchID = "M1", "M1"
		}
	}
	if got := findings(one(t, b.xs)); len(got) > 0 || judge.Divide(b.xs)[0].Decided() != 2 {
		t.Errorf("%d matches; findings %v", judge.Divide(b.xs)[0].Decided(), got)
	}
}
