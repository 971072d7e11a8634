package manager

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Limits of what an agent may say of itself: names stand in every table that
// is sent to everybody.
const (
	maxName     = 100 // characters
	maxVersion  = 100 // bytes
	maxEndpoint = 2000
	maxGames    = 32
	maxCapacity = 10_000
)

// application is what an agent that registers says of itself.
type application struct {
	role        protocol.Role
	kind        protocol.Type
	asked       string // the id in its sender
	token       string
	name        string
	version     string
	games       []string
	endpoint    string
	capacity    int
	dialect     string
	fingerprint string // of the request
	from        string // the address that Config.MaxPerAddress bounds; empty on this machine
	keyed       bool   // a referee signs with the keys of a match
}

// readApplication reads a registration, and validates what needs no knowledge of
// the league.
func readApplication(in *wire.Exchange) (application, error) {
	decoded, err := in.Decode()
	if err != nil {
		return application{}, err
	}
	var a application
	var meta string
	switch m := decoded.(type) {
	case *protocol.RefereeRegisterRequest:
		meta = "/referee_meta/"
		a = application{
			role: protocol.RoleReferee, name: m.Meta.DisplayName, version: m.Meta.Version, games: m.Meta.GameTypes,
			endpoint: m.Meta.ContactEndpoint, capacity: min(max(m.Meta.MaxConcurrentMatches.Value(), 1), maxCapacity),
			keyed: m.Meta.MatchKeys.Value(),
		}
	case *protocol.LeagueRegisterRequest:
		meta = "/player_meta/"
		a = application{
			role: protocol.RolePlayer, name: m.Meta.DisplayName, version: m.Meta.Version, games: m.Meta.GameTypes,
			endpoint: m.Meta.ContactEndpoint,
		}
	}
	h := decoded.Head()
	a.kind, a.token, a.dialect = in.Type, h.AuthToken, dialectOf(in, a.role)
	a.name = strings.TrimSpace(a.name)
	if role, id, err := protocol.ParseSender(h.Sender); err == nil && role == a.role {
		a.asked = id
	}
	a.fingerprint, a.from = a.fingerprintOf(in), boundedAddress(in.RPC)
	switch {
	case a.name == "" || utf8.RuneCountInString(a.name) > maxName || strings.ContainsFunc(a.name, unicode.IsControl):
		return a, tooLong(a.kind, meta+"display_name", "A display name has 1 to 100 characters and no control characters.")
	case len(a.version) > maxVersion:
		return a, tooLong(a.kind, meta+"version", "A version has at most 100 bytes.")
	case len(a.games) > maxGames || slices.ContainsFunc(a.games, func(s string) bool { return len(s) > maxName }):
		return a, tooLong(a.kind, meta+"game_types", "At most 32 game types of 100 bytes each.")
	case len(a.games) > 0 && !slices.Contains(a.games, protocol.GameEvenOdd):
		return a, protocol.Refuse(protocol.CodeUnsupportedGameType, a.kind,
			"This league plays "+protocol.GameEvenOdd+"; register an agent that can.").With("supported", []string{protocol.GameEvenOdd})
	}
	if u, err := url.Parse(a.endpoint); in.Tolerant() && err == nil && u.Host != "" && u.Path == "" {
		a.endpoint = u.JoinPath("/mcp").String() // the course's path; a referee finds others
	}
	if err := checkEndpoint(a.endpoint); err != nil {
		return a, protocol.Refuse(protocol.CodeInvalidEndpoint, a.kind, "The contact endpoint "+err.Error()+".")
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
	if name := dialect.AssignmentNameIn(in.Raw); role == protocol.RoleReferee && name != "" {
		d = d.With(dialect.AssignmentTrait(name))
	}
	return d.Name
}

func tooLong(kind protocol.Type, field, detail string) error {
	e := protocol.Refuse(protocol.CodeInvalidFieldType, kind, detail)
	e.Violations = []protocol.Violation{{Path: field, Rule: "length"}}
	return e
}

// checkEndpoint holds a URL to the form of an endpoint. The error says what it
// lacks.
func checkEndpoint(endpoint string) error {
	if len(endpoint) > maxEndpoint {
		return errors.New("is too long")
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("is not an http or https URL")
	case u.Hostname() == "" || u.Opaque != "":
		return errors.New("names no host")
	case u.Path == "":
		return errors.New("has no path; agents commonly listen on /mcp")
	case u.User != nil || u.Fragment != "":
		return errors.New("has a user or a fragment, which it may not")
	}
	return nil
}

// allowed reports whether agents may have an endpoint on the URL's host, so
// that the manager cannot be made to call into a network.
func (m *Manager) allowed(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if isLoopback(host) {
		return true
	}
	address, _ := netip.ParseAddr(host)
	return slices.ContainsFunc(m.cfg.AllowHosts, func(pattern string) bool {
		if prefix, err := netip.ParsePrefix(pattern); err == nil {
			return prefix.Contains(address.Unmap())
		}
		ok, err := path.Match(strings.ToLower(pattern), host)
		return ok && err == nil
	})
}

// isLoopback reports whether a host, without a port, is this machine. Names
// other than localhost may resolve to anything and do not count.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// repeatWindow is how long a registration is known again whose answer was lost.
const repeatWindow = 60 * time.Second

// fingerprintOf returns what identifies a request that is sent again because its
// answer was lost: source address, conversation, JSON-RPC id and what the agent
// says of itself. A request without an id or a conversation has none.
func (a application) fingerprintOf(in *wire.Exchange) string {
	if len(in.RPC.ID) == 0 || string(in.RPC.ID) == "null" || in.Header.ConversationID == "" {
		return ""
	}
	text := fmt.Sprintf("%q", []string{
		string(a.kind), sourceOf(in.RPC), in.Header.ConversationID, string(in.RPC.ID),
		a.name, a.version, strings.Join(a.games, ","), a.endpoint, strconv.Itoa(a.capacity),
	})
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// sourceOf returns the address a request came from, without the port, which a
// new connection changes.
func sourceOf(req *jsonrpc.Request) string {
	if host, _, err := net.SplitHostPort(req.RemoteAddr); err == nil {
		return host
	}
	return req.RemoteAddr
}

// boundedAddress returns what Config.MaxPerAddress counts as the address of a request:
// of IPv6 the network, since one machine has all its addresses. It is empty for
// requests from this machine.
func boundedAddress(req *jsonrpc.Request) string {
	address, err := netip.ParseAddr(sourceOf(req))
	address = address.Unmap().WithZone("")
	switch {
	case err != nil || address.IsLoopback():
		return ""
	case address.Is6():
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}
