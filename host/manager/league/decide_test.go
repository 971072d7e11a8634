package league

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// desk is a league at which agents register.
type desk struct {
	*State
	t      *testing.T
	now    time.Time
	tokens map[string]string // the latest, by id
	made   int
}

func open(t *testing.T, r Rules, events ...Event) *desk {
	if r.MaxPlayers == 0 {
		r.MaxPlayers, r.MaxReferees = 1000, 64
	}
	d := &desk{State: after(t, events...), t: t, now: noon, tokens: make(map[string]string)}
	d.Rules = r
	return d
}

// apply puts an event into effect.
func (d *desk) apply(e Event, err error) {
	d.t.Helper()
	if err = errors.Join(err, d.Apply(e)); err != nil {
		d.t.Fatal(err)
	}
}

// player is the application of a player, which says its name, its endpoint, and the id that
// it asks for or the token that it shows.
func player(name, endpoint, as string) *Application {
	a := &Application{Registration: Registration{Role: protocol.RolePlayer, Name: name, Endpoint: endpoint, Dialect: "contracts"}}
	if strings.HasPrefix(as, "tok-") {
		a.Token = as
	} else {
		a.ID = as
	}
	return a
}

// takes registers an agent and returns its id, with how it is known, or why it is refused.
func (d *desk) takes(a *Application) string {
	d.t.Helper()
	e, err := d.Admit(a, d.now)
	if rejected, is := errors.AsType[*Rejection](err); is {
		return rejected.Reason
	}
	if refusal, is := errors.AsType[*protocol.Error](err); is {
		suggestion, _ := refusal.Context["suggestion"].(string)
		return fmt.Sprint(dialect.CodeOf(err), " ", suggestion)
	}
	known := ""
	switch old := d.Members[e.ID]; {
	case d.Repeats(e):
		return e.ID + " as before"
	case e.Verifier != "":
		known = " by its token"
	case old != nil || e.Replaces != "":
		known = " with a new token"
	}
	if e.Verifier == "" {
		d.made++
		d.tokens[e.ID] = fmt.Sprint("tok-", e.ID, "-", d.made)
		e.Verifier = credential.NewVerifier(d.tokens[e.ID]).String()
	}
	d.apply(e, nil)
	return e.ID + known
}

// wants fails unless an agent is taken as a test says.
func (d *desk) wants(want string, a *Application) {
	d.t.Helper()
	if got := d.takes(a); !strings.HasPrefix(got, want) || want == "" {
		d.t.Errorf("%s (%s) at %s: %q, want %q", a.Name, a.ID+a.Token, a.Endpoint, got, want)
	}
}

func TestIDsAreAssigned(t *testing.T) {
	t.Parallel()
	d := open(t, Rules{})
	for i, c := range [][2]string{
		{"ada", "P01"}, {"P07", "P07"}, // free, honoured
		{"P07", "P02"}, {"P007", "P03"}, // taken, and the same number
		{"P8", "P04"}, {"REF05", "P05"}, {"P99999999999999", "P06"}, // none
		{"P123", "P123"}, {"bo", "P08"}, // 7 is taken
	} {
		d.wants(c[1], player(fmt.Sprint(i), fmt.Sprint("http://", i), c[0]))
	}
	for i, c := range [][2]string{{"alpha", "REF01"}, {"REF09", "REF09"}, {"P01", "REF02"}} {
		a := player("one name", fmt.Sprint("http://r", i), c[0]) // nobody mistakes referees
		a.Role = protocol.RoleReferee
		d.wants(c[1], a)
	}
}

func TestNamesAndEndpointsAreUnique(t *testing.T) {
	t.Parallel()
	d := open(t, Rules{MaxPlayers: 4, MaxReferees: 1})
	d.wants("P01", player("ada", "http://1", ""))
	d.wants("E022 ada 2", player("ada", "http://1", ""))
	d.wants("E044", player("eve", "http://1", ""))
	d.wants("P02", player("ada 2", "http://2", ""))
	d.wants("E022 ada 3", player("ada", "http://3", ""))
	d.wants("P01 by its token", player("ada the second", "http://new", d.tokens["P01"]))
	d.wants("P01 as before", player("ada the second", "http://new", d.tokens["P01"]))
	d.wants("E022", player("ada 2", "http://new", d.tokens["P01"]))
	d.wants("E044", player("ada", "http://2", d.tokens["P01"]))
	d.wants("E022", player("ada 2", "http://4", d.tokens["P01"]+"x")) // no token
	a := player("rex", "http://1", d.tokens["P01"])                   // a player's token makes no referee of it
	a.Role = protocol.RoleReferee
	d.wants("REF01", a)
	d.wants("P03", player("ben", "http://5", ""))
	d.wants("P04", player("cleo", "http://6", ""))
	d.wants("E020", player("dan", "http://7", ""))
}

