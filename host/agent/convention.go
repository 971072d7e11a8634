package agent

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Ports returns the ports at which the course expects the agents of a role, the first to the last:
// player P01 to P100 at 8101 to 8200, referee REF01 to REF10 at 8001 to 8010. Many programs call an
// agent there whatever endpoint it has registered.
func Ports(role protocol.Role) (first, last int) {
	if role == protocol.RoleReferee {
		return 8001, 8010
	}
	return 8101, 8200
}

// PortOf returns the port at which the course expects the agent with an id, 0
// for an id of another form. Leading zeros and case do not matter.
func PortOf(role protocol.Role, id string) int {
	first, last := Ports(role)
	n, ok := protocol.IDNumber(role, strings.ToUpper(id))
	if !ok || n < 1 || n > last-first+1 {
		return 0
	}
	return first + n - 1
}

// IDAt returns the id of the agent that the course expects at a port, such as P04
// at 8104; empty for a port outside of [Ports].
func IDAt(role protocol.Role, port int) string {
	first, last := Ports(role)
	if port < first || port > last {
		return ""
	}
	return protocol.NumberedID(role, port-first+1)
}

// DefaultEndpoint returns where the course expects an agent of which only the id is known: at its
// port on the manager's machine. It is empty for an id of another form.
func DefaultEndpoint(manager string, role protocol.Role, id string) string {
	port := PortOf(role, id)
	u, err := url.Parse(manager)
	if err != nil || port == 0 {
		return ""
	}
	u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(port))
	return u.String()
}

// SameEndpoint reports whether two URLs lead to the same endpoint: localhost and
// 127.0.0.1 are two names of one host.
func SameEndpoint(a, b string) bool {
	at, err := url.Parse(a)
	to, bad := url.Parse(b)
	if err != nil || bad != nil || a == "" || at.Port() != to.Port() {
		return false
	}
	one, other := at.Hostname(), to.Hostname()
	return one == other || jsonrpc.IsLoopback(one) && jsonrpc.IsLoopback(other)
}
