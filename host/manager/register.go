package manager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Limits of what an agent may say of itself: names stand in every table that is sent to everybody.
const (
	maxName     = 100 // characters
	maxVersion  = 100 // bytes
	maxEndpoint = 2000
	maxGames    = 32
	maxCapacity = 10_000
)

func (m *Manager) register(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	a, err := readApplication(in)
	if err != nil {
		return nil, err
	}
	e, token, err := m.signUp(ctx, a)
	if turnedAway, is := errors.AsType[*league.Rejection](err); is {
		m.logRefusal(in, turnedAway.Reason, false)
		in.Header.LeagueID = "" // the answer names no league
		return dialect.Rejected(in.Type, protocol.Header{}, turnedAway.Reason), nil
	}
	if err != nil {
		return nil, err
	}
	m.cfg.Log.Info("agent registered", "agent", e.ID, "name", e.Name, "url", e.Endpoint, "dialect", e.Dialect, "token", credential.Mask(token))
	if m.cfg.Probe == ProbeWarn {
		m.probeLater(e.ID, e.Endpoint)
	}
	return in.Type.Accepted(e.ID, token, m.cfg.LeagueID), nil
}

// signUp takes an agent on and returns its registration and its token.
func (m *Manager) signUp(ctx context.Context, a *league.Application) (e *league.Joined, token string, err error) {
	if !m.allowed(a.Endpoint) {
		return nil, "", &league.Rejection{Reason: "Host not allowed: the contact endpoint is neither on this machine nor on an allowed host"}
	}
	admit := func(s *league.State) error {
		e, err = s.Admit(a, m.cfg.Now())
		return err
	}
	if m.cfg.Probe == ProbeRequire {
		if err := read(m, admit); err != nil { // spares the probe
			return nil, "", err
		}
		if err := m.probe(ctx, a.Endpoint); err != nil {
			return nil, "", a.Refuse(protocol.CodeInvalidEndpoint,
				"The contact endpoint cannot be reached; listen on it before you register.").With("contact_endpoint", a.Endpoint)
		}
	}
	token = a.Token
	err = decide(ctx, m, func(s *league.State) (*league.Joined, error) {
		if err := admit(s); err != nil {
			return nil, err
		}
		if s.Repeats(e) { // nothing new, nothing to write down
			m.reactJoined(e)
			return nil, nil
		}
		if e.Verifier == "" {
			if token, err = credential.NewToken(m.cfg.Random, e.ID); err != nil {
				return nil, err
			}
			e.Verifier = credential.NewVerifier(token).String()
		}
		return e, nil
	})
	return e, token, err
}

// readApplication reads a registration, and validates what needs no knowledge of the league.
func readApplication(in *wire.Exchange) (*league.Application, error) {
	decoded, err := in.Decode()
	if err != nil {
		return nil, err
	}
	r, meta := league.Registration{Role: protocol.RolePlayer}, "/player_meta/"
	var said protocol.PlayerMeta
	switch m := decoded.(type) {
	case *protocol.RefereeRegisterRequest:
		said, meta = m.Meta.PlayerMeta, "/referee_meta/"
		r = league.Registration{
			Role: protocol.RoleReferee, Capacity: min(max(m.Meta.MaxConcurrentMatches.Value(), 1), maxCapacity), Keyed: m.Meta.MatchKeys.Value(),
		}
	case *protocol.LeagueRegisterRequest:
		said = m.Meta
	}
	r.Name, r.Version, r.Games, r.Endpoint = said.DisplayName, said.Version, said.GameTypes, said.ContactEndpoint
	h := decoded.Head()
	r.Dialect, r.Name = dialectOf(in, r.Role), strings.TrimSpace(r.Name)
	if role, id, err := protocol.ParseSender(h.Sender); err == nil && role == r.Role {
		r.ID = id
	}
	r.Fingerprint, r.From = fingerprint(&r, in), in.RPC.Network()
	a := &league.Application{Registration: r, Token: h.AuthToken}
	tooLong := func(field, detail string) (*league.Application, error) {
		return a, a.Refuse(protocol.CodeInvalidFieldType, detail, protocol.Violation{Path: meta + field, Rule: "length"})
	}
	switch {
	case r.Name == "" || utf8.RuneCountInString(r.Name) > maxName || strings.ContainsFunc(r.Name, unicode.IsControl):
		return tooLong("display_name", "A display name has 1 to 100 characters and no control characters.")
	case len(r.Version) > maxVersion:
		return tooLong("version", "A version has at most 100 bytes.")
	case len(r.Games) > maxGames || slices.ContainsFunc(r.Games, func(s string) bool { return len(s) > maxName }):
		return tooLong("game_types", "At most 32 game types of 100 bytes each.")
	case len(r.Games) > 0 && !slices.Contains(r.Games, protocol.GameEvenOdd):
		return a, a.Refuse(protocol.CodeUnsupportedGameType,
			"This league plays "+protocol.GameEvenOdd+"; register an agent that can.").With("supported", []string{protocol.GameEvenOdd})
	}
	if u, err := url.Parse(r.Endpoint); in.Mode == protocol.Tolerant && err == nil && u.Host != "" && u.Path == "" {
		a.Endpoint = u.JoinPath("/mcp").String() // the course's path; a referee finds others
	}
	if wrong := endpointFault(a.Endpoint); wrong != "" {
		return a, a.Refuse(protocol.CodeInvalidEndpoint, "The contact endpoint "+wrong+".")
	}
	return a, nil
}

