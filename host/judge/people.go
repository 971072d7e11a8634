package judge

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// places returns what an endpoint is known by, the most exact first: the address
// with its path, and the address alone, since a host may find another path than
// the registered one.
func places(endpoint string) []string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		host = "localhost"
	}
	address := strings.ToLower(host) + ":" + u.Port()
	return []string{address + "/" + strings.Trim(u.Path, "/"), address}
}

// people are the ids of those behind an address or a recording agent, from registrations and
// announcements, by what they are known by: a place, "agent " and its name, or "id " and the id
// itself. One address may have several ids.
type people map[string][]string

func (p people) know(id string, keys ...string) {
	if id != "" {
		for _, key := range append(keys, "id "+id) {
			p[key] = with(p[key], id)
		}
	}
}

// find returns who is known by the first of some keys by which somebody is.
func (p people) find(keys ...string) []string {
	for _, key := range keys {
		if ids := p[key]; len(ids) > 0 {
			return ids
		}
	}
	return nil
}

// with returns a list with more ids in it, each once. It leaves ids as it is.
func with(ids []string, more ...string) []string {
	for _, id := range more {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	return ids
}

// registered learns from an accepted registration.
func (p people) registered(x *trace.Exchange, m *protocol.LeagueRegisterRequest) {
	if a, ok := x.Answer.(*protocol.RegisterResponse); ok {
		p.know(a.PlayerID, places(m.Meta.ContactEndpoint)...)
		if x.Sent {
			p.know(a.PlayerID, "agent "+x.Agent)
		}
	}
}

// recorder returns the ids of the agent that recorded an exchange.
func (p people) recorder(x *trace.Exchange) []string { return p.find("agent "+x.Agent, "id "+x.Agent) }

// receiver returns the ids of the player that a request went to.
func (p people) receiver(x *trace.Exchange) []string {
	if !x.Sent {
		return p.recorder(x)
	}
	return p.find(places(x.Peer)...)
}

// channel is the way between a match and one of its players, as the recording
// shows it.
func channel(x *trace.Exchange) string {
	if !x.Sent {
		return "in " + x.Agent
	}
	return "out " + x.Peer
}

// known reports whether both players of a match are known.
func (m *match) known() bool { return m.Players[0] != "" && m.Players[1] != "" }

// has reports whether the players of a match are known and id is one of them.
func (m *match) has(id string) bool { return id != "" && slices.Contains(m.Players[:], id) }

// other returns the opponent of a player, empty if unknown.
func (m *match) other(player string) string {
	if !m.has(player) {
		return ""
	}
	return m.Players[1-slices.Index(m.Players[:], player)]
}

// only returns which of some ids is a player of the match, "" if none or both are.
func (m *match) only(ids ...string) string {
	ids = slices.DeleteFunc(with(nil, ids...), func(id string) bool { return !m.has(id) })
	if len(ids) != 1 {
		return ""
	}
	return ids[0]
}

// identify finds the players of a match that was not announced, and to whom its messages
// went. Each invitation names the opponent of its receiver, so two of them name both
// players; else calls and results may.
func (l *League) identify(m *match) {
	var opponents, firsts, receivers, named []string
	for _, x := range m.exchanges {
		switch r := x.Request.(type) {
		case *protocol.GameInvitation:
			opponents = with(opponents, r.OpponentID)
			if r.RoleInMatch == protocol.PlayerB {
				firsts = with(firsts, r.OpponentID)
			}
			if ids := l.people.receiver(x); len(ids) == 1 && r.OpponentID != "" {
				receivers = with(receivers, ids[0])
			}
		case *protocol.ChooseParityCall:
			named = with(named, r.PlayerID)
		case *protocol.GameOver:
			named = with(with(named, r.PlayerID), slices.Collect(maps.Keys(r.Stated("", "").Choices))...)
		case *protocol.MatchResultReport:
			named = with(named, slices.Collect(maps.Keys(r.Result.Score))...)
		}
	}
	if len(opponents) == 1 {
		opponents = with(opponents, receivers...)
	}
	slices.Sort(named)
	for _, ids := range [][]string{opponents, named} {
		if len(ids) == 2 && !m.known() {
			if slices.Equal(firsts, ids[1:]) {
				slices.Reverse(ids)
			}
			m.Players = [2]string(ids)
		}
	}
	m.channels = map[string][]string{}
	for _, x := range m.exchanges {
		if id, receives := l.playerOf(m, x); receives {
			m.channels[channel(x)] = with(m.channels[channel(x)], id)
		}
	}
}

// named returns to which player a message of a referee says it is, or which player of the match
// any other message says it is from, "" if it says none.
func (m *match) named(message protocol.Message) (id string, toPlayer bool) {
	switch r := message.(type) {
	case nil:
		return "", false
	case *protocol.GameInvitation:
		return m.other(r.OpponentID), true
	case *protocol.ChooseParityCall:
		return r.PlayerID, true
	case *protocol.GameOver:
		return r.PlayerID, true
	case *protocol.GameJoinAck:
		id = r.PlayerID
	case *protocol.ChooseParityResponse:
		id = r.PlayerID
	}
	_, sender, _ := strings.Cut(message.Head().Sender, ":")
	return cmp.Or(m.only(id), m.only(sender)), false
}

// playerOf returns the player of an exchange with the referee, and whether it is the receiver:
// then as far as the exchange itself shows it, by the id in the request, by its opponent, by the
// place it was sent to, by its answer. It returns "" if that is unknown or ambiguous.
func (l *League) playerOf(m *match, x *trace.Exchange) (id string, receives bool) {
	said, receives := m.named(x.Request)
	if !receives {
		if ids := l.people.recorder(x); x.Sent && len(ids) > 0 {
			said = m.only(ids...)
		}
		return said, false
	}
	said, place := m.only(said), m.only(l.people.receiver(x)...)
	if said != "" && place != "" && said != place {
		return "", true
	}
	answered, _ := m.named(x.Answer)
	return cmp.Or(said, place, answered), true
}
