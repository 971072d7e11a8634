package judge_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// findings returns what rules found.
func findings(outcomes []judge.Outcome) map[string][]string {
	all := map[string][]string{}
	for _, o := range outcomes {
		for _, f := range o.Findings {
			text := f.Text
			if f.Answer != judge.Broken {
				text = string(f.Answer) + ": " + text
			}
			all[o.ID] = append(all[o.ID], text)
		}
	}
	return all
}

func check(t *testing.T, all []judge.Outcome, id string) judge.Outcome {
	t.Helper()
	i := slices.IndexFunc(all, func(o judge.Outcome) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("there is no rule %s", id)
	}
	return all[i]
}

// An honest league shows no finding and leaves nothing unjudged, and each rule has
// been checked on all there is of it.
func TestBookIsHonest(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		examined := map[string]int{
			"choices": 18, "numbers": 9, "scoring": 9, "same-result": 6, "offences": 18, "deadlines": 0,
			"standings": 12, "ranks": 4, "ties": 12, "champion": 1, "schedule": 3, "byes": 3, "totals": 1, "unexpected": 3, "commitments": 0, "draws": 3,
		}
		if sealed {
			examined["commitments"], examined["draws"] = 3, 0
		}
		xs := write(t, sealed).xs
		got := map[string]int{}
		for _, c := range one(t, xs) {
			got[c.ID] = c.Examined
			if len(c.Findings) > 0 || c.Unknown > 0 {
				t.Errorf("sealed %t: %s has findings %v and misses %v", sealed, c.ID, c.Findings, c.Missing)
			}
		}
		if diff := cmp.Diff(examined, got); diff != "" {
			t.Errorf("sealed %t: examined (-want +got)\n%s", sealed, diff)
		}
		l := judge.Divide(xs)[0]
		if l.ID != "cup" || l.Decided() != 3 {
			t.Errorf("the league is %q with %d matches", l.ID, l.Decided())
		}
		for _, d := range l.Draws() {
			if d.Verified != sealed {
				t.Errorf("sealed %t: %+v", sealed, d)
			}
		}
	}
}

// violation is one breach of a rule in an otherwise honest league, and all that the
// audit has to find of it.
type violation struct {
	name  string
	plant func(b *book)
	finds map[string][]string
}

// Every violation is found, and nothing else, those in results also if no message between
// referee and players says whom it is from or for. And every rule finds one that no other
// finds, but for draws, of which this judges none.
func TestEveryViolation(t *testing.T) {
	t.Parallel()
	alone := map[string]bool{"draws": true}
	plant := func(sealed, anonymous bool, all []violation) {
		for _, v := range all {
			if len(v.finds) == 1 {
				for id := range v.finds {
					alone[id] = true
				}
			}
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				b := write(t, sealed)
				v.plant(b)
				want := maps.Clone(v.finds)
				if anonymous {
					b.anonymize()
					delete(want, "offences") // nobody has to take an answer without a name
				}
				if diff := cmp.Diff(want, findings(one(t, b.xs))); diff != "" {
					t.Errorf("findings (-want +got)\n%s", diff)
				}
			})
		}
	}
	plant(false, false, slices.Concat(inResults, ofTimeAndTables, ofTheSchedule))
	plant(true, false, ofCommitments())
	plant(false, true, inResults)
	for _, r := range rules {
		if !alone[r.ID] {
			t.Errorf("no violation is found by %s alone", r.ID)
		}
	}
}

func some[T any](v T) protocol.Opt[T] { return protocol.Some(v) }

