package league

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// signedUp is the registration of an agent.
func signedUp(role protocol.Role, id string) *Joined {
	return &Joined{Registration: Registration{
		Role: role, ID: id, Verifier: credential.NewVerifier(id).String(), Dialect: dialect.Contracts.Name,
		Name: strings.ToLower(id), Endpoint: "http://" + id + "/mcp", At: noon,
	}}
}

// league is a state that the events have led to.
func after(t testing.TB, events ...Event) *State {
	t.Helper()
	s := New("cup", Rules{})
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// opened are the events of a league of two players that has begun.
func opened() []Event {
	return []Event{
		signedUp(protocol.RoleReferee, "REF01"), signedUp(protocol.RolePlayer, "P01"), signedUp(protocol.RolePlayer, "P02"),
		&Started{Legs: 1, Seats: []string{"P01", "P02"}, At: noon},
	}
}

func win(match, referee string) *Reported {
	n := 8
	return &Reported{Match: match, Referee: referee, A: side{"win", "even"}, B: side{"loss", "odd"}, Number: &n, At: noon}
}

func TestEventsThatDoNotFit(t *testing.T) {
	t.Parallel()
	began := opened()
	signups := began[:3]
	assignedTo := func(id string) Event { return &Assigned{Round: 1, Referees: []string{id}} }
	played := append(slices.Clone(began), assignedTo("REF01"), win("R1M1", "REF01"))
	bad := func(change func(*Joined)) Event {
		e := signedUp(protocol.RolePlayer, "P09")
		change(e)
		return e
	}
	result := func(a, b side, number int) Event {
		return &Reported{Match: "R1M1", Referee: "REF01", A: a, B: b, Number: &number}
	}
	open := append(slices.Clone(began), assignedTo("REF01"))
	for what, c := range map[string]struct {
		before []Event
		e      Event
	}{
		"a verifier that is none":          {signups, bad(func(e *Joined) { e.Verifier = "00" })},
		"an id of another role":            {signups, bad(func(e *Joined) { e.ID = "REF09" })},
		"a number that is taken":           {signups, bad(func(e *Joined) { e.ID = "P002" })},
		"a player in a league that runs":   {began, bad(func(*Joined) {})},
		"a place nobody has":               {signups, bad(func(e *Joined) { e.Replaces = "P08" })},
		"the place of a referee":           {signups, bad(func(e *Joined) { e.Replaces = "REF01" })},
		"a place of another player's":      {signups, bad(func(e *Joined) { e.ID, e.Replaces = "P02", "P01" })},
		"a second start":                   {began, &Started{Legs: 1, Seats: []string{"P01", "P02"}}},
		"a seat for a stranger":            {signups, &Started{Legs: 1, Seats: []string{"P01", "P07"}}},
		"a seat for a referee":             {signups, &Started{Legs: 1, Seats: []string{"P01", "REF01"}}},
		"two seats for one":                {signups, &Started{Legs: 1, Seats: []string{"P01", "P01"}}},
		"too few seats":                    {signups, &Started{Legs: 1, Seats: []string{"P01"}}},
		"no legs":                          {signups, &Started{Legs: 0, Seats: []string{"P01", "P02"}}},
		"a pause of a negative time":       {began, &PaceSet{Pace: new(-time.Second)}},
		"a round before the start":         {signups, assignedTo("REF01")},
		"a round there is not":             {began, &Assigned{Round: 2, Referees: []string{"REF01"}}},
		"more matches than there are":      {began, &Assigned{Round: 1, Referees: []string{"REF01", ""}}},
		"a referee nobody knows":           {began, assignedTo("REF02")},
		"a player as a referee":            {began, assignedTo("P01")},
		"a new referee for a match played": {played, assignedTo("REF01")},
		"a result before the start":        {signups, win("R1M1", "REF01")},
		"a result of no match":             {began, win("R1M2", "REF01")},
		"a result nobody was to report":    {began, win("R1M1", "REF01")},
		"a second result":                  {played, win("R1M1", "REF01")},
		"a result that breaks the rules":   {open, result(side{"win", "odd"}, side{"loss", "even"}, 8)},
		"a result of two winners":          {open, result(side{"win", ""}, side{"win", ""}, 8)},
		"a number after a technical loss":  {open, result(side{"technical_loss", ""}, side{"win", "even"}, 8)},
		"points for a technical loss":      {open, &Reported{Match: "R1M1", Referee: "REF01", A: side{"technical_loss", ""}, B: side{"draw", "even"}}},
		"a result in a word nobody knows":  {open, result(side{"triumph", "even"}, side{"loss", "odd"}, 8)},
		"a choice that is none":            {open, result(side{"win", "EVEN"}, side{"loss", "odd"}, 8)},
		"the end of a round not played":    {began, &RoundCompleted{Round: 1}},
		"the end of another round":         {played, &RoundCompleted{Round: 2}},
		"the end of a league that goes on": {played, &Completed{}},
		"the end of a round before any":    {signups, &RoundCompleted{Round: 1}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := after(t, c.before...)
			before := fmt.Sprintf("%+v", s.Standings())
			if err := s.Apply(c.e); err == nil {
				t.Error("it was applied")
			}
			s.ranked = nil
			if after := fmt.Sprintf("%+v", s.Standings()); after != before {
				t.Errorf("it was refused and has changed the table from %s to %s", before, after)
			}
		})
	}
}

