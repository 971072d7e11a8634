package conformance

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// refereeRegistrationChecks look at what the referee sent when it registered.
// They ask nothing of it.
func refereeRegistrationChecks() []Check {
	check := func(name string, level Level, rule, advice string, run func(p refereeT, r *registration)) Check {
		return Check{ID: "referee.register." + name, Level: level, Rule: rule, Advice: advice, run: forReferee(func(p refereeT) { run(p, p.first()) })}
	}
	return []Check{
		check("rpc", Must, `A message is a JSON-RPC 2.0 request: jsonrpc is "2.0", and it has a method and an id that is a string or a number (league.v2, transport).`,
			`Send {"jsonrpc": "2.0", "method": "register_referee", "params": {...}, "id": "1"}.`,
			func(p refereeT, r *registration) {
				doc := object(r.Raw)
				if doc.text("jsonrpc") != "2.0" || doc.text("method") == "" || !isID(doc["id"]) {
					p.Fail("jsonrpc is %s, method is %s, id is %s", orMissing(doc["jsonrpc"]), orMissing(doc["method"]), orMissing(doc["id"]))
				}
			}),
		check("header", Must, `A request bears protocol "league.v2", message_type, sender, timestamp and conversation_id (league.v2, header fields).`,
			"Put all five header fields beside referee_meta, as strings.",
			func(p refereeT, r *registration) { p.header(r.message(), protocol.TypeRefereeRegisterRequest) }),
		check("timestamp", Must, "A timestamp is ISO 8601 in UTC and ends in Z or +00:00 (league.v2, header fields).", writeUTC,
			func(p refereeT, r *registration) {
				if _, err := protocol.ParseTimestamp(r.message().text("timestamp")); err != nil {
					p.Fail("%v", err)
				}
			}),
		check("sender", Should, "Before it has an id, a referee signs referee: and a name of its own (league.v2, header fields).", `Set sender to "referee:" and a name.`,
			func(p refereeT, r *registration) {
				if role, _, err := protocol.ParseSender(r.message().text("sender")); err != nil || role != protocol.RoleReferee {
					p.Fail("sender is %s, want referee:<name>", orMissing(r.message()["sender"]))
				}
			}),
		check("meta", Must, "referee_meta bears display_name and contact_endpoint (REFEREE_REGISTER_REQUEST).", "Add both, as strings.",
			func(p refereeT, r *registration) {
				for _, name := range []string{"display_name", "contact_endpoint"} {
					if r.refereeMeta().text(name) == "" {
						p.Fail("referee_meta.%s is %s, want a string", name, orMissing(r.refereeMeta()[name]))
					}
				}
			}),
		check("games", Should, `referee_meta bears version, game_types, a list that holds "even_odd", and max_concurrent_matches, from 1 (REFEREE_REGISTER_REQUEST).`,
			`Add "version": "1.0.0", "game_types": ["even_odd"], "max_concurrent_matches": 2.`, registeredForGames),
		check("endpoint", Must, "contact_endpoint is an absolute URL at which the referee takes messages (REFEREE_REGISTER_REQUEST).",
			"Register with the URL that the referee really listens on, as others reach it, with its port and path.", refereeReachable),
		check("listens", Wild, "A referee listens before it registers, since a manager may probe it or speak to it at once (league.v2, agent lifecycle).",
			"Start the HTTP server first, and send the registration once it accepts connections.",
			func(p refereeT, r *registration) {
				if u, err := url.Parse(r.probed); err != nil || u.Host == "" || p.counter.reach(p.ctx, r.probed) != nil {
					p.Skip("nobody is at its contact_endpoint")
				}
				if r.failed != nil {
					p.Fail("while it registered, %s did not answer: %v", r.probed, r.failed)
				}
			}),
		check("retry", Should, "A registration that meets a busy manager (HTTP 503) or none is tried again after 1, 2 and 4 s (league.v2, retries).",
			"Repeat the registration with a pause when the connection fails or the status is 429, 502, 503 or 504.", refereeRetries),
	}
}

const writeUTC = `Write the time in UTC, for example "2026-03-14T09:10:13Z"; in Python: datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ").`

// first returns the first attempt to register and shows it as evidence.
func (p refereeT) first() *registration {
	p.mu.Lock()
	asked := slices.Clone(p.asked)
	p.mu.Unlock()
	if len(asked) == 0 {
		p.needsRegistration()
	}
	p.saw("the referee to the manager", asked[0].Raw)
	return asked[0]
}

// header ends the check unless a message bears the fields that every one does.
func (p refereeT) header(m fields, t protocol.Type) {
	for _, name := range []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"} {
		if m.text(name) == "" {
			p.Fail("%s of %s is %s", name, t, orMissing(m[name]))
		}
	}
	if v := m.text("protocol"); v != protocol.Version {
		p.Fail("protocol of %s is %q, want %q", t, v, protocol.Version)
	}
}

func registeredForGames(p refereeT, r *registration) {
	meta := r.refereeMeta()
	var games []string
	if err := json.Unmarshal(meta["game_types"], &games); err != nil || !slices.Contains(games, protocol.GameEvenOdd) {
		p.Fail(`referee_meta.game_types is %s, want a list that holds "even_odd"`, orMissing(meta["game_types"]))
	}
	if meta.text("version") == "" {
		p.Fail("referee_meta.version is %s, want a string", orMissing(meta["version"]))
	}
	if n, ok := number(meta["max_concurrent_matches"]); !ok || n < 1 {
		p.Fail("referee_meta.max_concurrent_matches is %s, want a number from 1", orMissing(meta["max_concurrent_matches"]))
	}
}

// number reads an integer.
func number(raw json.RawMessage) (int, bool) {
	var n *int
	err := json.Unmarshal(raw, &n)
	if err != nil || n == nil {
		return 0, false
	}
	return *n, true
}

func refereeReachable(p refereeT, r *registration) {
	endpoint := r.refereeMeta().text("contact_endpoint")
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		p.Fail("contact_endpoint is %q, want an absolute URL such as http://127.0.0.1:8001/mcp", endpoint)
	}
	if err := p.counter.reach(p.ctx, endpoint); err != nil {
		p.Fail("nobody can be connected to at the contact_endpoint %s: %v", endpoint, err)
	}
}

func refereeRetries(p refereeT, r *registration) {
	if !p.counter.opts.Busy {
		p.Skip("its first registration was accepted; with --busy it is turned away once as by a busy manager, and a referee that does not try again has to be started again")
	}
	p.mu.Lock()
	asked := slices.Clone(p.asked)
	p.mu.Unlock()
	if len(asked) < 2 {
		p.Fail("after HTTP 503 no other attempt came within %v", p.counter.opts.Wait)
	}
	p.Note("it tried again after %v", asked[1].At.Sub(r.At).Round(time.Millisecond))
}
