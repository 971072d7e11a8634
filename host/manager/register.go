package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// maxChanges is how often an agent may register again without its token, so that
// nobody fills the journal by repeating a registration.
const maxChanges = 100

// rejection turns a registration away for a reason that has no number of its
// own: the answer is one of status REJECTED.
type rejection struct{ reason string }

func (r *rejection) Error() string { return r.reason }

func (m *Manager) register(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	a, err := readApplication(in)
	if err != nil {
		return nil, err
	}
	e, token, err := m.signUp(ctx, a)
	var turnedAway *rejection
	if errors.As(err, &turnedAway) {
		m.logRefusal(in, turnedAway.reason, false)
		in.Header.LeagueID = "" // the answer names no league
		return dialect.Rejected(a.kind, protocol.Header{}, turnedAway.reason), nil
	}
	if err != nil {
		return nil, err
	}
	m.cfg.Log.Info("agent registered", "agent", e.ID, "name", e.Name, "url", e.Endpoint, "dialect", e.Dialect, "token", credential.Mask(token))
	if m.cfg.Probe == ProbeWarn {
		m.probeLater(e.ID, e.Endpoint)
	}
	h := protocol.Header{AuthToken: token, LeagueID: m.cfg.LeagueID}
	if a.role == protocol.RoleReferee {
		h.MessageType = protocol.TypeRefereeRegisterRequest.Answer()
		return &protocol.RefereeRegisterResponse{Header: h, Status: protocol.StatusAccepted, RefereeID: e.ID, Reason: protocol.Null[string]()}, nil
	}
	h.MessageType = protocol.TypeLeagueRegisterRequest.Answer()
	return &protocol.LeagueRegisterResponse{Header: h, Status: protocol.StatusAccepted, PlayerID: e.ID, Reason: protocol.Null[string]()}, nil
}

// signUp takes an agent on and returns its registration and its token.
func (m *Manager) signUp(ctx context.Context, a application) (*registered, string, error) {
	if !m.allowed(a.endpoint) {
		return nil, "", &rejection{"Host not allowed: the contact endpoint is neither on this machine nor on an allowed host"}
	}
	if m.cfg.Probe == ProbeRequire {
		if _, err := m.decide(a); err != nil { // spares the probe
			return nil, "", err
		}
		if err := m.probe(ctx, a.endpoint); err != nil {
			return nil, "", protocol.Refuse(protocol.CodeInvalidEndpoint, a.kind,
				"The contact endpoint cannot be reached; listen on it before you register.").With("contact_endpoint", a.endpoint)
		}
	}
	m.signup.Lock()
	defer m.signup.Unlock()
	e, err := m.decide(a)
	if err != nil {
		return nil, "", err
	}
	token := a.token
	if m.unchanged(e) {
		return e, token, nil // nothing new, nothing to write down
	}
	if e.Verifier == "" {
		if token, err = credential.NewToken(m.cfg.Random, e.ID); err != nil {
			return nil, "", err
		}
		e.Verifier = credential.NewVerifier(token).String()
	}
	return e, token, m.record(ctx, e)
}