// dialectOf returns the name of the dialect in which the registering agent is to be
// addressed, with what else the registration betrays.
func dialectOf(in *wire.Exchange, role protocol.Role) string {
	d := in.Dialect
	if jsontext.Value(in.RPC.ID).Kind() == '0' {
		d = d.With(dialect.TraitNumericIDs)
	}
	if role == protocol.RoleReferee {
		d = d.With(dialect.AssignmentTrait(in.Raw))
	}
	return d.Name
}

// endpointFault says what a URL lacks to be an endpoint.
func endpointFault(endpoint string) string {
	u, err := url.Parse(endpoint)
	switch {
	case len(endpoint) > maxEndpoint:
		return "is too long"
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "is not an http or https URL"
	case u.Hostname() == "" || u.Opaque != "":
		return "names no host"
	case u.Path == "":
		return "has no path; agents commonly listen on /mcp"
	case u.User != nil || u.Fragment != "":
		return "has a user or a fragment, which it may not"
	}
	return ""
}

// allowed reports whether agents may have an endpoint on the URL's host, so that the manager cannot
// be made to call into a network.
func (m *Manager) allowed(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (jsonrpc.IsLoopback(u.Hostname()) ||
		slices.ContainsFunc(m.cfg.AllowHosts, func(pattern string) bool { return jsonrpc.MatchHost(pattern, u.Hostname()) }))
}

// fingerprint returns what identifies a request that is sent again because its
// answer was lost: source address, conversation, JSON-RPC id and what the agent
// says of itself. A request without an id or a conversation has none.
func fingerprint(r *league.Registration, in *wire.Exchange) string {
	if len(in.RPC.ID) == 0 || string(in.RPC.ID) == "null" || in.Header.ConversationID == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		string(in.Type), in.RPC.Source(), in.Header.ConversationID, string(in.RPC.ID),
		r.Name, r.Version, strings.Join(r.Games, ","), r.Endpoint, strconv.Itoa(r.Capacity),
	}))
	return hex.EncodeToString(sum[:16])
}

// probeWaits are the pauses after which an endpoint is probed again.
var probeWaits = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// probe calls an endpoint. Any answer will do.
func (m *Manager) probe(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	_, err := m.cfg.Caller.Client.Call(ctx, endpoint, jsonrpc.Message{Method: "ping", Params: []byte(`{}`)})
	silent := func(kind error) bool { return errors.Is(err, kind) }
	if slices.ContainsFunc([]error{jsonrpc.ErrConnect, jsonrpc.ErrClosed, jsonrpc.ErrTimeout, context.Canceled}, silent) {
		return err
	}
	return nil
}

// probeLater probes without keeping anybody waiting: many agents register before they listen, or
// cannot answer while they wait for our answer. Only one that stays away is warned of.
func (m *Manager) probeLater(id, endpoint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.probed[endpoint] || m.ctx.Err() != nil { // some agents register over and over
		return
	}
	m.probed[endpoint] = true
	m.background.Go(func() {
		err := m.probe(m.ctx, endpoint)
		for _, wait := range probeWaits {
			if err == nil || agent.Wait(m.ctx, wait) != nil {
				break
			}
			err = m.probe(m.ctx, endpoint)
		}
		if err == nil || m.ctx.Err() != nil {
			return
		}
		m.cfg.Log.Warn("registered endpoint not reachable", "agent", id, "url", endpoint, "error", err)
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.probed, endpoint)
	})
}