// The journal of an earlier version is read, gives the table that it gave, and would be written
// the same.
func TestAJournalOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/manager.journal")
	if err != nil {
		t.Fatal(err)
	}
	s, kinds := New("cup", Rules{}), make(map[string]bool)
	for line := range strings.Lines(string(content)) {
		part := strings.SplitN(strings.TrimSpace(line), " ", 4) // checksum, number, kind, data
		e, err := readEvent(journal.Event{Type: part[2], Data: json.RawMessage(part[3])})
		if err != nil {
			t.Fatal(err)
		}
		if written, err := json.Marshal(e); err != nil || string(written) != part[3] || e.Kind() != part[2] {
			t.Errorf("event %s is written as\n%s, %v, not\n%s", part[1], written, err, part[3])
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		kinds[part[2]] = true
	}
	var table []string
	for _, l := range s.Standings() {
		table = append(table, fmt.Sprintf("%d %s %d %d-%d-%d (%d) %d", l.Rank, l.PlayerID, l.Played, l.Wins, l.Draws, l.Losses, l.TechnicalLosses, l.Points))
	}
	want := []string{"1 P04 3 1-2-0 (0) 5", "2 P02 3 0-3-0 (0) 3", "3 P03 3 0-3-0 (0) 3", "4 P01 3 0-2-1 (1) 2"}
	if !slices.Equal(table, want) || !s.Concluded || s.Draws.Drawn != 5 || s.Pace() != time.Millisecond || !s.Members["P02"].Readmitted || len(kinds) != 8 {
		t.Errorf("%d kinds of events lead to %q and %+v", len(kinds), table, s)
	}
}

// drawSide is what a player brings to a random match.
func drawSide(t *rapid.T, name string) game.Side {
	if rapid.IntRange(0, 4).Draw(t, name+" at fault") == 0 {
		return game.Side{Fault: game.FaultNoAnswer}
	}
	return game.Side{Choice: rapid.SampledFrom([]game.Parity{game.Even, game.Odd}).Draw(t, name)}
}

// judged is the outcome of a match as the rules have it.
func judged(a, b game.Side, number int) outcome {
	v := game.Judge(a, b, number)
	o := outcome{results: [2]game.Result{v.ResultA, v.ResultB}, choices: [2]game.Parity{a.Choice, b.Choice}, number: int32(number)}
	if v.Technical() {
		o.number = noNumber
	}
	return o
}

