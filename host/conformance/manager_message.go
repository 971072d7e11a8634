package conformance

import (
	"bytes"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// noticeKinds are what a manager sends by the book.
var noticeKinds = []protocol.Type{
	protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted,
}

// each calls visit for all messages of the kinds of the book, but for matches that
// are handed out alone.
func (p managerT) each(visit func(m *told)) {
	p.every("", func(m *told) {
		if slices.Contains(noticeKinds, m.kind) && !m.alone {
			visit(m)
		}
	})
}

// messageSentChecks are about what all messages of the manager have in common.
func messageSentChecks() []Check {
	return []Check{
		seasonCheck("message.rpc", Must, `What the manager sends is a JSON-RPC 2.0 request: jsonrpc is "2.0", and it has a method and an id that is a string or a number (league.v2, transport).`,
			`Send {"jsonrpc": "2.0", "method": "notify_round", "params": {...}, "id": "1"}.`, sendsRequests),
		seasonCheck("message.method", Should, "Messages travel under the methods of the book: notify_round, update_standings, notify_round_completed, notify_league_completed.", "Name the method after the message.", func(p managerT) {
			p.each(func(m *told) {
				about, _ := protocol.Describe(m.kind)
				if got := object(m.Raw).text("method"); got != about.Method && object(m.Raw).text("message_type") == "" {
					p.show(m)
					p.Fail("%s comes under the method %q, want %q", m.kind, got, about.Method)
				}
			})
		}),
		seasonCheck("message.header", Must, `A request bears protocol "league.v2", message_type, sender, timestamp and conversation_id (league.v2, header fields).`, "Put all five into every message.", func(p managerT) {
			p.each(func(m *told) {
				for _, name := range []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"} {
					if got := m.message.text(name); got == "" || name == "protocol" && got != protocol.Version {
						p.show(m)
						p.Fail("%s of %s is %s", name, m.kind, orMissing(m.message[name]))
					}
				}
			})
		}),
		seasonCheck("message.time", Must, "A timestamp is ISO 8601 in UTC and ends in Z or +00:00 (league.v2, header fields).", writeUTC, func(p managerT) {
			p.each(func(m *told) {
				if stamp := m.message.text("timestamp"); stamp != "" {
					if _, err := protocol.ParseTimestamp(stamp); err != nil {
						p.show(m)
						p.Fail("%v", err)
					}
				}
			})
		}),
	}
}

// messageContextChecks are about what the manager says of itself, and to whom.
func messageContextChecks() []Check {
	return []Check{
		seasonCheck("message.sender", Should, "The manager signs as league_manager (league.v2, header fields).", `Set sender to "league_manager".`, func(p managerT) {
			p.each(func(m *told) {
				sender := m.message.text("sender")
				if role, _, err := protocol.ParseSender(sender); sender != "" && (err != nil || role != protocol.RoleManager) {
					p.show(m)
					p.Fail("sender of %s is %q", m.kind, sender)
				}
			})
		}),
		seasonCheck("message.league", Should, "Messages bear the league_id of the registration, and those about a round its round_id (league.v2, contextual fields).", "Put both beside the header fields.", bearContext),
		seasonCheck("message.ids", Should, "Every request to an agent has a JSON-RPC id of its own, also one that is sent again (JSON-RPC 2.0).", "Count up, or make a UUID for each attempt.", func(p managerT) {
			seen := map[string]bool{}
			p.every("", func(m *told) {
				id := m.id + " " + string(object(m.Raw)["id"])
				if seen[id] {
					p.show(m)
					p.Fail("the id %s came to %s before", object(m.Raw)["id"], p.who(m.to))
				}
				seen[id] = true
			})
		}),
		seasonCheck("message.token", Should, "Messages to an agent bear an auth_token, always the same, by which it knows the manager (league.v2, authentication).", "Send the token with everything; players in the wild refuse messages without one.", bearToken),
		seasonCheck("message.proof", Wild, "The auth_token of the manager is tok-LM- with the HMAC over the agent's own token, which nobody else can make (league.v2, authentication).",
			`Calculate HMAC-SHA-256 with the key SHA-256(token of the agent) over "manager|" and the league_id.`, provesItself),
		seasonCheck("message.secret", Must, "Nobody is told the token of anybody (league.v2, authentication).", "Choose the members that a message bears; do not write out what is stored.", func(p managerT) {
			p.every("", func(m *told) {
				for _, other := range p.members {
					if bytes.Contains(m.Raw, []byte(other.token)) {
						p.show(m)
						p.Fail("%s to %s holds the token of %s", m.kind, p.who(m.to), other.id)
					}
				}
			})
		}),
	}
}

func sendsRequests(p managerT) {
	p.every("", func(m *told) {
		doc := object(m.Raw)
		wrong := ""
		switch {
		case doc.text("jsonrpc") != "2.0":
			wrong = "jsonrpc"
		case doc.text("method") == "":
			wrong = "method"
		case !isID(doc["id"]):
			wrong = "id"
		default:
			return
		}
		p.show(m)
		p.Fail("%s is %s", wrong, orMissing(doc[wrong]))
	})
}

func bearContext(p managerT) {
	p.each(func(m *told) {
		if got := m.message.text("league_id"); got != p.league {
			p.show(m)
			p.Fail("league_id of %s is %s, want %q", m.kind, orMissing(m.message["league_id"]), p.league)
		}
		if m.kind != protocol.TypeLeagueCompleted && m.round == 0 {
			p.show(m)
			p.Fail("round_id of %s is %s", m.kind, orMissing(m.message["round_id"]))
		}
	})
}

func bearToken(p managerT) {
	first := map[*member]string{}
	p.each(func(m *told) {
		got := m.message.text("auth_token")
		if got == "" {
			p.show(m)
			p.Fail("auth_token of %s is %s", m.kind, orMissing(m.message["auth_token"]))
		}
		if first[m.to] == "" {
			first[m.to] = got
		}
		if got != first[m.to] {
			p.show(m)
			p.Fail("auth_token of %s to %s is %q; it was %q before", m.kind, p.who(m.to), got, first[m.to])
		}
	})
}

func provesItself(p managerT) {
	found := false
	p.each(func(m *told) {
		got, want := m.message.text("auth_token"), m.to.verifier.ManagerToken(p.league)
		found = found || got != ""
		if got != "" && got != want {
			p.show(m)
			p.Fail("auth_token of %s to %s is %q, want %q", m.kind, m.to.id, got, want)
		}
	})
	if !found {
		p.Skip("no message bears an auth_token")
	}
}
