package manager

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// caller is the sender of a request. The zero value is an asker without a token,
// who gets answers to queries only, without the endpoints of players.
type caller struct {
	role  protocol.Role
	agent *league.Member // nil for the launcher
}

// handlers are what the manager answers.
func (m *Manager) handlers() map[protocol.Type]wire.Handler {
	return map[protocol.Type]wire.Handler{
		protocol.TypeRefereeRegisterRequest: m.register,
		protocol.TypeLeagueRegisterRequest:  m.register,
		protocol.TypeStartLeague:            taking(m, "starts the league", m.startLeague),
		protocol.TypeSetPlayerStatus:        taking(m, "sets the status of a player", m.setStatus),
		protocol.TypeSetPace:                taking(m, "sets the pace of the league", m.setPace),
		protocol.TypeMatchProgress:          taking(m, "", m.progressed),
		protocol.TypeMatchResultReport:      taking(m, "", m.report),
		protocol.TypeLeagueQuery:            taking(m, "", m.query),
	}
}

func (m *Manager) unwanted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	return nil, protocol.Refuse(protocol.CodeUnknownMessageType, in.Type, fmt.Sprintf("The manager does not take %s.", in.Type))
}

// authenticate refuses a message without the token that belongs to the sender, before anything else
// about the message is judged. Only registrations come without proof of their sender.
func (m *Manager) authenticate(_ context.Context, in *wire.Exchange) error {
	if registers(in.Type) {
		return nil
	}
	from, err := m.identify(in)
	in.From = from
	return err
}

func (m *Manager) identify(in *wire.Exchange) (caller, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	token, isQuery := in.Header.AuthToken, in.Type == protocol.TypeLeagueQuery
	role, id, err := protocol.ParseSender(in.Header.Sender)
	switch owner := m.state.Members[credential.Owner(token)]; {
	case in.Header.Sender != "": // and else the field rules say whether that may be
	case in.Type == protocol.TypeStartLeague && m.cfg.Mode == protocol.Tolerant:
		role, id, err = protocol.RoleLauncher, "", nil // nobody else does
	case owner != nil:
		role, id, err = owner.Role, owner.ID, nil
	}
	if err == nil && role == protocol.RoleLauncher {
		err := m.identifyAdmin(in)
		if isQuery && dialect.CodeOf(err) == protocol.CodeTokenMissing {
			return caller{}, nil
		}
		return caller{role: role}, err
	}
	if a := m.trustedReferee(in); a != nil {
		return caller{role: protocol.RoleReferee, agent: a}, nil
	}
	a := m.state.Members[id]
	switch {
	case token != "":
	case isQuery && err == nil && a == nil && role != protocol.RoleManager:
		return caller{}, nil
	default:
		return caller{}, protocol.Refuse(protocol.CodeTokenMissing, in.Type,
			"The message bears no auth_token; send the one from the answer to the registration.")
	}
	if err != nil || a == nil || a.Role != role || !a.Key.Verify(token) {
		return caller{}, badToken(in, "The auth_token is not the one of this sender; register again if it was lost.")
	}
	c := m.contacts[a.ID]
	c.proved = true
	m.alive(c)
	return caller{role: role, agent: a}, nil
}

// trustedReferee returns the referee of the match that a report is about, in tolerant mode and
// where the referee has not declared match keys: it may sign with its token in a way of its own or,
// until it has shown its token once, with its id or name and a token of its own making. It is nil
// for any other message. It is called with m.mu held.
func (m *Manager) trustedReferee(in *wire.Exchange) *league.Member {
	p, known := m.state.Find(in.Header.MatchID)
	if m.cfg.Mode == protocol.Strict || in.Type != protocol.TypeMatchResultReport || !known || m.state.Referee(p) == nil {
		return nil
	}
	a, token := m.state.Referee(p), in.Header.AuthToken
	c := m.contacts[a.ID]
	_, signed, _ := strings.Cut(in.Header.Sender, ":")
	signed = cmp.Or(signed, in.Header.Sender)
	own := signed == a.ID || signed == a.Name
	switch other := m.state.Members[signed]; {
	case a.Keyed || other != nil && other != a:
		return nil
	case a.Key.Verify(token):
		c.proved = true
	case !own || c.proved || credential.Owner(token) != "":
		return nil
	}
	m.alive(c)
	return a
}

func badToken(in *wire.Exchange, detail string) error {
	refusal := protocol.Refuse(protocol.CodeTokenInvalid, in.Type, detail).
		With("provided_token", in.Header.AuthToken).With("expected_format", "tok-<agent id>-<random>")
	if role, id, err := protocol.ParseSender(in.Header.Sender); err == nil && role == protocol.RolePlayer {
		return refusal.With("player_id", id)
	}
	return refusal
}

// identifyAdmin accepts a request with the admin token or, where there is none,
// one from this machine that no web page or proxy has sent.
func (m *Manager) identifyAdmin(in *wire.Exchange) error {
	token := in.Header.AuthToken
	if bearer, ok := strings.CutPrefix(in.RPC.Header.Get("Authorization"), "Bearer "); ok && token == "" {
		token = strings.TrimSpace(bearer)
	}
	switch {
	case m.cfg.AdminToken != "" && credential.SameToken(token, m.cfg.AdminToken),
		m.cfg.AdminToken == "" && in.RPC.Local():
		return nil
	case token == "":
		return protocol.Refuse(protocol.CodeTokenMissing, in.Type, "The message bears no admin token; send it as auth_token or as Authorization: Bearer.")
	default:
		return badToken(in, "The token is not the admin token of this league.")
	}
}