// decide returns what an application leads to: a registration of a new agent,
// or of one that is known. Without a verifier it is to have a new token.
func (m *Manager) decide(a application) (*registered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	e := &registered{
		Role: a.role, Dialect: a.dialect, Name: a.name, Version: a.version, Games: a.games,
		Endpoint: a.endpoint, Capacity: a.capacity, Keyed: a.keyed, Fingerprint: a.fingerprint, At: m.cfg.Now(),
	}
	if m.cfg.MaxPerAddress > 0 && a.role == protocol.RolePlayer {
		e.From = a.from
	}
	old := m.returning(a, e.At)
	switch {
	case s.over() && (s.concluded || old == nil || !m.showsToken(a, old)):
		return nil, &rejection{"League already completed"}
	case old != nil:
	case a.role == protocol.RolePlayer && s.schedule != nil:
		return nil, m.tooLate(a)
	case len(*s.list(a.role)) >= m.limit(a.role):
		return nil, m.full(a)
	case m.crowded(a):
		return nil, &rejection{fmt.Sprintf("Too many registrations: %s has %d players, as many as this league takes from one address", a.from, m.cfg.MaxPerAddress)}
	}
	if err := m.unique(a, old); err != nil {
		return nil, err
	}
	if old == nil {
		e.ID = m.idFor(a)
		return e, nil
	}
	e.ID = old.id
	if m.showsToken(a, old) {
		e.Verifier, e.Fingerprint, e.At = old.reg.Verifier, old.reg.Fingerprint, old.reg.At
		return e, nil
	}
	if old.changes >= maxChanges && !old.readmitted {
		return nil, &rejection{"Too many registrations: this agent has registered again too often"}
	}
	if a.fingerprint != "" && a.fingerprint == old.reg.Fingerprint {
		e.At = old.reg.At // the window is not prolonged
		return e, nil
	}
	if n, ok := idNumber(a.role, a.asked); ok && s.schedule == nil && !old.readmitted && a.asked != old.id && s.free(a.role, n) {
		e.ID, e.Replaces = a.asked, old.id
	}
	return e, nil
}

// tooLate turns away a player that comes after the start. Its name may be that of a
// player which has lost its token.
func (m *Manager) tooLate(a application) error {
	reason := "League already started"
	if old := m.namesake(a); old != nil {
		reason += fmt.Sprintf(": %q is %s; register with its token or, if that is lost, ask the organiser to readmit %s", a.name, old.id, old.id)
	}
	return &rejection{reason}
}

// unchanged reports whether a registration says nothing that the last one of its
// agent has not said; the agent may have been away all the same.
func (m *Manager) unchanged(e *registered) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.state.agents[e.ID]
	if old == nil || old.readmitted || !old.reg.same(e) {
		return false
	}
	m.reactRegistered(e)
	return true
}

// showsToken reports whether an application shows the current token of an agent.
func (m *Manager) showsToken(a application, old *member) bool {
	return a.token != "" && old.verifier.Verify(a.token)
}

// returning finds the agent that registers again: it holds its token, or it
// repeats a request whose answer was lost, or it may replace itself because
// nothing is at stake yet, or because the organiser has readmitted it.
func (m *Manager) returning(a application, now time.Time) *member {
	if old := m.state.agents[tokenOwner(a.token)]; old != nil && old.role == a.role && m.showsToken(a, old) {
		return old
	}
	if old := m.readmitted(a); old != nil {
		return old
	}
	for _, old := range *m.state.list(a.role) {
		age := now.Sub(old.reg.At)
		switch {
		case a.fingerprint != "" && a.fingerprint == old.reg.Fingerprint && age.Abs() <= repeatWindow:
			return old
		case m.cfg.Mode == protocol.Tolerant && m.state.schedule == nil && a.endpoint == old.reg.Endpoint:
			return old
		}
	}
	return nil
}

// tokenOwner returns the id that a token claims to belong to.
func tokenOwner(token string) string {
	rest, _ := strings.CutPrefix(token, "tok-")
	if i := strings.LastIndexByte(rest, '-'); i >= 0 {
		return rest[:i]
	}
	return ""
}

func (m *Manager) limit(role protocol.Role) int {
	if role == protocol.RoleReferee {
		return m.cfg.MaxReferees
	}
	return m.cfg.MaxPlayers
}

// crowded reports whether the address of a new player has all the players that it
// may have. It is called with m.mu held.
func (m *Manager) crowded(a application) bool {
	if m.cfg.MaxPerAddress < 1 || a.role != protocol.RolePlayer || a.from == "" {
		return false
	}
	n := 0
	for _, other := range m.state.players {
		if other.reg.From == a.from {
			n++
		}
	}
	return n >= m.cfg.MaxPerAddress
}

func (m *Manager) full(a application) error {
	most, now := m.limit(a.role), len(*m.state.list(a.role))
	e := protocol.Refuse(protocol.CodeLeagueFull, a.kind, fmt.Sprintf("The league has all the %ss it takes (%d).", a.role, most))
	if a.role == protocol.RoleReferee {
		return e.With("max_referees", most).With("current_referees", now)
	}
	return e.With("max_players", most).With("current_players", now)
}