var inResults = []violation{
	{"a number below the range", func(b *book) {
		for _, to := range []string{"P01", "P03"} {
			b.over("R2M1", to).GameResult.DrawnNumber = some(-3)
		}
		b.report("R2M1").Result.Details.DrawnNumber = some(-3)
	}, map[string][]string{
		"numbers": {
			"another rule: the numbers come from -3 to 8; the protocol draws from 1 to 10",
		},
	}},
	{"a number in a technical loss", func(b *book) {
		b.dropType(protocol.TypeChooseParityCall, "R1M1")
		for _, to := range []string{"P01", "P02"} {
			r := b.over("R1M1", to).GameResult
			r.Status, r.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, []string{"P02"}
		}
		d := b.report("R1M1").Result.Details
		d.Status, d.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, []string{"P02"}
	}, map[string][]string{
		"numbers": {
			"another rule: a technical loss has a number, such as that of R1M1",
		},
		"ties": {"another rule: P02 ranks above P03 with as many points; by wins, points among them, technical losses and number it is the other way round"},
	}},
	{"a parity that is not the number's, told to one", func(b *book) {
		b.over("R1M1", "P02").GameResult.NumberParity = some("odd")
	}, map[string][]string{
		"numbers": {"R1M1: P02 received that 8 is odd"},
	}},
	{"a winner from another match", func(b *book) {
		b.over("R1M1", "P02").GameResult.WinnerPlayerID = some("P03")
	}, map[string][]string{
		"scoring": {"R1M1: the result that P02 received contradicts itself: the winner P03 is neither P01 nor P02"},
	}},
	{"a tie that somebody wins", func(b *book) {
		b.over("R2M1", "P03").GameResult.WinnerPlayerID = some("P01")
	}, map[string][]string{
		"scoring": {"R2M1: the result that P03 received contradicts itself: a draw with the winner P01"},
	}},
	{"a winner at fault", func(b *book) {
		r := b.over("R1M1", "P01").GameResult
		r.Status, r.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, []string{"P01"}
		r.DrawnNumber, r.NumberParity = protocol.Null[int](), protocol.Null[string]()
	}, map[string][]string{
		"scoring": {"R1M1: the result that P01 received contradicts itself: P01 wins and is at fault"},
	}},
	{"a win that nobody won", func(b *book) {
		b.report("R1M1").Result.Winner = protocol.Null[string]()
	}, map[string][]string{
		"scoring": {"R1M1: the result that the manager received contradicts itself: a win without a winner"},
	}},
	{"too few points", func(b *book) {
		b.report("R1M1").Result.Score = map[string]int{"P01": 2, "P02": 0}
	}, map[string][]string{
		"scoring": {"R1M1: P01 gets 3 points, but the manager received 2"},
	}},
	{"a tie without points", func(b *book) {
		b.report("R2M1").Result.Score = map[string]int{"P01": 0, "P03": 0}
	}, map[string][]string{
		"scoring": {
			"another rule: results give 3 for a win, 0 for a tie and 0 for a loss; the protocol 3 for a win, 1 for a tie and 0 for a loss",
		},
	}},
	{"a win called a tie", func(b *book) {
		for _, to := range []string{"P01", "P02"} {
			r := b.over("R1M1", to).GameResult
			r.Status, r.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
		}
		d := &b.report("R1M1").Result
		d.Details.Status, d.Winner, d.Score = protocol.StatusDraw, protocol.Null[string](), map[string]int{"P01": 1, "P02": 1}
	}, map[string][]string{
		"scoring": {
			"R1M1: with P01 even, P02 odd and the number 8 the winner is P01, but P01 received nobody",
			"R1M1: with P01 even, P02 odd and the number 8 the winner is P01, but P02 received nobody",
			"R1M1: with P01 even, P02 odd and the number 8 the winner is P01, but the manager received nobody",
		},
		"standings": {
			"the table after round 1: P01 has 1 win, 0 ties, 0 losses and 3 points; its results add up to 0, 1, 0 and 1",
			"the table after round 1: P02 has 0 wins, 0 ties, 1 loss and 0 points; its results add up to 0, 1, 0 and 1",
			"the table after round 2: P01 has 1 win, 1 tie, 0 losses and 4 points; its results add up to 0, 2, 0 and 2",
			"the table after round 2: P02 has 0 wins, 0 ties, 1 loss and 0 points; its results add up to 0, 1, 0 and 1",
			"the table after round 3: P01 has 1 win, 1 tie, 0 losses and 4 points; its results add up to 0, 2, 0 and 2",
			"the table after round 3: P02 has 1 win, 0 ties, 1 loss and 3 points; its results add up to 1, 1, 0 and 4",
			"the final table: P01 has 1 win, 1 tie, 0 losses and 4 points; its results add up to 0, 2, 0 and 2",
			"the final table: P02 has 1 win, 0 ties, 1 loss and 3 points; its results add up to 1, 1, 0 and 4",
		},
	}},
	{"another number for one player", func(b *book) {
		b.over("R1M1", "P02").GameResult.DrawnNumber = some(10)
	}, map[string][]string{
		"same-result": {"R1M1: P01 received WIN, winner P01, number 8; P02 received WIN, winner P01, number 10"},
	}},
	{"another winner for the manager", func(b *book) {
		b.report("R1M1").Result.Winner = some("P02")
	}, map[string][]string{
		"same-result": {"R1M1: P01 received WIN, winner P01, number 8; the manager received WIN, winner P02, number 8"},
		"scoring":     {"R1M1: with P01 even, P02 odd and the number 8 the winner is P01, but the manager received P02"},
	}},
	{"another status for one player", func(b *book) {
		r := b.over("R1M1", "P02").GameResult
		r.Status, r.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, []string{"P02"}
	}, map[string][]string{
		"numbers":     {"another rule: a technical loss has a number, such as that of R1M1"},
		"offences":    {"R1M1: P02 answered odd after 1s and still got a technical loss; the referee's reason: none"},
		"same-result": {"R1M1: P01 received WIN, winner P01, number 8; P02 received TECHNICAL_LOSS, winner P01, number 8"},
	}},
	{"choices and number turned round in all accounts", func(b *book) {
		turned := map[string]protocol.Choice{"P01": protocol.Odd, "P02": protocol.Even}
		for _, to := range []string{"P01", "P02"} {
			r := b.over("R1M1", to).GameResult
			r.Choices, r.DrawnNumber, r.NumberParity = turned, some(9), some("odd")
		}
		d := b.report("R1M1").Result.Details
		d.Choices, d.DrawnNumber, d.NumberParity = turned, some(9), some("odd")
	}, map[string][]string{
		"choices": {
			"R1M1: P01 answered even, but P01 received odd",
			"R1M1: P02 answered odd, but P01 received even",
			"R1M1: P01 answered even, but P02 received odd",
			"R1M1: P02 answered odd, but P02 received even",
			"R1M1: P01 answered even, but the manager received odd",
			"R1M1: P02 answered odd, but the manager received even",
		},
	}},
	{"a choice that the player did not give", func(b *book) {
		b.over("R2M1", "P01").GameResult.Choices["P03"] = protocol.Odd
	}, map[string][]string{
		"choices": {"R2M1: P03 answered even, but P01 received odd"},
		"scoring": {"R2M1: with P01 even, P03 odd and the number 7 the winner is P03, but P01 received nobody"},
	}},
	{"a technical loss of both that answered", func(b *book) {
		for _, to := range []string{"P01", "P02"} {
			r := b.over("R1M1", to).GameResult
			r.Status, r.TechnicalLossPlayerIDs, r.WinnerPlayerID = protocol.StatusTechnicalLoss, []string{"P01", "P02"}, protocol.Null[string]()
			r.DrawnNumber, r.NumberParity, r.Reason = protocol.Null[int](), protocol.Null[string](), "out of time"
		}
		b.dropType(protocol.TypeMatchResultReport, "R1M1")
	}, map[string][]string{
		"offences": {
			"R1M1: P01 answered even after 1s and still got a technical loss; the referee's reason: out of time",
			"R1M1: P02 answered odd after 1s and still got a technical loss; the referee's reason: out of time",
			"R1M1: P01 answered even after 1s and still got a technical loss; the referee's reason: out of time",
			"R1M1: P02 answered odd after 1s and still got a technical loss; the referee's reason: out of time",
		},
	}},
}