// maxRefusals limits the different refusals that are reported, so that nobody fills
// the screen of the league's host.
const maxRefusals = 200

// inTolerant is added to the refusal of a message that only a strict league
// refuses: it may be quicker to ask for another league than to mend the agent.
const inTolerant = "A host started with --validation tolerant takes this message as it is."

// refusing gets every request that is about to be refused. The host of
// the league hears of registrations and reports, and of what is refused for nothing but
// the strictness of the league; so does the agent, of the latter.
func (m *Manager) refusing(_ context.Context, in *wire.Exchange, why *protocol.Error) *protocol.Error {
	if m.strictlyRefused(in.RPC, why) {
		// A question of an agent that has no token yet keeps it from nothing.
		if in.Type != protocol.TypeLeagueQuery || in.Header.AuthToken != "" {
			m.logRefusal(in, why.Reason(), true)
		}
		told := *why
		told.Detail = strings.TrimSpace(why.Detail + " " + inTolerant)
		return &told
	}
	t := cmp.Or(in.Type, why.Original)
	by, _ := in.From.(caller)
	reports := t == protocol.TypeMatchResultReport && by.agent != nil
	if reports { // it conducts its matches, whatever it says of them
		m.mu.Lock()
		m.contacts[by.agent.ID].conducts = true
		m.mu.Unlock()
	}
	if registers(t) || reports && why.Code != protocol.CodeDuplicateReport {
		m.logRefusal(in, why.Reason(), false)
	}
	return why
}

func registers(t protocol.Type) bool {
	return t == protocol.TypeLeagueRegisterRequest || t == protocol.TypeRefereeRegisterRequest
}

// strictlyRefused reports whether a refusal has no other reason than that the league is strict.
func (m *Manager) strictlyRefused(rpc *jsonrpc.Request, why *protocol.Error) bool {
	if m.cfg.Mode != protocol.Strict {
		return false
	}
	switch why.Code {
	case "", protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeVersionMismatch, protocol.CodeInvalidTimestamp, protocol.CodeContextMismatch:
	default:
		return false // it is about the sender, or about the league
	}
	_, strict := validate(m.dispatcher.Codec, rpc)
	_, tolerant := validate(m.tolerant, rpc)
	return strict != nil && tolerant == nil
}

// validate says what a codec has against the form of a request.
func validate(c *dialect.Codec, rpc *jsonrpc.Request) (*wire.Exchange, error) {
	in, err := &wire.Exchange{RPC: rpc}, error(nil)
	in.Request, err = c.Open(rpc)
	switch {
	case err != nil:
	case registers(in.Type):
		_, err = readApplication(in)
	default:
		_, err = in.Decode()
	}
	return in, err
}

// refusedBare does the same as refusing for what the server refuses before anybody has read it: no
// JSON-RPC at all and, in a strict league, a message without it around.
func (m *Manager) refusedBare(req *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	var frame struct {
		Version jsontext.Value `json:"jsonrpc"`
	}
	switch r.Reason {
	case jsonrpc.ReasonMediaType, jsonrpc.ReasonBadJSON, jsonrpc.ReasonBatch:
		m.logRefusal(&wire.Exchange{RPC: req, Request: new(dialect.Request)}, fmt.Sprintf("%s, from %s", r.Detail, req.Source()), false)
		m.deliverEvents()
	}
	if r.Reason != jsonrpc.ReasonBadShape || m.cfg.Mode != protocol.Strict || json.Unmarshal(req.Raw, &frame) != nil || frame.Version != nil {
		return nil
	}
	object := *req
	object.Kind = jsonrpc.KindObject
	in, err := validate(m.tolerant, &object)
	if err != nil {
		return nil
	}
	m.logRefusal(in, "there is no JSON-RPC around the message", true)
	m.deliverEvents()
	told := *r
	told.Detail += ". " + inTolerant
	return told.Error()
}

// logRefusal reports a refusal, the first time that it happens.
func (m *Manager) logRefusal(in *wire.Exchange, why string, strictness bool) {
	type meta struct {
		Name string `json:"display_name"`
		URL  string `json:"contact_endpoint"`
	}
	var said struct {
		Player  meta `json:"player_meta"`
		Referee meta `json:"referee_meta"`
	}
	_ = json.Unmarshal(in.Raw, &said) // what cannot be read is not known
	who := cmp.Or(said.Player, said.Referee)
	e := Event{Kind: MessageRefused, Agent: in.Header.Sender, Message: in.Type, Name: who.Name, URL: who.URL, Error: why, Tolerant: strictness}
	if e.Message == "" { // only a tolerant reader finds out what it is
		if read, err := validate(m.tolerant, in.RPC); err == nil {
			e.Message = read.Type
		}
	}
	m.cfg.Log.Info("message refused", "message", string(e.Message), "sender", e.Agent, "name", e.Name, "url", e.URL,
		"reason", why, "tolerant_would_accept", strictness)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isNew(e.Agent, string(e.Message), e.Name, e.URL, why) {
		m.emit(e)
	}
}

// isNew reports whether a refusal is the first of its kind, and there is room for it. It is
// called with m.mu held.
func (m *Manager) isNew(kind ...string) bool {
	key := fmt.Sprintf("%q", kind)
	if m.refusals[key] || len(m.refusals) == maxRefusals {
		return false
	}
	m.refusals[key] = true
	return true
}