// Matches are reported in any order, journaled, read back and counted: the table
// is that of the rules, whatever the order was.
func TestTheTableIsThatOfTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, legs := rapid.IntRange(2, 7).Draw(t, "players"), rapid.IntRange(1, 2).Draw(t, "legs")
		events := []Event{signedUp(protocol.RoleReferee, "REF01")}
		start := &Started{Legs: legs, At: noon}
		for seat := range n {
			events = append(events, signedUp(protocol.RolePlayer, game.PlayerID(seat)))
			start.Seats = append(start.Seats, game.PlayerID(seat))
		}
		events = append(events, start)
		schedule, err := game.NewSchedule(n, legs)
		if err != nil {
			t.Fatal(err)
		}
		want := game.NewTable(n)
		for round := 1; round <= schedule.Rounds(); round++ {
			pairings := schedule.Round(round)
			all := &Assigned{Round: round}
			for range pairings {
				all.Referees = append(all.Referees, "REF01")
			}
			events = append(events, all)
			for _, p := range rapid.Permutation(pairings).Draw(t, "order") {
				a, b := drawSide(t, "A"), drawSide(t, "B")
				o := judged(a, b, rapid.IntRange(1, 10).Draw(t, "number"))
				if err := o.check(); err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				want.Add(p.A, p.B, o.verdict())
				events = append(events, newReported(p.ID, "REF01", o, noon))
			}
			events = append(events, &RoundCompleted{Round: round})
		}
		var lines []journal.Event
		for i, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, journal.Event{Seq: uint64(i + 1), Type: e.Kind(), Data: data})
		}
		s := New("cup", Rules{})
		for _, line := range lines {
			if err := s.Replay(line); err != nil {
				t.Fatal(err)
			}
		}
		if !s.Over() || s.Members["REF01"].Load != 0 {
			t.Errorf("the league is over: %v, and the referee has %d matches", s.Over(), s.Members["REF01"].Load)
		}
		ranking := want.Ranking()
		for i, line := range s.Standings() {
			r := ranking[i]
			if line.PlayerID != game.PlayerID(r.Seat) || line.Rank != i+1 || line.Points != r.Points || line.Played != r.Played ||
				line.Wins != r.Wins || line.Draws != r.Ties || line.Losses != r.Losses || line.TechnicalLosses != r.TechnicalLosses {
				t.Errorf("line %d is %+v, want %+v", i, line, r)
			}
		}
	})
}

// A referee never has more than its part, rounded up, of the matches.
func TestSharesFollowCapacity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		capacities := rapid.SliceOfN(rapid.IntRange(1, 20), 1, 8).Draw(t, "capacities")
		matches := rapid.IntRange(0, 200).Draw(t, "matches")
		shares, total := make([]Share, len(capacities)), 0
		for i, c := range capacities {
			shares[i] = Share{Referee: &Member{Registration: Registration{Capacity: c}}}
			total += c
		}
		for range matches {
			LeastLoaded(shares, false)
		}
		sum := 0
		for _, s := range shares {
			sum += s.Load
			// No referee could give a match to another without making that one
			// the busier of the two.
			for _, o := range shares {
				if s.Load*o.Referee.Capacity > (o.Load+1)*s.Referee.Capacity {
					t.Fatalf("of %d matches %v have %d and %d", matches, capacities, s.Load, o.Load)
				}
			}
		}
		if sum != matches {
			t.Fatalf("%d of %d matches were given", sum, matches)
		}
	})
}

