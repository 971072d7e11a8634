package league

import (
	"fmt"
	"reflect"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Application is what an agent that registers says of itself. Its ID is the one that it
// asks for, and it has no Verifier.
type Application struct {
	Registration
	Token string
}

// Refuse refuses the application.
func (a *Application) Refuse(code protocol.Code, detail string, violations ...protocol.Violation) *protocol.Error {
	t := protocol.TypeLeagueRegisterRequest
	if a.Role == protocol.RoleReferee {
		t = protocol.TypeRefereeRegisterRequest
	}
	return protocol.Refuse(code, t, detail, violations...)
}

// Rejection turns a registration away for a reason that has no number of its
// own: the answer is one of status REJECTED.
type Rejection struct{ Reason string }

func (r *Rejection) Error() string { return r.Reason }

// maxChanges is how often an agent may register again without its token, so that
// nobody fills the journal by repeating a registration.
const maxChanges = 100

// repeatWindow is how long a registration is known again whose answer was lost.
const repeatWindow = 60 * time.Second

// Admit returns the registration that an application leads to. Without a Verifier it is to have a
// new token. The error is a *Rejection or a *protocol.Error.
//
// An agent that registers again is known again by its current token; or, for 60 seconds, when
// source address, conversation, JSON-RPC id and what it says of itself are the same, as then the
// answer was lost; or, in tolerant mode and before the start, by its endpoint; or, once the
// organiser has readmitted it, by its name, endpoint or id. In all cases but the first it gets a
// new token and the old one is void, at most 100 times unless it is readmitted. Everybody else is
// refused a name (2002) or an endpoint (1002, 2003) that is taken. When the last round is over,
// only an agent that shows its token is taken back, to hear of the end where it is now.
func (s *State) Admit(a *Application, now time.Time) (*Joined, error) {
	e := &Joined{Registration: a.Registration}
	if e.At = now; s.Rules.MaxPerAddress < 1 || a.Role != protocol.RolePlayer {
		e.From = ""
	}
	old := s.returning(a, now)
	shown := old != nil && old.shown(a.Token)
	switch {
	case s.Over() && (s.Concluded || !shown):
		return nil, &Rejection{"League already completed"}
	case old != nil:
	case a.Role == protocol.RolePlayer && s.Schedule != nil:
		return nil, s.tooLate(a)
	case len(*s.list(a.Role)) >= s.most(a.Role):
		return nil, s.full(a)
	case s.crowded(e):
		return nil, &Rejection{fmt.Sprintf("Too many registrations: %s has %d players, as many as this league takes from one address", a.From, s.Rules.MaxPerAddress)}
	}
	if err := s.unique(a, old); err != nil {
		return nil, err
	}
	repeated := old != nil && a.Fingerprint != "" && a.Fingerprint == old.Fingerprint
	switch {
	case old == nil:
		e.ID = s.idFor(a.Role, a.ID)
		return e, nil
	case shown:
		e.Verifier, e.Fingerprint, e.At = old.Verifier, old.Fingerprint, old.At
	case old.changes >= maxChanges && !old.Readmitted:
		return nil, &Rejection{"Too many registrations: this agent has registered again too often"}
	case repeated:
		e.At = old.At // the window is not prolonged
	default:
		if s.Schedule == nil && !old.Readmitted && a.ID != old.ID && s.free(a.Role, a.ID) {
			e.Replaces = old.ID
			return e, nil
		}
	}
	e.ID = old.ID
	return e, nil
}

// Repeats reports whether a registration says nothing that the last one of its
// agent has not said; the agent may have been away all the same.
func (s *State) Repeats(e *Joined) bool {
	old := s.Members[e.ID]
	if old == nil || old.Readmitted {
		return false
	}
	before := old.Registration
	before.From = e.From
	return reflect.DeepEqual(before, e.Registration)
}

// shown reports whether a token is the current one of an agent.
func (a *Member) shown(token string) bool { return token != "" && a.Key.Verify(token) }

// returning finds the agent that registers again.
func (s *State) returning(a *Application, now time.Time) *Member {
	if old := s.Members[credential.Owner(a.Token)]; old != nil && old.Role == a.Role && old.shown(a.Token) {
		return old
	}
	for _, known := range []func(*Member) bool{
		func(old *Member) bool { return old.Readmitted && old.Name == a.Name },
		func(old *Member) bool { return old.Readmitted && old.Endpoint == a.Endpoint },
		func(old *Member) bool { return old.Readmitted && old.ID == a.ID && s.Schedule != nil }, // nobody new comes
		func(old *Member) bool {
			repeated := a.Fingerprint != "" && a.Fingerprint == old.Fingerprint && now.Sub(old.At).Abs() <= repeatWindow
			return repeated || s.Rules.Mode == protocol.Tolerant && s.Schedule == nil && a.Endpoint == old.Endpoint
		},
	} {
		if old := s.find(a.Role, known); old != nil {
			return old
		}
	}
	return nil
}

// tooLate turns away a player that comes after the start. Its name may be that of a
// player which has lost its token.
func (s *State) tooLate(a *Application) error {
	reason := "League already started"
	if old := s.find(a.Role, func(old *Member) bool { return old.Name == a.Name }); old != nil {
		reason += fmt.Sprintf(": %q is %s; register with its token or, if that is lost, ask the organiser to readmit %s", a.Name, old.ID, old.ID)
	}
	return &Rejection{reason}
}

// most is how many agents of a role the league takes.
func (s *State) most(role protocol.Role) int {
	if role == protocol.RoleReferee {
		return s.Rules.MaxReferees
	}
	return s.Rules.MaxPlayers
}

func (s *State) full(a *Application) error {
	most := s.most(a.Role)
	return a.Refuse(protocol.CodeLeagueFull, fmt.Sprintf("The league has all the %ss it takes (%d).", a.Role, most)).
		With(fmt.Sprintf("max_%ss", a.Role), most).With(fmt.Sprintf("current_%ss", a.Role), len(*s.list(a.Role)))
}

// crowded reports whether the address of a new player has all the players that it may have.
func (s *State) crowded(e *Joined) bool {
	n := 0
	for _, other := range s.Players {
		if other.From == e.From {
			n++
		}
	}
	return e.From != "" && n >= s.Rules.MaxPerAddress
}

// unique refuses a name or an endpoint that another agent of the role has. Two
// referees may have one name, as nobody mistakes them in a table.
func (s *State) unique(a *Application, self *Member) error {
	endpoint, names := false, make(map[string]bool)
	for _, other := range *s.list(a.Role) {
		if other != self {
			names[other.Name] = true
			endpoint = endpoint || other.Endpoint == a.Endpoint
		}
	}
	switch {
	case a.Role == protocol.RolePlayer && names[a.Name]:
		suggestion := a.Name
		for n := 2; names[suggestion]; n++ {
			suggestion = fmt.Sprintf("%s %d", a.Name, n)
		}
		return a.Refuse(protocol.CodeDuplicateName,
			fmt.Sprintf("There is a player %q already; choose another display_name, or register again with the token you were given.", a.Name)).
			With("display_name", a.Name).With("suggestion", suggestion)
	case endpoint:
		return a.Refuse(protocol.CodeInvalidEndpoint,
			"Another agent has registered with this contact endpoint; register again with the token you were given, or from another endpoint.").
			With("contact_endpoint", a.Endpoint)
	}
	return nil
}

// MaxPace is the longest pause after each round.
const MaxPace = 24 * time.Hour

// Due reports whether a league that starts by itself with so many players is to start; 0 never is.
func (s *State) Due(players int) bool {
	return players >= game.MinPlayers && s.Schedule == nil && len(s.Players) >= players && len(s.Referees) > 0
}

// Start returns the event that starts the league, or nil if it runs. The error is a
// *protocol.Error: E007 without a referee or with fewer than two players, E031 when the
// league is over.
func (s *State) Start(now time.Time) (*Started, error) {
	unready := func(why string) (*Started, error) {
		return nil, protocol.Refuse(protocol.CodeInvalidState, protocol.TypeStartLeague, "The league cannot start: "+why+".")
	}
	switch {
	case s.Over():
		return nil, protocol.Refuse(protocol.CodeLeagueAlreadyComplete, protocol.TypeStartLeague, "The league is over; start another one.")
	case s.Schedule != nil:
		return nil, nil
	case len(s.Referees) == 0:
		return unready("no referee has registered yet")
	case len(s.Players) < game.MinPlayers:
		return unready(fmt.Sprintf("registered players: %d; a league takes %d", len(s.Players), game.MinPlayers))
	}
	if _, err := game.NewSchedule(len(s.Players), s.Rules.Legs); err != nil {
		return unready(err.Error())
	}
	e := &Started{Legs: s.Rules.Legs, At: now}
	for _, a := range s.Seating() {
		e.Seats = append(e.Seats, a.ID)
	}
	return e, nil
}

// SetStatus returns the event that takes a player out or readmits it, or nil if that is so
// already. The error is a *protocol.Error: E005 for an unknown player, E007 for one that
// was withdrawn, E031 for a league that is over, E030 for Suspended before the start.
func (s *State) SetStatus(player string, status Life, now time.Time) (*StatusSet, error) {
	refuse := func(code protocol.Code, detail string) *protocol.Error {
		return protocol.Refuse(code, protocol.TypeSetPlayerStatus, detail)
	}
	a := s.Members[player]
	switch {
	case a == nil || a.Role != protocol.RolePlayer:
		return nil, s.UnknownPlayer(protocol.TypeSetPlayerStatus, player)
	case s.Over():
		return nil, refuse(protocol.CodeLeagueAlreadyComplete, "The league is over; the status of its players stands.")
	case s.Schedule == nil && status == Suspended:
		return nil, refuse(protocol.CodeLeagueNotStarted, "The league has not started; a player that shall not play is withdrawn.")
	case a.Status == Withdrawn && status != Withdrawn:
		return nil, refuse(protocol.CodeInvalidState, fmt.Sprintf("%s was withdrawn, which is final.", player)).With("player_id", player)
	case a.Status == status && status != "", a.Readmitted && status == Active:
		return nil, nil
	}
	return &StatusSet{Player: player, Status: status, At: now}, nil
}

// UnknownPlayer refuses a message about a player that there is not.
func (s *State) UnknownPlayer(t protocol.Type, id string) *protocol.Error {
	all := "nobody has registered yet."
	players := s.Seating()
	switch n := len(players); n {
	case 0:
	case 1:
		all = "the only player is " + players[0].ID + "."
	default:
		all = fmt.Sprintf("there are %d players, %s to %s; GET_PLAYERS lists them.", n, players[0].ID, players[n-1].ID)
	}
	return protocol.Refuse(protocol.CodePlayerNotRegistered, t, "Unknown player; "+all).With("player_id", id)
}

// SetPace returns the event that pauses the league, lets it go on, or changes the pause
// after each round, or nil if nothing changes; nil leaves what it stands for. The error is
// a *protocol.Error: E031 when the league is over, E006 for a pause out of range.
func (s *State) SetPace(paused *bool, pace *time.Duration, now time.Time) (*PaceSet, error) {
	e := &PaceSet{Paused: s.Paused, Pace: s.pace, At: now}
	if paused != nil {
		e.Paused = *paused
	}
	if pace != nil && *pace != s.Pace() {
		e.Pace = pace
	}
	switch {
	case s.Over():
		return nil, protocol.Refuse(protocol.CodeLeagueAlreadyComplete, protocol.TypeSetPace, "The league is over; it has no round to wait for.")
	case pace != nil && (*pace < 0 || *pace > MaxPace):
		return nil, protocol.Refuse(protocol.CodeInvalidFieldType, protocol.TypeSetPace,
			fmt.Sprintf("The pause after each round is 0 to %d ms.", MaxPace.Milliseconds()), protocol.Violation{Path: "/pace_ms", Rule: "range"})
	case e.Paused == s.Paused && e.Pace == s.pace:
		return nil, nil
	}
	return e, nil
}

// Share is the part of a round's matches that a referee is given.
type Share struct {
	Referee *Member
	Load    int
}

// LeastLoaded gives one more match to the referee that has the least to do, measured
// by how many matches it conducts at once; of equals to the first. If somebody forfeits the
// match, a referee of this program goes first: others ask the player all the same, and wait.
func LeastLoaded(shares []Share, forfeit bool) *Member {
	best := &shares[0]
	for i := range shares {
		s := &shares[i]
		more := (s.Load+1)*max(best.Referee.Capacity, 1) < (best.Load+1)*max(s.Referee.Capacity, 1)
		if forfeit && s.Referee.Keyed != best.Referee.Keyed {
			more = s.Referee.Keyed
		}
		if more {
			best = s
		}
	}
	best.Load++
	return best.Referee
}
