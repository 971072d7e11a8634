package conformance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// registrationChecks look at what the player sent when it registered. They ask
// nothing of it.
func registrationChecks() []Check {
	return []Check{
		{
			ID: "player.register.rpc", Level: Must,
			Rule:   `A message is a JSON-RPC 2.0 request: jsonrpc is "2.0", and it has a method and an id that is a string or a number (league.v2, transport).`,
			Advice: `Send {"jsonrpc": "2.0", "method": "register_player", "params": {...}, "id": "1"}.`,
			run:    forPlayer(registeredByRPC),
		},
		{
			ID: "player.register.header", Level: Must,
			Rule:   `A request bears protocol "league.v2", message_type, sender, timestamp and conversation_id (league.v2, header fields).`,
			Advice: "Put all five header fields beside player_meta, as strings.",
			run:    forPlayer(registeredWithHeader),
		},
		{
			ID: "player.register.timestamp", Level: Must,
			Rule:   "A timestamp is ISO 8601 in UTC and ends in Z or +00:00 (league.v2, header fields).",
			Advice: `Write the time in UTC, for example "2026-03-14T09:10:13Z"; in Python: datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ").`,
			run:    forPlayer(registeredInUTC),
		},
		{
			ID: "player.register.sender", Level: Should,
			Rule:   "A player signs as player:<id>; before it has an id, with any name that it gives itself (league.v2, header fields).",
			Advice: `Set sender to "player:" and a name, for example "player:alice".`,
			run:    forPlayer(registeredBySender),
		},
		{
			ID: "player.register.meta", Level: Must,
			Rule:   "player_meta bears display_name and contact_endpoint (LEAGUE_REGISTER_REQUEST).",
			Advice: "Put both into player_meta; the manager knows the player by nothing else.",
			run:    forPlayer(registeredWithMeta),
		},
		{
			ID: "player.register.version", Level: Should,
			Rule:   "player_meta bears version and game_types, the latter a list that holds even_odd (LEAGUE_REGISTER_REQUEST).",
			Advice: `Add "version": "1.0.0" and "game_types": ["even_odd"] to player_meta.`,
			run:    forPlayer(registeredWithVersion),
		},
		{
			ID: "player.register.endpoint", Level: Must, Needs: []string{"player.register.meta"},
			Rule:   "contact_endpoint is an absolute URL at which the player takes messages (LEAGUE_REGISTER_REQUEST).",
			Advice: "Register with the URL that the player really listens on, as others reach it, with its port and path.",
			run:    forPlayer(registeredReachably),
		},
		{
			ID: "player.register.listens", Level: Wild, Needs: []string{"player.register.endpoint"},
			Rule:   "A player listens before it registers, since a manager may probe it or speak to it at once (league.v2, agent lifecycle).",
			Advice: "Start the HTTP server first, and send the registration once it accepts connections.",
			run:    forPlayer(registeredListening),
		},
		{
			ID: "player.register.retry", Level: Should,
			Rule:   "A registration that meets a busy manager (HTTP 503) or none is tried again, at most 3 times, after 1, 2 and 4 s (league.v2, retries).",
			Advice: "Repeat the registration with a pause when the connection fails or the status is 429, 502, 503 or 504.",
			run:    forPlayer(registeredAgain),
		},
	}
}

// first returns the first attempt to register and shows it as evidence.
func (p playerT) first() *registration {
	p.mu.Lock()
	asked := slices.Clone(p.asked)
	p.mu.Unlock()
	if len(asked) == 0 {
		p.Skip("the player did not register with %s; start it with that manager to have its registration checked", p.manager.url)
	}
	p.saw(asked[0].Peer, asked[0].Raw)
	return asked[0]
}

func registeredByRPC(p playerT) {
	r := p.first()
	doc := object(r.Raw)
	switch {
	case r.dialect.Request.Bare && doc["jsonrpc"] == nil:
		p.Fail("the registration is not wrapped in JSON-RPC; strict managers refuse it")
	case doc.text("jsonrpc") != "2.0":
		p.Fail(`jsonrpc is %s, want "2.0"`, orMissing(doc["jsonrpc"]))
	case doc.text("method") == "":
		p.Fail("method is %s, want a string", orMissing(doc["method"]))
	case !isID(doc["id"]):
		p.Fail("id is %s, want a string or a number", orMissing(doc["id"]))
	}
}

func isID(raw json.RawMessage) bool {
	var v any
	_ = json.Unmarshal(raw, &v)
	switch v.(type) {
	case string, float64:
		return true
	}
	return false
}