// A lost answer is repeated for a minute, which the repeat does not prolong.
func TestALostAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	d, a, other := open(t, Rules{}), player("ada", "http://1", ""), player("ada", "http://1", "")
	a.Fingerprint, other.Fingerprint = "this request", "another"
	d.wants("P01", a)
	d.wants("E022", other)
	d.now = d.now.Add(59 * time.Second)
	d.wants("P01 with a new token", a)
	d.now = d.now.Add(2 * time.Second)
	d.wants("E022", a)
}

// Before the start of a tolerant league an agent replaces itself, a hundred times.
func TestATolerantLeagueLetsAgentsReplaceThemselves(t *testing.T) {
	t.Parallel()
	d := open(t, Rules{Mode: protocol.Tolerant, Legs: 1}, signedUp(protocol.RoleReferee, "REF01"))
	d.wants("P01", player("ada", "http://1", ""))
	d.now = d.now.Add(time.Hour)
	d.wants("P01 with a new token", player("ada", "http://1", ""))
	d.wants("P05 with a new token", player("ada", "http://1", "P05")) // and now it knows what it wants
	d.wants("P01", player("ben", "http://2", ""))                     // the id is free again
	for range 98 {
		d.now = d.now.Add(time.Hour)
		d.wants("P05 with a new token", player("ada", "http://1", ""))
	}
	for _, as := range []string{"", "P55"} {
		d.wants("Too many registrations: this agent", player("ada", "http://1", as))
	}
	d.wants("P05 as before", player("ada", "http://1", d.tokens["P05"]))
	d.apply(d.Start(d.now))
	d.now = d.now.Add(time.Hour)
	d.wants("League already started", player("cleo", "http://1", ""))
}

// A player that is readmitted gets another token, once, by its name, its endpoint or its id.
func TestAReadmittedPlayerIsKnownAgain(t *testing.T) {
	t.Parallel()
	for _, a := range []*Application{player("p02", "http://new", ""), player("new", "http://P02/mcp", ""), player("new", "http://new", "P02")} {
		d := open(t, Rules{}, opened()...)
		d.now = d.now.Add(time.Hour)
		reason := "League already started"
		if a.Name == "p02" {
			reason += `: "p02" is P02; register with its token or, if that is lost, ask the organiser to readmit P02`
		}
		d.wants(reason, a)
		d.apply(d.SetStatus("P02", Active, d.now))
		d.wants("P02 with a new token", a)
		d.now = d.now.Add(time.Hour)
		d.wants("League already started", a)
	}
}

func TestPlayersOfOneAddressAreBounded(t *testing.T) {
	t.Parallel()
	d := open(t, Rules{MaxPerAddress: 2})
	from := func(address, name string) *Application {
		a := player(name, "http://"+name, "")
		a.From = address
		return a
	}
	d.wants("P01", from("10.0.0.7", "a"))
	d.wants("P02", from("10.0.0.7", "b"))
	d.wants("Too many registrations: 10.0.0.7 has 2 players", from("10.0.0.7", "c"))
	d.apply(&StatusSet{Player: "P02", Status: Withdrawn}, nil)
	d.wants("P02", from("10.0.0.7", "d"))
	d.wants("P03", from("10.0.0.8", "c"))
	for i := range 5 {
		d.wants("P", from("", fmt.Sprint("local-", i)))
	}
}

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
	said := fmt.Sprint(m.Status(), " ", m.Points, " ", m.Choices, " ", m.Number)
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
		"a number that cannot be drawn": {`{"winner":"P01","details":{"drawn_number":98,"choices":{"P01":"even","P02":"odd"}}}`, "E046", "WIN [3 0] [even odd] 98 but 98"},
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