// claim inserts a referee's message that a player answered too late, after the
// player's call.
func (b *book) claim(match, player string, wait time.Duration, change func(e *protocol.GameError)) {
	b.t.Helper()
	x, _, _ := b.call(match, player)
	e := &protocol.GameError{ErrorCode: string(protocol.CodeTimeout), AffectedPlayer: player}
	e.MatchID, e.Timestamp = match, stamp(x.At.Add(wait))
	if change != nil {
		change(e)
	}
	late := *x
	late.Type, late.Request, late.Answer, late.At = protocol.TypeGameError, e, nil, x.At.Add(wait)
	b.xs = slices.Insert(b.xs, slices.Index(b.xs, x)+1, &late)
}

var ofTimeAndTables = []violation{
	{"a timeout ten seconds early", func(b *book) { b.claim("R1M1", "P02", 20*time.Second, nil) }, map[string][]string{
		"deadlines": {"R1M1: a timeout of P02 was reported 10s before the deadline 2026-03-14T09:00:34Z"},
	}},
	{"a timeout within the two seconds of rounding", func(b *book) { b.claim("R1M1", "P02", 28*time.Second, nil) }, map[string][]string{}},
	{"a timeout at the deadline", func(b *book) { b.claim("R1M1", "P02", 30*time.Second, nil) }, map[string][]string{}},
	{"an early timeout by the referee's clock only", func(b *book) {
		b.claim("R1M1", "P02", 30*time.Second, func(e *protocol.GameError) { e.Timestamp = stamp(b.xs[0].At) })
	}, map[string][]string{}},
	{"an early timeout by the recorder's clock only", func(b *book) {
		x, _, _ := b.call("R1M1", "P02")
		late := stamp(x.At.Add(30 * time.Second))
		b.claim("R1M1", "P02", time.Second, func(e *protocol.GameError) { e.Timestamp = late })
	}, map[string][]string{}},
	{"another error than a timeout", func(b *book) {
		b.claim("R1M1", "P02", time.Second, func(e *protocol.GameError) { e.ErrorCode = string(protocol.CodeInvalidParityChoice) })
	}, map[string][]string{}},
	{"a win too many in a table", func(b *book) { b.standings("2")[0].Wins = some(2) }, map[string][]string{
		"standings": {"the table after round 2: P01 has 2 wins, 1 tie, 0 losses and 4 points; its results add up to 1, 1, 0 and 4"},
	}},
	{"a bonus", func(b *book) { b.standings("1")[0].Points = 4 }, map[string][]string{
		"standings": {"the table after round 1: P01 has 1 win, 0 ties, 0 losses and 4 points; its results add up to 1, 0, 0 and 3"},
	}},
	{"a bonus that changes the order", func(b *book) { b.end().FinalStandings[2].Points = 5 }, map[string][]string{
		"ranks": {"another rule: ranks follow the wins, not the points"},
		"standings": {
			"the final table: P03 has 0 wins, 1 tie, 1 loss and 5 points; its results add up to 0, 1, 1 and 1",
		},
	}},
	{"ranks that do not follow the points", func(b *book) {
		rows := b.standings("3")
		rows[0].Rank, rows[1].Rank = 2, 1
	}, map[string][]string{
		"ranks": {"the table after round 3: rank 2 with 4 points is below rank 1 with 3"},
	}},
	{"an order of its own in one table", func(b *book) {
		rows := b.standings("1")
		rows[1], rows[2] = rows[2], rows[1]
		rows[1].Rank, rows[2].Rank = 2, 3
	}, map[string][]string{
		"ties": {"another rule: P03 ranks above P02 with as many points; by wins, points among them, technical losses and number it is the other way round"},
	}},
	{"a table that is asked for, and has a loss too many", func(b *book) { b.asked("2").Losses = some(1) }, map[string][]string{
		"standings": {"a table: P01 has 1 win, 1 tie, 1 loss and 4 points; its results add up to 1, 1, 0 and 4"},
	}},
	{"a tie that the end of the round counts as a win", func(b *book) {
		b.roundEnd("2", doc{"total_matches": 1, "wins": 1, "draws": 0, "technical_losses": 0})
	}, map[string][]string{
		"totals": {"another rule: ROUND_COMPLETED counts 1 as wins; it is 0", "another rule: ROUND_COMPLETED counts 0 as draws; it is 1"},
	}},
	{"a match too many at the end", func(b *book) { b.end().TotalMatches = some(4) }, map[string][]string{
		"totals": {"another rule: LEAGUE_COMPLETED counts 4 as total_matches; it is 3"},
	}},
	{"the second as the champion", func(b *book) { b.end().Champion.PlayerID = "P02" }, map[string][]string{
		"champion": {"the champion is P02, but P01 is first in the final table"},
	}},
	{"another champion for another player", func(b *book) {
		b.say("manager", "P02", "league_completed", doc{
			"total_rounds": 3, "total_matches": 3, "champion": doc{"player_id": "P02", "points": 4}, "final_standings": b.end().FinalStandings,
		}, nil)
	}, map[string][]string{
		"champion": {"the champion is P02, but P01 is first in the final table"},
	}},
	{"a champion with fewer points than another", func(b *book) {
		rows := b.end().FinalStandings
		rows[0].Rank, rows[2].Rank = 3, 1
	}, map[string][]string{
		"champion": {
			"the champion is P01, but P03 is first in the final table",
		},
		"ranks": {
			"the final table: rank 2 with 3 points is below rank 1 with 1",
			"the final table: rank 3 with 4 points is below rank 2 with 3",
		},
	}},
}

