package protocol

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A naming is what programs call one member of the protocol's messages.
type naming struct {
	field  string   // by the book
	others []string // other names of it, the commonest first
	inner  []string // names that mean it only in an object about one agent or match
	words  []string // a name with one of these words means it where no name does
	not    []string // ... unless it has one of these
}

// namings holds every other name that our agents read, and write for a peer that asks
// for it. Case and punctuation make no difference: matchId and MatchID are match_id.
// Whatever else reads or writes a name of others does it through this table.
var namings = []naming{
	{
		field: "display_name", others: []string{"name", "player_name", "team_name", "agent_name", "referee_name", "bot_name", "nickname", "username", "team"},
		words: []string{"name", "nickname"}, not: []string{"league", "game", "opponent", "match", "tool"},
	},
	{
		field: "contact_endpoint", others: []string{
			"endpoint", "url", "endpoint_url", "contact_url", "callback_url", "callback", "base_url", "address", "uri", "player_endpoint", "referee_endpoint",
			"agent_endpoint", "mcp_endpoint", "mcp_url", "contact", "player_url", "referee_url", "agent_url", "server_url",
		},
		words: []string{"url", "uri", "endpoint", "address", "callback", "webhook", "contact"}, not: []string{"opponent", "league", "manager", "email"},
	},
	{
		field: "version", others: []string{"agent_version", "player_version", "referee_version", "software_version"},
		words: []string{"version"}, not: []string{"protocol"},
	},
	{field: "game_types", others: []string{"games", "supported_games", "game_type", "supported_game_types", "game"}, words: []string{"games"}},
	{field: "max_concurrent_matches", others: []string{"capacity", "max_matches", "max_concurrent"}},
	{field: "player_meta", others: []string{"meta", "metadata", "player", "agent", "player_info", "agent_info", "agent_meta", "info"}},
	{field: "referee_meta", others: []string{"meta", "metadata", "referee", "agent", "referee_info", "agent_info", "agent_meta", "info"}},
	{
		field: "player_id", others: []string{"agent_id", "assigned_id", "assigned_player_id", "to_player", "recipient_id"},
		inner: []string{"id", "player", "requested_id", "desired_id", "preferred_id"},
	},
	{field: "referee_id", others: []string{"agent_id", "assigned_id"}, inner: []string{"id", "requested_id", "desired_id", "preferred_id"}},
	{field: "message_type", others: []string{"type", "msg_type", "action", "event", "kind", "command"}},
	{field: "sender", others: []string{"from", "from_agent", "sender_id"}},
	{field: "timestamp", others: []string{"time", "sent_at", "created_at"}},
	{field: "conversation_id", others: []string{"conversation", "correlation_id", "conv_id"}},
	{field: "auth_token", others: []string{"token", "auth", "match_token"}},
	{field: "league_id", others: []string{"league", "tournament_id"}},
	{
		field: "round_id", others: []string{"round", "round_number", "round_no"},
		words: []string{"round"}, not: []string{"total", "rounds"},
	},
	{
		field: "match_id", others: []string{"game_id", "match", "session_id", "game_session_id"}, inner: []string{"id"},
		words: []string{"match"}, not: []string{"result", "status", "type"},
	},
	{
		field: "opponent_id", others: []string{"opponent", "opponent_player_id", "opponent_name"},
		words: []string{"opponent"}, not: []string{"name", "choice", "url", "endpoint"},
	},
	{field: "role_in_match", others: []string{"role", "player_role", "side"}},
	{field: "game_type"},
	{field: "accept", others: []string{"accepted", "joined"}},
	{field: "parity_choice", others: []string{"choice"}},
	{field: "game_result", others: []string{"result", "match_result"}},
	{field: "drawn_number", others: []string{"number", "random_number"}},
	{field: "points_earned", others: []string{"points", "score"}},
	{field: "your_choice", others: []string{"my_choice", "player_choice"}},
	{field: "opponent_choice", others: []string{"other_choice"}},
	{field: "result", others: []string{"outcome", "match_result", "game_result"}},
	{field: "status", others: []string{"outcome"}},
	{field: "winner", others: []string{"winner_id", "winner_player_id"}},
	{field: "winner_player_id", others: []string{"winner", "winner_id"}},
	{field: "score", others: []string{"scores", "points"}},
	{field: "choices", others: []string{"player_choices"}, words: []string{"choices", "moves", "picks"}},
	{field: "player_A_id", others: []string{"player1_id", "player_1_id", "player_A", "player_a", "player1"}, inner: []string{"home", "a"}},
	{field: "player_B_id", others: []string{"player2_id", "player_2_id", "player_B", "player_b", "player2"}, inner: []string{"away", "b"}},
	{field: "player_A_endpoint", others: []string{"player1_endpoint", "player_1_endpoint", "endpoint_a"}},
	{field: "player_B_endpoint", others: []string{"player2_endpoint", "player_2_endpoint", "endpoint_b"}},
}

var names = sync.OnceValue(func() map[string]naming {
	by := make(map[string]naming, len(namings))
	for _, n := range namings {
		by[n.field] = n
	}
	return by
})