func orMissing(raw json.RawMessage) string {
	if raw == nil {
		return "missing"
	}
	return string(raw)
}

func registeredWithHeader(p playerT) {
	m := p.first().message()
	for _, name := range []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"} {
		if m.text(name) == "" {
			p.Fail("%s is %s", name, orMissing(m[name]))
		}
	}
	if v := m.text("protocol"); v != protocol.Version {
		p.Fail("protocol is %q, want %q", v, protocol.Version)
	}
	if v := m.text("message_type"); v != string(protocol.TypeLeagueRegisterRequest) {
		p.Fail("message_type is %q, want %q", v, protocol.TypeLeagueRegisterRequest)
	}
}

func registeredInUTC(p playerT) {
	stamp := p.first().message().text("timestamp")
	if stamp == "" {
		p.Skip("it has no timestamp")
	}
	if _, err := protocol.ParseTimestamp(stamp); err != nil {
		p.Fail("%v", err)
	}
}

func registeredBySender(p playerT) {
	sender := p.first().message().text("sender")
	if sender == "" {
		p.Skip("it has no sender")
	}
	if role, _, err := protocol.ParseSender(sender); err != nil || role != protocol.RolePlayer {
		p.Fail("sender is %q, want player:<name>", sender)
	}
}

func registeredWithMeta(p playerT) {
	meta := p.first().meta()
	if meta == nil {
		p.Fail("player_meta is missing, or is no object")
	}
	for _, name := range []string{"display_name", "contact_endpoint"} {
		if meta.text(name) == "" {
			p.Fail("player_meta.%s is %s, want a string", name, orMissing(meta[name]))
		}
	}
}

func registeredWithVersion(p playerT) {
	meta := p.first().meta()
	if meta.text("version") == "" {
		p.Fail("player_meta.version is %s, want a string", orMissing(meta["version"]))
	}
	var games []string
	if err := json.Unmarshal(meta["game_types"], &games); err != nil || !slices.Contains(games, protocol.GameEvenOdd) {
		p.Fail(`player_meta.game_types is %s, want a list that holds "even_odd"`, orMissing(meta["game_types"]))
	}
}

func registeredReachably(p playerT) {
	endpoint := p.first().meta().text("contact_endpoint")
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		p.Fail("contact_endpoint is %q, want an absolute URL such as http://127.0.0.1:8101/mcp", endpoint)
	}
	if err := p.counter.reach(p.ctx, endpoint); err != nil {
		p.Fail("nobody can be connected to at the contact_endpoint %s: %v", endpoint, err)
	}
	if endpoint == p.counter.opts.URL {
		return
	}
	// It may be another name of the same place.
	a := ReadAnswer(p.PostTo(endpoint, p.body(letter{message: p.standings(), dialect: p.dialect}), nil))
	if a.Err != nil || a.Status == 404 || a.Status == 405 {
		p.Fail("messages are not taken at the contact_endpoint %s: %s", endpoint, a)
	}
}

func registeredListening(p playerT) {
	r := p.first()
	if r.failed != nil {
		p.Fail("while it registered, %s did not answer: %v", r.probed, r.failed)
	}
	p.Note("its endpoint answered after %.1f ms while it registered", milliseconds(r.answered))
}

func registeredAgain(p playerT) {
	if !p.counter.opts.Busy {
		p.Skip("its first registration was accepted; with --busy it is turned away once as by a busy manager, and a player that does not try again has to be started again")
	}
	p.first()
	p.mu.Lock()
	asked := slices.Clone(p.asked)
	p.mu.Unlock()
	if len(asked) < 2 {
		p.Fail("after HTTP 503 with Retry-After: 1 no other attempt came within %v", p.counter.opts.Wait)
	}
	p.saw(asked[1].Peer, asked[1].Raw)
	p.Note("it tried again after %v", asked[1].At.Sub(asked[0].At).Round(time.Millisecond))
}

// registersOnce is made at the end, when the player had time to do otherwise.
func registersOnce(p playerT) {
	p.first()
	p.mu.Lock()
	var taken []*registration
	for _, r := range p.asked {
		if r.accepted {
			taken = append(taken, r)
		}
	}
	p.mu.Unlock()
	if len(taken) > 1 {
		p.saw(taken[1].Peer, taken[1].Raw)
		p.Fail("it registered %s and was accepted each time", times(len(taken)))
	}
}

func times(n int) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