var ofTheSchedule = []violation{
	{"two matches of one player in a round", func(b *book) {
		_, first := find[*protocol.RoundAnnouncement](b, "1", "P01")
		_, second := find[*protocol.RoundAnnouncement](b, "2", "P01")
		first.Matches, first.Byes = append(first.Matches, second.Matches...), nil
	}, map[string][]string{
		"schedule": {"another rule: round 1: P01 plays both R1M1 and R2M1"},
	}},
	{"a second announcement with another opponent", func(b *book) {
		x, a := find[*protocol.RoundAnnouncement](b, "1", "P01")
		again, other := *x, *a
		other.Matches, other.Byes = slices.Clone(a.Matches), nil
		other.Matches[0].PlayerBID = "P03"
		again.Request = &other
		b.xs = slices.Insert(b.xs, 0, &again)
	}, map[string][]string{
		"unexpected": {"another rule: match R1M1 was announced between P01 and P03, then between P01 and P02"},
	}},
	{"byes turned round", func(b *book) {
		_, a := find[*protocol.RoundAnnouncement](b, "1", "P01")
		a.Byes = []string{"P02"}
	}, map[string][]string{
		"byes": {"another rule: round 1: P02 plays, and has a bye", "another rule: round 1: P03 has neither a match nor a bye"},
	}},
	{"a match that begins after the end", func(b *book) {
		x, _ := find[*protocol.GameInvitation](b, "R3M1", "P03")
		b.drop(func(x *trace.Exchange) bool { return x.Match == "R3M1" })
		b.xs = append(b.xs, x)
	}, map[string][]string{
		"unexpected": {"another rule: the invitation to match R3M1 was sent after the end of the league"},
	}},
	{"a match that its round does not list", func(b *book) {
		for _, x := range b.xs {
			if x.Match == "R3M1" && x.Request.Head().MatchID == "R3M1" {
				x.Match, x.Request.Head().MatchID = "R3M9", "R3M9"
			}
		}
	}, map[string][]string{
		"unexpected": {"another rule: match R3M9 was played in round 3 but not announced: the announcement lists R3M1"},
	}},
	{"a pair that meets twice, in a league that is over", func(b *book) {
		x, a := find[*protocol.RoundAnnouncement](b, "1", "P01")
		again, other := *x, *a
		other.RoundID, other.Matches = protocol.RoundNumber(4), slices.Clone(a.Matches)
		other.Matches[0].MatchID = "R4M1"
		again.Request = &other
		b.xs = slices.Insert(b.xs, 1, &again)
	}, map[string][]string{
		"schedule": {
			"another rule: P01 and P03 played 1 time, others 2 times",
			"another rule: P02 and P03 played 1 time, others 2 times",
		},
	}},
}