// Whatever stands in a journal, reading it ends, and what is accepted is a
// league with a strict table.
func FuzzReplay(f *testing.F) {
	for _, events := range [][]Event{opened(), append(opened(), &Assigned{Round: 1, Referees: []string{"REF01"}}, win("R1M1", "REF01"), &RoundCompleted{Round: 1}, &Completed{Champion: "P01"})} {
		var text strings.Builder
		for _, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				f.Fatal(err)
			}
			fmt.Fprintf(&text, "%s %s\n", e.Kind(), data)
		}
		f.Add(text.String())
	}
	f.Add("started {\"legs\":10000,\"seats\":null}\nreported {}\n")
	f.Add("assigned {\"round\":-1}\nround_completed {\"round\":0}\ncompleted {}\nunknown null\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := New("cup", Rules{})
		for i, line := range strings.Split(text, "\n") {
			kind, data, _ := strings.Cut(line, " ")
			if s.Replay(journal.Event{Seq: uint64(i + 1), Type: kind, Data: json.RawMessage(data)}) != nil {
				return
			}
			for i, line := range s.Standings() {
				if line.Rank != i+1 {
					t.Fatalf("line %d has rank %d", i, line.Rank)
				}
			}
		}
	})
}

// A match that somebody forfeits goes to a referee that knows what that is, however
// busy it is, if there is one.
func TestForfeitedMatchesGoToKeyedReferees(t *testing.T) {
	t.Parallel()
	foreign := Share{Referee: &Member{Registration: Registration{ID: "REF01", Capacity: 10}}}
	keyed := Share{Referee: &Member{Registration: Registration{ID: "REF02", Keyed: true}}, Load: 5}
	for _, tt := range []struct {
		forfeit bool
		shares  []Share
		want    string
	}{
		{true, []Share{foreign, keyed}, "REF02"},
		{true, []Share{keyed, foreign}, "REF02"},
		{true, []Share{foreign}, "REF01"},
		{false, []Share{foreign, keyed}, "REF01"},
	} {
		if got := LeastLoaded(tt.shares, tt.forfeit).ID; got != tt.want {
			t.Errorf("forfeit %v of %v goes to %s", tt.forfeit, tt.shares, got)
		}
	}
}

func TestMatchesInEventStreams(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]outcome{
		`{"match_id":"R1M1","round_id":1,"referee_id":"REF01","player_A_id":"P01","player_B_id":"P02","status":"WIN","winner":"P02","score":{"P01":0,"P02":3},"choices":{"P01":"even","P02":"odd"},"drawn_number":7}`: judged(
			game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, 7),
		`{"match_id":"R1M1","round_id":1,"referee_id":"REF01","player_A_id":"P01","player_B_id":"P02","status":"DRAW","winner":null,"score":{"P01":1,"P02":1},"choices":{"P01":"odd","P02":"odd"},"drawn_number":7}`: judged(
			game.Side{Choice: game.Odd}, game.Side{Choice: game.Odd}, 7),
		`{"match_id":"R1M1","round_id":1,"referee_id":"REF01","player_A_id":"P01","player_B_id":"P02","status":"TECHNICAL_LOSS","winner":"P01","score":{"P01":3,"P02":0},"choices":{"P01":"odd"},"drawn_number":null}`: judged(
			game.Side{Choice: game.Odd}, game.Side{Fault: game.FaultConnect}, 0),
	} {
		s := after(t, append(opened(), &Assigned{Round: 1, Referees: []string{"REF01"}}, newReported("R1M1", "REF01", o, noon))...)
		got, err := json.Marshal(s.Match(s.Schedule.Matches()[0]))
		if err != nil || string(got) != want {
			t.Errorf("the match is\n%s, %v, want\n%s", got, err, want)
		}
	}
}

func TestPlayersAreSeatedByTheirNumbers(t *testing.T) {
	t.Parallel()
	s := after(t, signedUp(protocol.RoleReferee, "REF01"), signedUp(protocol.RolePlayer, "P30"), signedUp(protocol.RolePlayer, "P04"), signedUp(protocol.RolePlayer, "P111"))
	s.Rules.Legs = 1
	if e, err := s.Start(noon); err != nil || !slices.Equal(e.Seats, []string{"P04", "P30", "P111"}) {
		t.Errorf("the league starts with %+v, %v", e, err)
	}
}
