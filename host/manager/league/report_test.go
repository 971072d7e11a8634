package league

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// reportedAs is what State.Report makes of a report of R1M1 with a result as JSON: the code of
// the refusal, or the status, the points and the choices, and what differs.
func reportedAs(t *testing.T, mode protocol.Mode, draw game.Draw, round int, result string) string {
	t.Helper()
	s := after(t, append(opened(), &Assigned{Round: 1, Referees: []string{"REF01"}})...)
	s.Rules = Rules{Mode: mode, Draw: draw}
	msg := &protocol.MatchResultReport{Header: protocol.Header{MatchID: "R1M1", RoundID: protocol.RoundNumber(round)}}
	if err := json.Unmarshal([]byte(result), &msg.Result); err != nil {
		t.Fatal(err)
	}
	e, flaws, err := s.Report(msg, s.Members["REF01"], noon)
	if err != nil {
		return string(dialect.CodeOf(err))
	}
	if err := s.Apply(e); err != nil {
		t.Fatal(err)
	}
	m := s.Results()[0]
	said := fmt.Sprint(m.Status(), " ", m.Points, " ", m.Choices)
	for _, flaw := range flaws {
		if flaw != nil {
			said += " but " + flaw.Detail
		}
	}
	return said
}

// What reports a strict league refuses that does not add up, a tolerant one takes at its word.
func TestWhatReportsSay(t *testing.T) {
	t.Parallel()
	const played = `"drawn_number":8,"choices":{"P01":"even","P02":"odd"}`
	for what, c := range map[string]struct {
		result, strict, tolerant string // a prefix of what is made of it, and a part of what differs after "but"
	}{
		"a win":                         {`{"winner":"P01","score":{"P01":3,"P02":0},"details":{` + played + `,"number_parity":"even"}}`, "WIN [3 0] [even odd]", "WIN [3 0] [even odd]"},
		"a loss":                        {`{"winner":"P02","details":{"drawn_number":7,"choices":{"P01":"even","P02":"odd"},"status":"WIN"}}`, "WIN [0 3]", "WIN [0 3]"},
		"a draw":                        {`{"winner":null,"details":{"drawn_number":7,"choices":{"P01":"odd","P02":"odd"},"status":"DRAW"}}`, "DRAW [1 1]", "DRAW [1 1]"},
		"one at fault":                  {`{"winner":"P02","details":{"choices":{"P02":"odd"},"status":"TECHNICAL_LOSS"}}`, "TECHNICAL_LOSS [0 3] [ odd]", "TECHNICAL_LOSS [0 3] [ odd]"},
		"both at fault":                 {`{"winner":null,"details":{"status":"TECHNICAL_LOSS"}}`, "TECHNICAL_LOSS [0 0]", "TECHNICAL_LOSS [0 0]"},
		"the wrong winner":              {`{"winner":"P02","details":{` + played + `}}`, "E046", "WIN [0 3] but by the rules"},
		"no winner":                     {`{"winner":null,"details":{` + played + `,"status":"WIN"}}`, "E046", "DRAW [1 1] but"},
		"a winner from elsewhere":       {`{"winner":"P09","details":{` + played + `}}`, "E046", "E046"},
		"a draw that has a winner":      {`{"winner":"P01","details":{` + played + `,"status":"DRAW"}}`, "E046", "WIN [3 0] but"},
		"a draw of unequal choices":     {`{"winner":null,"details":{` + played + `,"status":"DRAW"}}`, "E046", "DRAW [1 1] but"},
		"other points":                  {`{"winner":"P01","score":{"P01":2,"P02":0},"details":{` + played + `}}`, "E046", "WIN [3 0] [even odd] but 3 points"},
		"points for the loser":          {`{"winner":"P01","score":{"P01":3,"P02":1},"details":{` + played + `}}`, "E046", "WIN [3 0] but 0 points"},
		"points for one":                {`{"winner":"P01","score":{"P01":3},"details":{` + played + `}}`, "E046", "WIN [3 0] but other players"},
		"points for a third":            {`{"winner":"P01","score":{"P01":3,"P02":0,"P03":0},"details":{` + played + `}}`, "E046", "WIN [3 0] but other players"},
		"points for a stranger":         {`{"winner":"P01","score":{"P01":3,"P03":0},"details":{` + played + `}}`, "E046", "WIN [3 0] but points"},
		"the wrong parity":              {`{"winner":"P01","details":{` + played + `,"number_parity":"odd"}}`, "E046", "WIN [3 0] but 8 is even"},
		"a number that cannot be drawn": {`{"winner":"P01","details":{"drawn_number":98,"choices":{"P01":"even","P02":"odd"}}}`, "E046", "WIN [3 0] [even odd] but 98"},
		"a choice that is missing":      {`{"winner":"P01","details":{"drawn_number":8,"choices":{"P01":"even"},"status":"WIN"}}`, "E046", "WIN [3 0] [even ]"},
		"a choice of a stranger":        {`{"winner":"P01","details":{"drawn_number":8,"choices":{"P01":"even","P02":"odd","P03":"odd"}}}`, "E046", "WIN [3 0] but somebody"},
		"the winner at fault":           {`{"winner":"P01","details":{` + played + `,"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P01"]}}`, "E046", "TECHNICAL_LOSS [3 0] but"},
		"one at fault and no winner":    {`{"winner":null,"score":{"P01":0,"P02":0},"details":{"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P01"]}}`, "E046", "TECHNICAL_LOSS [0 0] but"},
		"a winner and a number":         {`{"winner":"P02","details":{"drawn_number":4}}`, "E046", "WIN [0 3]"},
		"a winner only":                 {`{"winner":"P02"}`, "E046", "WIN [0 3]"},
		"a draw for a winner":           {`{"winner":"DRAW","score":{"P01":1,"P02":1}}`, "E046", "DRAW [1 1]"},
		"a winner who alone has chosen": {`{"winner":"P02","details":{"choices":{"P02":"odd"}}}`, "TECHNICAL_LOSS [0 3]", "TECHNICAL_LOSS [0 3]"},
		"no points":                     {`{"winner":null,"score":{"P01":0,"P02":0}}`, "TECHNICAL_LOSS [0 0]", "TECHNICAL_LOSS [0 0]"},
	} {
		for mode, want := range map[protocol.Mode]string{protocol.Strict: c.strict, protocol.Tolerant: c.tolerant} {
			got := reportedAs(t, mode, game.FairDraw(), 1, c.result)
			result, differs, differ := strings.Cut(want, " but")
			if !strings.HasPrefix(got, result) || differ != strings.Contains(got, " but ") || !strings.Contains(got, strings.TrimSpace(differs)) {
				t.Errorf("%s, %s: %q, want %q", what, mode, got, want)
			}
		}
	}
	if got := reportedAs(t, protocol.Strict, game.FairDraw(), 2, `{"winner":"P01","details":{`+played+`}}`); got != "E046" {
		t.Errorf("of another round: %s", got)
	}
	wide, err := game.UniformDraw(0, 20)
	if err != nil {
		t.Fatal(err)
	}
	if got := reportedAs(t, protocol.Strict, wide, 1, `{"winner":"P01","details":{"drawn_number":20,"choices":{"P01":"even","P02":"odd"}}}`); !strings.HasPrefix(got, "WIN [3 0]") {
		t.Errorf("with another draw: %s", got)
	}
}