func ofCommitments() []violation {
	sealOf := func(id string) sealing {
		return seal(season[slices.IndexFunc(season, func(m played) bool { return m.id == id })])
	}
	both := func(b *book, match string, change func(m *protocol.GameOver)) {
		for _, m := range season {
			for _, p := range m.players {
				if m.id == match {
					change(b.over(match, p))
				}
			}
		}
	}
	return []violation{
		{"no key", func(b *book) { both(b, "R1M1", func(m *protocol.GameOver) { m.DrawKey = "" }) }, map[string][]string{
			"commitments": {"R1M1: 8 cannot be verified: the referee reveals no key"},
		}},
		{"a key in capitals", func(b *book) {
			both(b, "R1M1", func(m *protocol.GameOver) { m.DrawKey = strings.Repeat("AB", 32) })
		}, map[string][]string{
			"commitments": {"R1M1: 8 cannot be verified: the revealed key is not 64 lower-case hexadecimal digits"},
		}},
		{"another key than committed to", func(b *book) {
			both(b, "R1M1", func(m *protocol.GameOver) { m.DrawKey = strings.Repeat("ab", 32) })
		}, map[string][]string{
			"commitments": {"R1M1: 8 cannot be verified: the revealed key is not the one committed to for this match"},
		}},
		{"the key of another match", func(b *book) {
			both(b, "R3M1", func(m *protocol.GameOver) { m.DrawKey = sealOf("R1M1").key })
		}, map[string][]string{
			"commitments": {"R3M1: 3 cannot be verified: the revealed key was revealed before, in another match: R1M1"},
		}},
		{"another number of the same parity", func(b *book) {
			both(b, "R1M1", func(m *protocol.GameOver) { m.GameResult.DrawnNumber = some(6) })
			b.report("R1M1").Result.Details.DrawnNumber = some(6)
		}, map[string][]string{
			"commitments": {"R1M1: 6 cannot be verified: the drawn number does not follow from the revealed key: it gives 8, not 6"},
		}},
		{"a nonce that the player did not give", func(b *book) {
			both(b, "R1M1", func(m *protocol.GameOver) { m.DrawNonces = map[string]string{"P01": "00", "P02": m.DrawNonces["P02"]} })
		}, map[string][]string{
			"commitments": {"R1M1: 8 cannot be verified: the referee did not use the player's nonce (P01)"},
		}},
		{"two commitments", func(b *book) {
			_, call, _ := b.call("R2M1", "P03")
			call.DrawCommitment = strings.Repeat("00", 32)
		}, map[string][]string{
			"commitments": {"R2M1: 7 cannot be verified: the players got different commitments"},
		}},
		{"a choice that the player did not give", func(b *book) {
			both(b, "R2M1", func(m *protocol.GameOver) { m.GameResult.Choices["P03"] = protocol.Odd })
		}, map[string][]string{
			"choices": {
				"R2M1: P03 answered even, but P01 received odd",
				"R2M1: P03 answered even, but P03 received odd",
			},
			"commitments": {"R2M1: 7 cannot be verified: the result has another choice than the player gave (P03)"},
			"scoring": {
				"R2M1: with P01 even, P03 odd and the number 7 the winner is P03, but P01 received nobody",
				"R2M1: with P01 even, P03 odd and the number 7 the winner is P03, but P03 received nobody",
			},
		}},
		{"no commitment in one match", func(b *book) {
			for _, p := range []string{"P01", "P02"} {
				_, call, _ := b.call("R1M1", p)
				call.DrawCommitment = ""
			}
		}, map[string][]string{
			"commitments": {"R1M1: the referee gave no commitment, which it gave in other matches"},
		}},
	}
}

