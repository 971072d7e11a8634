package league

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
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