// A result is for the assigned referee to report, and counts once.
func TestWhoReportsAndHowOften(t *testing.T) {
	t.Parallel()
	south := signedUp(protocol.RoleReferee, "REF02")
	s := after(t, append(opened()[:3:3], south)...)
	report := func(s *State, match, from string) (*Reported, error) {
		msg := &protocol.MatchResultReport{Header: protocol.Header{MatchID: match}, Result: protocol.MatchResult{
			Winner: protocol.Some("P01"), Details: &protocol.ResultDetails{DrawnNumber: protocol.Some(8), Choices: map[string]protocol.Choice{"P01": "even", "P02": "odd"}},
		}}
		s.Rules.Draw = game.FairDraw()
		e, _, err := s.Report(msg, s.Members[from], noon.Add(time.Minute))
		return e, err
	}
	wants := func(match, from string, want protocol.Code) *protocol.Error {
		t.Helper()
		_, err := report(s, match, from)
		if dialect.CodeOf(err) != want {
			t.Errorf("%s by %s: %v, want %s", match, from, err, want)
		}
		refusal, _ := errors.AsType[*protocol.Error](err)
		return refusal
	}
	wants("R1M1", "REF01", protocol.CodeMatchNotFound) // before the start
	s = after(t, append(opened(), south, &Assigned{Round: 1, Referees: []string{"REF01"}})...)
	for _, from := range []string{"REF02", "P01", ""} {
		wants("R1M1", from, protocol.CodeMatchNotFound)
	}
	for _, match := range []string{"R2M1", "R1M2", "R01M1", "nonsense"} {
		wants(match, "REF01", protocol.CodeMatchNotFound)
	}
	for same, first := range map[bool]*Reported{true: win("R1M1", "REF01"), false: newReported("R1M1", "REF01", judged(game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, 10), noon)} {
		s = after(t, append(opened(), &Assigned{Round: 1, Referees: []string{"REF01"}}, first)...)
		if e := wants("R1M1", "REF01", protocol.CodeDuplicateReport); e.Context["same_result"] != same || e.Context["previous_report_time"] != "2026-03-14T12:00:00Z" {
			t.Errorf("the same again is %v: %+v", same, e.Context)
		}
	}
}