// NamesOf returns the names of a member of the protocol: its own first, then those that
// programs of others give to it.
func NamesOf(field string) []string {
	return append([]string{field}, names()[field].others...)
}

// WordsOf splits a name where its case or its punctuation changes, in lower case.
func WordsOf(name string) []string {
	var words []string
	start, before := 0, ' '
	end := func(at int) {
		if at > start {
			words = append(words, strings.ToLower(name[start:at]))
		}
		start = at
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(i)
			start = i + len(string(r))
		case unicode.IsUpper(r) && unicode.IsLower(before):
			end(i)
		}
		before = r
	}
	end(len(name))
	return words
}

// plainName is the spelling in which names are compared.
func plainName(name string) string {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return strings.Join(WordsOf(name), "_")
		}
	}
	return name
}

// Find returns the member of an object that is the field of the protocol: by its own
// name or by another one, in any spelling. A member whose kind is not in kinds (as the
// first characters of JSON values; none means any but null) is another thing of that
// name. It reports whether there is one.
func Find(doc rawjson.Object, field, kinds string) (rawjson.Member, bool) {
	return find(doc, NamesOf(field), kinds)
}

// FindInner is [Find] in an object about one agent or one match, where shorter names say enough.
func FindInner(doc rawjson.Object, field, kinds string) (rawjson.Member, bool) {
	n := names()[field]
	if m, found := find(doc, append(NamesOf(field), n.inner...), kinds); found {
		return m, true
	}
	for _, m := range doc {
		if n.words != nil && !KnownField(m.Name) && n.suggested(WordsOf(m.Name)) && is(m.Value, kinds) {
			return m, true
		}
	}
	return rawjson.Member{}, false
}

// Foreign reports whether a message about a match has members that its table does not have so.
func Foreign(t Type, doc rawjson.Object) bool {
	s := messages.byType[t].table()
	return s.field("match_id").need != optional && !s.plain(doc)
}

// plain reports whether all members are fields of the shape, and of their kinds.
func (s *shape) plain(doc rawjson.Object) bool {
	return !slices.ContainsFunc(doc, func(m rawjson.Member) bool {
		f := s.field(m.Name)
		return f == nil || m.Value.Kind() != 'n' && !is(m.Value, fieldKinds[f.kind].json) || f.sub != nil && !f.sub.plain(rawjson.Split(m.Value))
	})
}

// Respell returns a message with what it holds for the fields of its type, under whatever name [Find]
// knows, under the names of the protocol, and whether no object lacks what is demanded of it.
func Respell(t Type, doc rawjson.Object) (out rawjson.Object, enough bool) {
	out, enough = slices.Clone(doc), true
	e := messages.byType[t]
	if e == nil {
		return out, true
	}
	s := e.table()
	for i := range s.fields {
		f := &s.fields[i]
		m, found := f.from(doc, Find)
		switch {
		case !found || f.kind == kindTime || f.kind == kindSender || f.kind == kindVersion || f.name == "message_type":
			continue
		case f.kind == kindObject:
			out, enough = out.Without(m.Name), enough && !f.sub.lacks(rawjson.Split(m.Value))
		}
		out = out.Set(f.name, m.Value)
	}
	return out, enough
}

// CollectMatch returns the match of an announcement that an object of others describes.
func CollectMatch(from rawjson.Object) rawjson.Object {
	return messages.byType[TypeRoundAnnouncement].table().field("matches").inner().collect(from)
}

// collect returns an object of the shape with what an object of others holds for its fields.
func (s *shape) collect(from rawjson.Object) (out rawjson.Object) {
	for i := range s.fields {
		if m, found := s.fields[i].from(from, FindInner); found {
			out = append(out, rawjson.Member{Name: s.fields[i].name, Value: m.Value})
		}
	}
	return out
}

// lacks reports whether an object of the shape is without a field that is demanded.
func (s *shape) lacks(in rawjson.Object) bool {
	return slices.ContainsFunc(s.fields, func(f field) bool { return f.need == always && len(in.Get(f.name)) <= len(`""`) })
}

// from returns the member of an object of others that is the field, with a value of the field's kind.
func (f *field) from(doc rawjson.Object, find func(rawjson.Object, string, string) (rawjson.Member, bool)) (m rawjson.Member, found bool) {
	kinds := fieldKinds[f.kind].loose
	if f.null {
		kinds += "n"
	}
	m, found = find(doc, f.name, kinds)
	switch kind := m.Value.Kind(); {
	case f.kind == kindObject:
		in := f.object(rawjson.Split(m.Value), doc)
		return rawjson.Member{Name: m.Name, Value: in.Encode()}, in != nil
	case f.null && kind == '"' && Means(Nobody, string(rawjson.Text(m.Value))):
		m.Value = jsontext.Value("null")
	case f.kind == kindList && kind == '"': // a list of one
		m.Value = slices.Concat(jsontext.Value{'['}, m.Value, jsontext.Value{']'})
	case f.kind == kindDict && kind == '[':
		m.Value = f.byPlayer(m.Value)
	case f.kind == kindInteger && kind == '"':
		if number := jsontext.Value(rawjson.Text(m.Value)); number.IsValid() && strings.Trim(string(number), "-0123456789") == "" {
			m.Value = number
		}
	case f.kind == kindID && kind == '{':
		m, _ = FindInner(rawjson.Split(m.Value), "player_id", `"0`)
	}
	if f.kind == kindID && m.Value.Kind() == '0' {
		m.Value = rawjson.Quote(string(m.Value))
	}
	return m, found
}

