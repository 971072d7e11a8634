package judge

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
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

// people is who is behind an address or a recording agent, from registrations and
// announcements. One address may have several ids.
type people struct {
	known  map[string]bool     // all ids
	agents map[string][]string // ids by recording agent
	at     map[string][]string // ids by place, see places
}

func (p people) clone() people {
	return people{maps.Clone(p.known), maps.Clone(p.agents), maps.Clone(p.at)}
}

func (p people) know(id, endpoint string) {
	if id == "" {
		return
	}
	p.known[id] = true
	for _, place := range places(endpoint) {
		p.at[place] = with(p.at[place], id)
	}
}

// with returns a list with an id in it. It leaves ids as it is.
func with(ids []string, id string) []string {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(slices.Clip(ids), id)
}

// registered learns from an accepted registration.
func (p people) registered(x *Exchange, m *protocol.LeagueRegisterRequest) {
	a, ok := x.Answer.(*protocol.RegisterResponse)
	if !ok || a.PlayerID == "" {
		return
	}
	p.know(a.PlayerID, m.Meta.ContactEndpoint)
	if x.Sent {
		p.agents[x.Agent] = with(p.agents[x.Agent], a.PlayerID)
	}
}

// recorder returns the ids of the agent that recorded an exchange.
func (p people) recorder(x *Exchange) []string {
	if ids := p.agents[x.Agent]; len(ids) > 0 || !p.known[x.Agent] {
		return ids
	}
	return []string{x.Agent}
}

// receiver returns the ids of the player that a request went to.
func (p people) receiver(x *Exchange) []string {
	if !x.Sent {
		return p.recorder(x)
	}
	for _, place := range places(x.Peer) {
		if ids := p.at[place]; len(ids) > 0 {
			return ids
		}
	}
	return nil
}

// channel is the way between a match and one of its players, as the recording
// shows it.
func channel(x *Exchange) string {
	if !x.Sent {
		return "in " + x.Agent
	}
	return "out " + x.Peer
}

// has reports whether the players of a match are known and id is one of them.
func (m *match) has(id string) bool {
	return id != "" && (m.Players[0] == id || m.Players[1] == id)
}

// known reports whether both players of a match are known.
func (m *match) known() bool { return m.Players[0] != "" && m.Players[1] != "" }

// other returns the opponent of a player, empty if unknown.
func (m *match) other(player string) string {
	switch {
	case player == "":
	case player == m.Players[0]:
		return m.Players[1]
	case player == m.Players[1]:
		return m.Players[0]
	}
	return ""
}

// identify finds the players of a match that was not announced, and to whom its
// messages went.
func (l *League) identify(m *match) {
	if !m.known() {
		m.Players = [2]string{}
		l.fromInvitations(m)
	}
	if !m.known() {
		m.fromNames()
	}
	m.channels = map[string]string{}
	for _, x := range m.exchanges {
		if toPlayer(x.Exchange) {
			m.learn(channel(x.Exchange), l.receiverOf(m, x.Exchange))
		}
	}
}

// learn notes who is at the other end of a channel; two ids are nobody's.
func (m *match) learn(channel, id string) {
	if id == "" {
		return
	}
	if was, ok := m.channels[channel]; ok && was != id {
		id = ""
	}
	m.channels[channel] = id
}

// toPlayer reports whether a request is from a referee to a player.
func toPlayer(x *Exchange) bool {
	switch x.Request.(type) {
	case *protocol.GameInvitation, *protocol.ChooseParityCall, *protocol.GameOver:
		return true
	}
	return false
}

// fromInvitations finds the players from invitations: each names the opponent of
// its receiver, so two of them name both.
func (l *League) fromInvitations(m *match) {
	var opponents, firsts, receivers []string
	for _, x := range m.exchanges {
		inv, ok := x.Request.(*protocol.GameInvitation)
		if !ok || inv.OpponentID == "" {
			continue
		}
		opponents = with(opponents, inv.OpponentID)
		if inv.RoleInMatch == protocol.PlayerB {
			firsts = with(firsts, inv.OpponentID)
		}
		if ids := l.people.receiver(x.Exchange); len(ids) == 1 && ids[0] != inv.OpponentID {
			receivers = with(receivers, ids[0])
		}
	}
	all := opponents
	if len(all) == 1 {
		for _, id := range receivers {
			all = with(all, id)
		}
	}
	m.setPlayers(all, firsts)
}

// fromNames finds the players from the ids in calls and results.
func (m *match) fromNames() {
	var all []string
	for _, x := range m.exchanges {
		switch r := x.Request.(type) {
		case *protocol.ChooseParityCall:
			all = with(all, r.PlayerID)
		case *protocol.GameOver:
			all = with(all, r.PlayerID)
			for id := range r.Stated("", "").Choices {
				all = with(all, id)
			}
		case *protocol.MatchResultReport:
			for id := range r.Result.Score {
				all = with(all, id)
			}
		}
	}
	slices.Sort(all)
	m.setPlayers(slices.DeleteFunc(all, func(id string) bool { return id == "" }), nil)
}

// setPlayers sets the players of a match if there are two; the first of them is
// the one of firsts, if there is one.
func (m *match) setPlayers(ids, firsts []string) {
	if len(ids) != 2 {
		return
	}
	m.Players = [2]string{ids[0], ids[1]}
	if len(firsts) == 1 && firsts[0] == ids[1] {
		m.Players = [2]string{ids[1], ids[0]}
	}
}

// receiverOf returns to which player of the match a request went by itself: by
// the id in it, by its opponent, by the place it was sent to, by its answer. It
// returns "" if that is unknown or ambiguous.
func (l *League) receiverOf(m *match, x *Exchange) string {
	said, place := "", ""
	switch r := x.Request.(type) {
	case *protocol.GameInvitation:
		said = m.other(r.OpponentID)
	case *protocol.ChooseParityCall:
		said = r.PlayerID
	case *protocol.GameOver:
		said = r.PlayerID
	}
	if ids := slices.DeleteFunc(slices.Clone(l.people.receiver(x)), func(id string) bool { return !m.has(id) }); len(ids) == 1 {
		place = ids[0]
	}
	switch {
	case m.has(said) && place != "" && said != place:
		return ""
	case m.has(said):
		return said
	case place != "":
		return place
	}
	return m.signed(x.Answer)
}

// signed returns the player of the match that a message says it is from, "" if it says
// none.
func (m *match) signed(message protocol.Message) string {
	var claims []string
	switch a := message.(type) {
	case nil:
		return ""
	case *protocol.GameJoinAck:
		claims = []string{a.PlayerID}
	case *protocol.ChooseParityResponse:
		claims = []string{a.PlayerID}
	}
	_, sender, _ := strings.Cut(message.Head().Sender, ":")
	return m.among(append(claims, sender))
}

// among returns the first of some ids that is a player of the match, "" if none is.
func (m *match) among(ids []string) string {
	for _, id := range ids {
		if m.has(id) {
			return id
		}
	}
	return ""
}

// playerOf returns the player of an exchange between the referee and a player,
// empty if the recording does not show it.
func (l *League) playerOf(m *match, x *Exchange) string {
	if toPlayer(x) {
		return m.channels[channel(x)]
	}
	if ids := l.people.recorder(x); x.Sent && len(ids) > 0 {
		return m.among(ids)
	}
	return m.signed(x.Request)
}