// What the organiser may not set.
func TestWishesThatAreRefused(t *testing.T) {
	t.Parallel()
	played := append(opened(), &Assigned{Round: 1, Referees: []string{"REF01"}}, win("R1M1", "REF01"), &RoundCompleted{Round: 1})
	withdrawn := append(opened(), &StatusSet{Player: "P02", Status: Withdrawn})
	status := func(s *State, player string, to Life) error { _, err := s.SetStatus(player, to, noon); return err }
	pace := func(s *State, d time.Duration) error { _, err := s.SetPace(nil, &d, noon); return err }
	start := func(s *State) error { _, err := s.Start(noon); return err }
	for what, c := range map[string]struct {
		err  error
		want protocol.Code
	}{
		"an unknown player":       {status(after(t, opened()...), "P09", Withdrawn), protocol.CodePlayerNotRegistered},
		"a referee":               {status(after(t, opened()...), "REF01", Withdrawn), protocol.CodePlayerNotRegistered},
		"before the start":        {status(after(t, opened()[:3]...), "P01", Suspended), protocol.CodeLeagueNotStarted},
		"back from a withdrawal":  {status(after(t, withdrawn...), "P02", Active), protocol.CodeInvalidState},
		"a lesser status":         {status(after(t, withdrawn...), "P02", Suspended), protocol.CodeInvalidState},
		"the same again":          {status(after(t, withdrawn...), "P02", Withdrawn), ""},
		"a status after the end":  {status(after(t, played...), "P01", Withdrawn), protocol.CodeLeagueAlreadyComplete},
		"a pace after the end":    {pace(after(t, played...), time.Second), protocol.CodeLeagueAlreadyComplete},
		"a negative pace":         {pace(after(t, opened()...), -1), protocol.CodeInvalidFieldType},
		"a long pace":             {pace(after(t, opened()...), MaxPace+1), protocol.CodeInvalidFieldType},
		"a start after the end":   {start(after(t, played...)), protocol.CodeLeagueAlreadyComplete},
		"a start without players": {start(after(t, opened()[:2]...)), protocol.CodeInvalidState},
		"a start while it runs":   {start(after(t, opened()...)), ""},
	} {
		if got := dialect.CodeOf(c.err); got != c.want {
			t.Errorf("%s: %v, want %s", what, c.err, c.want)
		}
	}
}