// object returns what belongs into an object: from the one that there is, or else from beside it. What
// demands nothing, as a result does, may be an object within, and is read beside only where it is missing.
// An agent without a name goes by its sender.
func (f *field) object(there, beside rawjson.Object) rawjson.Object {
	demands := slices.ContainsFunc(f.sub.fields, func(sub field) bool { return sub.need == always })
	if within, is := Find(there, f.name, "{"); is && !demands {
		there = append(rawjson.Split(within.Value), there...)
	}
	in := f.sub.collect(there)
	if there != nil && !demands {
		return in
	}
	if _, name, _ := ParseSender(beside.Text("sender")); name != "" {
		beside = append(slices.Clip(beside), rawjson.Member{Name: "sender's name", Value: rawjson.Quote(name)})
	}
	for _, m := range f.sub.collect(beside) {
		if len(in.Get(m.Name)) <= len(`""`) {
			in = in.Set(m.Name, m.Value)
		}
	}
	return in
}

// byPlayer returns a list of what is said of players as an object by their ids.
func (f *field) byPlayer(list jsontext.Value) jsontext.Value {
	var by rawjson.Object
	for _, e := range rawjson.Elements(list) {
		if len(by) > 2 { // a match has two, and more need a time that grows with their square
			break
		}
		of := rawjson.Split(e)
		id, _ := FindInner(of, "player_id", `"0`)
		for _, m := range of {
			if m.Name != id.Name && is(m.Value, fieldKinds[f.elem.kind].loose) && id.Value != nil {
				by = by.Set(string(rawjson.Text(id.Value)), m.Value)
			}
		}
	}
	return by.Encode()
}

// PlayerOf returns which of the players of a match a name stands for that may be a role:
// a, who is PLAYER_A, or b. It returns any other name as it is, without the title of a sender.
func PlayerOf(name, a, b string) string {
	id, titled := strings.CutPrefix(name, string(RolePlayer)+":")
	is := func(field string) bool {
		n := names()[field]
		return slices.Contains(slices.Concat(n.others, n.inner), plainName(name))
	}
	switch {
	case titled && ValidForeignID(id):
		return id
	case name == a || name == b: // as mostly
		return name
	case a != "" && is("player_A_id"):
		return a
	case b != "" && is("player_B_id"):
		return b
	}
	return name
}

func find(doc rawjson.Object, all []string, kinds string) (rawjson.Member, bool) {
	for _, name := range all {
		wanted := plainName(name)
		for _, m := range doc {
			if (m.Name == name || plainName(m.Name) == wanted) && is(m.Value, kinds) {
				return m, true
			}
		}
	}
	return rawjson.Member{}, false
}

func is(v jsontext.Value, kinds string) bool {
	if kinds == "" {
		return v != nil && v.Kind() != 'n'
	}
	return strings.IndexByte(kinds, byte(v.Kind())) >= 0
}

// ValueFor returns the value in a message for what a program calls name, in whatever
// spelling: the member of that name, that of the field which the name stands for, or of
// the field that a word of it suggests; nil where the message has none.
func ValueFor(message rawjson.Object, name string) jsontext.Value {
	if v := message.Get(name, plainName(name)); v != nil {
		return v
	}
	name = plainName(name)
	var called []string
	for _, n := range namings {
		if all := append(NamesOf(n.field), n.inner...); plainName(n.field) == name || slices.Contains(all, name) {
			called = append(called, all...)
		}
	}
	if called != nil {
		return message.Get(called...)
	}
	words := WordsOf(name)
	if i := slices.IndexFunc(namings, func(n naming) bool { return n.suggested(words) }); i >= 0 {
		return message.Get(namings[i].field)
	}
	return nil
}

// suggested reports whether the words of a name suggest the member.
func (n naming) suggested(words []string) bool {
	return common(words, n.words) && !common(words, n.not)
}

// common reports whether two lists have a word in common.
func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// holders are the names of members that hold the message itself.
var holders = []string{"message", "request", "payload", "envelope", "header", "params", "data", "body", "msg", "registration", "arguments", "input"}

// HoldsMessage reports whether a member of that name holds a whole message.
func HoldsMessage(name string) bool { return slices.Contains(holders, plainName(name)) }

// HoldsMeta reports whether a member of that name holds what an agent says of itself.
func HoldsMeta(name string) bool {
	name = plainName(name)
	return slices.Contains(NamesOf("player_meta"), name) || slices.Contains(NamesOf("referee_meta"), name)
}