// unique refuses a name or an endpoint that another agent of the role has. Two
// referees may have one name, as nobody mistakes them in a table.
func (m *Manager) unique(a application, self *member) error {
	var endpoint *protocol.Error
	names := make(map[string]bool)
	for _, other := range *m.state.list(a.role) {
		if other == self {
			continue
		}
		names[other.reg.Name] = true
		if other.reg.Endpoint == a.endpoint {
			endpoint = protocol.Refuse(protocol.CodeInvalidEndpoint, a.kind,
				"Another agent has registered with this contact endpoint; register again with the token you were given, or from another endpoint.")
		}
	}
	if a.role == protocol.RolePlayer && names[a.name] {
		suggestion := a.name
		for n := 2; names[suggestion]; n++ {
			suggestion = fmt.Sprintf("%s %d", a.name, n)
		}
		return protocol.Refuse(protocol.CodeDuplicateName, a.kind,
			fmt.Sprintf("There is a player %q already; choose another display_name, or register again with the token you were given.", a.name)).
			With("display_name", a.name).With("suggestion", suggestion)
	}
	if endpoint != nil {
		return endpoint.With("contact_endpoint", a.endpoint)
	}
	return nil
}

// idFor returns the id that was asked for, if it has the form and is free, and
// else the next.
func (m *Manager) idFor(a application) string {
	if n, ok := idNumber(a.role, a.asked); ok && m.state.free(a.role, n) {
		return a.asked
	}
	return m.state.nextID(a.role)
}

// probed is a probe of an endpoint: it runs until done is closed.
type probed struct {
	done chan struct{}
	at   time.Time
	err  error
}

// probeAgain is how soon an endpoint is not probed again: some agents register
// twice.
const probeAgain = time.Second

// probeLast is the last of the pauses, each twice the one before, after which an
// endpoint is probed again.
const probeLast = 8 * time.Second

// probe finds out whether an endpoint can be reached, or takes what another probe of
// it has found just now.
func (m *Manager) probe(ctx context.Context, endpoint string) error {
	m.mu.Lock()
	p := m.probes[endpoint]
	if p != nil && time.Since(p.at) < probeAgain {
		m.mu.Unlock()
		select {
		case <-p.done:
			return p.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	maps.DeleteFunc(m.probes, func(_ string, old *probed) bool { return time.Since(old.at) >= probeAgain })
	p = &probed{done: make(chan struct{}), at: time.Now()}
	m.probes[endpoint] = p
	m.mu.Unlock()
	p.err = m.reach(ctx, endpoint)
	close(p.done)
	return p.err
}

// reach calls an endpoint. Any answer will do.
func (m *Manager) reach(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	_, err := m.cfg.Caller.Client.Call(ctx, endpoint, jsonrpc.Message{Method: "ping", Params: []byte(`{}`)})
	for _, kind := range []error{jsonrpc.ErrConnect, jsonrpc.ErrClosed, jsonrpc.ErrTimeout, context.Canceled} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return nil
}

// probeLater probes without keeping anybody waiting: many agents register before they
// listen, or cannot answer while they wait for our answer. Only one that stays away is
// warned of.
func (m *Manager) probeLater(id, endpoint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	m.background.Go(func() {
		err := m.probe(m.ctx, endpoint)
		for wait := probeAgain; err != nil && wait <= probeLast; wait *= 2 {
			select {
			case <-time.After(wait):
				err = m.probe(m.ctx, endpoint)
			case <-m.ctx.Done():
				return
			}
		}
		if err != nil && m.ctx.Err() == nil {
			m.cfg.Log.Warn("registered endpoint not reachable", "agent", id, "url", endpoint, "error", err)
		}
	})
}

// due reports whether the league is to start by itself. It is called with m.mu
// held.
func (m *Manager) due() bool {
	s := m.state
	return m.cfg.Players >= game.MinPlayers && s.schedule == nil && len(s.players) >= m.cfg.Players && len(s.referees) > 0
}