// What the recording lacks stays unjudged, and the report names it.
func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		sealed bool
		lose   func(b *book)
		check  string
		want   []string // Missing
		count  int      // Unknown
	}{
		{"the answer of a player", false, func(b *book) { x, _, _ := b.call("R1M1", "P01"); x.Answer = nil }, "choices", []string{"the answer in which a player chose"}, 3},
		{"the choices in a result", false, func(b *book) {
			b.over("R1M1", "P01").GameResult.Choices = nil
		}, "choices", []string{"the choices in a result"}, 2},
		{"the choices, for the score", false, func(b *book) {
			b.over("R1M1", "P01").GameResult.Choices = nil
		}, "scoring", []string{"the choices in a result"}, 1},
		{"the number", false, func(b *book) {
			b.over("R1M1", "P01").GameResult.DrawnNumber = protocol.Opt[int]{}
		}, "numbers", []string{"the drawn number"}, 1},
		{"the number, for the score", false, func(b *book) {
			b.over("R1M1", "P01").GameResult.DrawnNumber = protocol.Opt[int]{}
		}, "scoring", []string{"the drawn number"}, 1},
		{"who is at fault", false, func(b *book) {
			r := b.over("R1M1", "P01").GameResult
			r.Status, r.DrawnNumber, r.WinnerPlayerID = protocol.StatusTechnicalLoss, protocol.Null[int](), protocol.Opt[string]{}
		}, "scoring", []string{"who is at fault in a technical loss"}, 1},
		{"a result that can be read", false, func(b *book) {
			x, _ := find[*protocol.GameOver](b, "R1M1", "P01")
			x.Request, x.Invalid = nil, errors.New("broken")
		}, "scoring", []string{"a result in a form that can be read"}, 1},
		{"winner and number of two accounts", false, func(b *book) {
			b.report("R1M1").Result = protocol.MatchResult{}
		}, "same-result", []string{"the winner and the number, in two messages about a match"}, 1},
		{"an answer by the book", false, func(b *book) {
			x, _, _ := b.call("R1M1", "P02")
			took := x.Latency
			*x = *x.WithAnswer(200, []byte(strings.Replace(string(x.RawAnswer), "player:P02", "P02", 1)))
			x.Latency = took
			for _, p := range []string{"P01", "P02"} {
				r := b.over("R1M1", p).GameResult
				r.Status, r.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, []string{"P02"}
			}
		}, "offences", []string{"whether the referee had to take an answer that is not by the book"}, 2},
		{"an answer in time", false, func(b *book) {
			x, _, _ := b.call("R1M1", "P02")
			x.Latency = 40 * time.Second
			b.over("R1M1", "P01").GameResult.Choices["P02"] = protocol.Even // what the referee takes by default
		}, "choices", []string{"whether an answer came in time"}, 1},
		{"what a technical loss gives", false, func(b *book) {
			for _, to := range []string{"P01", "P02"} {
				r := b.over("R1M1", to).GameResult
				r.Status, r.TechnicalLossPlayerIDs = protocol.StatusTechnicalLoss, []string{"P02"}
			}
			b.standings("1")[0].Points = 0
			b.drop(func(x *trace.Exchange) bool {
				return x.Type == protocol.TypeLeagueStandingsUpdate && x.Request.Head().RoundID.Number() > 1
			})
			b.end().FinalStandings[0].Points -= 3
		}, "standings", []string{"how the league counts technical losses"}, 2},
		{"the deadline of a call", false, func(b *book) {
			b.claim("R1M1", "P02", time.Second, nil)
			_, call, _ := b.call("R1M1", "P02")
			call.Deadline = ""
		}, "deadlines", []string{"the deadline that a timeout is about"}, 1},
		{"the call before a timeout", false, func(b *book) { b.claim("R1M1", "P02", -time.Minute, nil) }, "deadlines", []string{"the deadline that a timeout is about"}, 1},
		{"the results of a player", false, func(b *book) {
			b.dropType(protocol.TypeGameOver, "R2M1")
			b.dropType(protocol.TypeMatchResultReport, "R2M1")
		}, "standings", []string{"all results of a player in a table"}, 8},
		{"the numbers of a row", false, func(b *book) {
			row := &b.end().FinalStandings[0]
			row.Played, row.Wins = protocol.Opt[int]{}, protocol.Opt[int]{}
		}, "standings", []string{"all results of a player in a table"}, 4},
		{"the ranks of the final table", false, func(b *book) { b.end().FinalStandings[1].Rank = 0 }, "champion", []string{"the ranks of the final table"}, 1},
		{"the champion", false, func(b *book) { b.end().Champion = nil }, "champion", []string{"the champion"}, 1},
		{"a result of a round", false, func(b *book) {
			b.dropType(protocol.TypeGameOver, "R2M1")
			b.dropType(protocol.TypeMatchResultReport, "R2M1")
			b.roundEnd("2", nil)
		}, "totals", []string{"all results of a round"}, 1},
		{"byes", false, func(b *book) {
			_, a := find[*protocol.RoundAnnouncement](b, "1", "P01")
			a.Byes = nil
		}, "byes", []string{"the byes of a round"}, 1},
		{"the champion's row", false, func(b *book) { b.end().Champion.PlayerID = "P99" }, "champion", []string{"the champion's row in the final table"}, 1},
		{"the players of a match", false, func(b *book) {
			_, a := find[*protocol.RoundAnnouncement](b, "1", "P01")
			a.Matches = append(a.Matches, protocol.AnnouncedMatch{MatchID: "R1M2", PlayerAID: "P04"})
		}, "schedule", []string{"the players of a match"}, 1},
		{"the announcements of all rounds", false, func(b *book) {
			b.drop(func(x *trace.Exchange) bool {
				return x.Type == protocol.TypeRoundAnnouncement && x.Request.Head().RoundID.Number() == 3
			})
		}, "schedule", []string{"the announcements of all rounds"}, 1},
		{"the number of a sealed match", true, func(b *book) {
			b.dropType(protocol.TypeGameOver, "R1M1")
			b.dropType(protocol.TypeMatchResultReport, "R1M1")
		}, "commitments", []string{"the number of a match that ended without one after a choice"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := write(t, c.sealed)
			c.lose(b)
			r := one(t, b.xs)
			if got := check(t, r, c.check); !slices.Equal(got.Missing, c.want) || got.Unknown != c.count || len(got.Findings) > 0 {
				t.Errorf("%s misses %d: %q and finds %v; want %d: %q", c.check, got.Unknown, got.Missing, got.Findings, c.count, c.want)
			}
		})
	}
}
