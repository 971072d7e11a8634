package manager

import (
	"context"
	"fmt"
	"mime"
	"net"
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// caller is who sent a request, beyond doubt.
type caller struct {
	role  protocol.Role
	agent *member // nil for the launcher
}

// handlers are what the manager answers.
func (m *Manager) handlers() map[protocol.Type]wire.Handler {
	return map[protocol.Type]wire.Handler{
		protocol.TypeRefereeRegisterRequest: m.registerReferee,
		protocol.TypeLeagueRegisterRequest:  m.registerPlayer,
		protocol.TypeStartLeague:            m.startLeague,
		protocol.TypeMatchResultReport:      m.report,
		protocol.TypeLeagueQuery:            m.query,
	}
}

// unwanted answers messages that are not for a manager.
func (m *Manager) unwanted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	return nil, protocol.Refuse(protocol.CodeUnknownMessageType, in.Type, fmt.Sprintf("The manager does not take %s.", in.Type))
}

// authenticate lets nobody through who does not show the token that belongs to
// the sender, before anything else about the message is judged. Only
// registrations come without proof of who sends them.
func (m *Manager) authenticate(_ context.Context, in *wire.Exchange) error {
	if registers(in.Type) {
		return nil
	}
	from, err := m.identify(in)
	in.From = from
	return err
}

func (m *Manager) identify(in *wire.Exchange) (caller, error) {
	token := in.Header.AuthToken
	role, id, err := protocol.ParseSender(in.Header.Sender)
	switch {
	case in.Header.Sender != "":
	case in.Type == protocol.TypeStartLeague && m.cfg.Mode == protocol.Tolerant:
		role, id, err = protocol.RoleLauncher, "", nil // who else would
	default: // the field rules say whether that may be
		role, id, err = m.ownerOf(token)
	}
	if err == nil && role == protocol.RoleLauncher {
		return caller{role: role}, m.identifyAdmin(in)
	}
	if token == "" {
		return caller{}, protocol.Refuse(protocol.CodeTokenMissing, in.Type,
			"The message bears no auth_token; send the one from the answer to the registration.")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.state.agents[id]
	if err != nil || a == nil || a.role != role || !a.verifier.Verify(token) {
		return caller{}, badToken(in, "The auth_token is not the one of this sender; register again if it was lost.")
	}
	m.alive(m.contacts[a.id])
	return caller{role: role, agent: a}, nil
}

func badToken(in *wire.Exchange, detail string) error {
	return protocol.Refuse(protocol.CodeTokenInvalid, in.Type, detail).
		With("provided_token", in.Header.AuthToken).With("expected_format", "tok-<agent id>-<random>")
}

// ownerOf returns who a token says it belongs to.
func (m *Manager) ownerOf(token string) (protocol.Role, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.state.agents[tokenOwner(token)]
	if a == nil {
		return "", "", fmt.Errorf("nobody has the id in the token")
	}
	return a.role, a.id, nil
}

// identifyAdmin lets through who shows the admin token or, where there is none,
// who speaks from this machine and is not a web page or a proxy on it.
func (m *Manager) identifyAdmin(in *wire.Exchange) error {
	token := in.Header.AuthToken
	if bearer, ok := strings.CutPrefix(in.RPC.Header.Get("Authorization"), "Bearer "); ok && token == "" {
		token = strings.TrimSpace(bearer)
	}
	switch {
	case m.cfg.AdminToken != "" && protocol.SameToken(token, m.cfg.AdminToken),
		m.cfg.AdminToken == "" && local(in.RPC):
		return nil
	case token == "":
		return protocol.Refuse(protocol.CodeTokenMissing, in.Type, "The message bears no admin token; send it as auth_token or as Authorization: Bearer.")
	default:
		return badToken(in, "The token is not the admin token of this league.")
	}
}

// forwarding are the headers by which a proxy betrays itself.
var forwarding = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// local reports whether a request comes from a program on this machine. A proxy
// makes every request look local, but says so in a header. A web page can have
// the browser post to local addresses, but the browser adds the page's Origin
// (https://fetch.spec.whatwg.org/#origin-header), asks first whether it may send
// this content type, and, where the page's own name was made to resolve to a
// local address, sends that name as Host.
func local(req *jsonrpc.Request) bool {
	if req.Transport != jsonrpc.TransportHTTP {
		return true // within the process, or its own standard input
	}
	media, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || media != "application/json" || len(req.Header.Values("Origin")) > 0 {
		return false
	}
	for _, name := range forwarding {
		if len(req.Header.Values(name)) > 0 {
			return false
		}
	}
	host := req.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return isLoopback(strings.Trim(host, "[]")) && isLoopback(sourceOf(req))
}
