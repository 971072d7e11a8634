package judge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

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
