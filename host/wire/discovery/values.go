package discovery

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// synonyms are groups of fields that programs name differently.
var synonyms = [][]string{
	{"display_name", "name", "player_name", "team_name", "agent_name", "referee_name", "team", "nickname", "username"},
	{
		"contact_endpoint", "endpoint", "url", "endpoint_url", "contact_url", "callback_url", "callback", "base_url", "address", "uri",
		"player_endpoint", "referee_endpoint", "agent_endpoint", "mcp_endpoint", "mcp_url", "contact", "player_url", "server_url",
	},
	{"version", "agent_version", "player_version", "software_version"},
	{"game_types", "games", "supported_games", "game_type", "supported_game_types", "game"},
	{"player_id", "referee_id", "agent_id", "id", "requested_id", "desired_id", "preferred_id"},
	{"message_type", "type"},
	{"sender", "from", "from_agent", "sender_id"},
	{"auth_token", "token", "auth"},
	{"league_id", "league"},
	{"match_id", "game_id", "match"},
	{"round_id", "round", "round_number"},
	{"opponent_id", "opponent"},
	{"role_in_match", "role", "player_role"},
	{"conversation_id", "correlation_id", "conv_id"},
	{"timestamp", "time", "sent_at", "created_at"},
	{"max_concurrent_matches", "capacity", "max_matches", "max_concurrent"},
	{"protocol_version", "protocol"},
	{"game_result", "result"},
}

// flatten returns the fields of a message and of the description of an agent in
// it, and what follows from them.
func flatten(doc rawjson.Object) rawjson.Object {
	flat := slices.Clone(doc)
	for _, meta := range []string{"player_meta", "referee_meta", "game_result", "context"} {
		inner, err := rawjson.Split(doc.Get(meta))
		if err != nil {
			continue
		}
		for _, m := range inner {
			if flat.Get(m.Name) == nil {
				flat = append(flat, m)
			}
		}
	}
	role, id, err := protocol.ParseSender(doc.Text("sender"))
	if err != nil {
		return flat
	}
	add := func(name, text string) {
		if flat.Get(name) == nil && text != "" {
			flat = append(flat, rawjson.Member{Name: name, Value: rawjson.Quote(text)})
		}
	}
	if role == protocol.RolePlayer || role == protocol.RoleReferee {
		add(string(role)+"_id", id)
		add("agent_type", string(role))
		add("role", string(role))
	}
	if at, err := url.Parse(flat.Text("contact_endpoint")); err == nil && at.Host != "" {
		add("host", at.Hostname())
		if _, err := strconv.Atoi(at.Port()); err == nil && flat.Get("port") == nil {
			flat = append(flat, rawjson.Member{Name: "port", Value: jsontext.Value(at.Port())})
		}
	}
	return flat
}

// valueOf returns the value of a field by its name, in whatever spelling, or by
// a synonym; nil where the message has none.
func valueOf(flat rawjson.Object, name string) jsontext.Value {
	name = strings.Join(wordsOf(name), "_")
	if v := flat.Get(name); v != nil {
		return v
	}
	for _, group := range synonyms {
		if slices.Contains(group, name) {
			return flat.First(group...)
		}
	}
	words := strings.Split(name, "_")
	for _, s := range suggestions {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(s.words, w) }) &&
			!slices.ContainsFunc(words, func(w string) bool { return slices.Contains(s.not, w) }) {
			return flat.Get(s.field)
		}
	}
	return nil
}

// suggestions are the fields that single words of a name suggest, where the name
// is none of the synonyms.
var suggestions = []struct {
	words, not []string
	field      string
}{
	{[]string{"url", "uri", "endpoint", "address", "callback", "webhook", "contact"}, []string{"opponent", "league", "manager", "email"}, "contact_endpoint"},
	{[]string{"name", "nickname"}, []string{"league", "game", "opponent", "match", "tool"}, "display_name"},
	{[]string{"games"}, nil, "game_types"},
	{[]string{"version"}, []string{"protocol"}, "version"},
	{[]string{"opponent"}, []string{"name", "choice", "url", "endpoint"}, "opponent_id"},
	{[]string{"match"}, []string{"result", "status", "type"}, "match_id"},
	{[]string{"round"}, []string{"total", "rounds"}, "round_id"},
}
