package dialect

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A message that breaks its field rules is mended in tolerant mode: a member that
// breaks its rule counts as missing, and what the message is needed for is looked
// for under other names and in other spellings. Where that is enough, the message
// is taken, and its header says what was wrong with it.

// decodeMended is [protocol.Decode] of a message that has broken its field rules
// with flaw. It returns flaw where the message cannot be mended.
func decodeMended(t protocol.Type, doc rawjson.Object, flaw error, request *protocol.Header) (protocol.Message, error) {
	broken, is := errors.AsType[*protocol.Error](flaw)
	if !is || request != nil && (broken.Code == protocol.CodeVersionMismatch || otherZone(request.Timestamp)) {
		return nil, flaw // a request in another protocol or time means something else
	}
	mended, found := spelled(t, doc, prune(doc, broken.Violations))
	if !found {
		return nil, flaw
	}
	m, err := protocol.Decode(t, mended, protocol.Tolerant, request)
	if more, is := errors.AsType[*protocol.Error](err); is { // the first finding was about the whole
		m, err = protocol.Decode(t, prune(mended, more.Violations), protocol.Tolerant, request)
	}
	if err != nil {
		return nil, flaw
	}
	m.Head().Flaw = broken
	return m, nil
}

// fieldNames are the names under which programs send the fields of a match, the
// protocol's own first. A value that is an object or a list is something else.
var fieldNames = [][]string{
	{"match_id", "game_id", "matchId", "gameId", "match", "session_id", "game_session_id"},
	{"round_id", "round", "round_number", "roundId", "round_no"},
	{"league_id", "league", "leagueId", "tournament_id"},
	{"opponent_id", "opponent", "opponentId", "opponent_player_id", "opponent_name"},
	{"role_in_match", "role", "player_role", "side"},
	{"player_id", "playerId", "to_player", "recipient_id"},
	{"auth_token", "token", "authToken", "match_token"},
	{"conversation_id", "conversationId", "conversation"},
	{"game_type", "gameType"},
}

// resultNames are those of a result that stands beside the header.
var resultNames = [][]string{
	{"drawn_number", "number", "random_number", "drawnNumber"},
	{"points_earned", "points", "score"},
	{"your_choice", "my_choice", "yourChoice", "player_choice"},
	{"opponent_choice", "opponentChoice", "other_choice"},
	{"result", "outcome"},
}

// respell gives the fields of a message about a match the names of the protocol,
// where a tolerant agent is sent others. What it renames is echoed in the answer
// under both names.
func (r *Request) respell() {
	if r.mode == protocol.Strict || r.doc.Get("match_id") != nil && r.doc.Get("round_id") != nil {
		return
	}
	tables := fieldNames
	switch r.Type {
	case protocol.TypeGameOver:
		tables = slices.Concat(fieldNames, resultNames)
	case protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameError, protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse:
	default:
		return
	}
	doc := r.doc
	for _, names := range tables {
		v := doc.First(names...)
		if v == nil || v.Kind() == '{' || v.Kind() == '[' || doc.Get(names[0]) != nil {
			continue
		}
		text := names[0] != "round_id" && strings.HasSuffix(names[0], "_id") && v.Kind() == '0'
		at := slices.IndexFunc(names, func(name string) bool { return doc.Get(name) != nil })
		r.echo = append(r.echo, rawjson.Member{Name: names[at], Value: v})
		if text {
			v = rawjson.Quote(string(v))
		}
		doc = doc.Set(names[0], v)
	}
	if r.echo == nil {
		return
	}
	r.doc, r.Raw, r.Header = doc, doc.Encode(), protocol.ReadHeader(doc)
}

// echoed adds to an answer about a match what the request calls otherwise.
func (r *Request) echoed(raw jsontext.Value) (jsontext.Value, error) {
	doc, err := rawjson.Split(raw)
	if err != nil {
		return nil, err
	}
	for _, m := range r.echo {
		for _, names := range fieldNames[:3] {
			if slices.Contains(names, m.Name) && doc.Get(names[0]) != nil {
				doc = doc.Set(m.Name, m.Value)
			}
		}
	}
	return doc.Encode(), nil
}

// otherZone reports whether a time bears the offset of a zone other than UTC.
func otherZone(timestamp string) bool {
	at := strings.LastIndexAny(timestamp, "+-")
	return strings.Contains(timestamp, ":") && at > strings.IndexByte(timestamp, ':') && strings.Trim(timestamp[at+1:], "0:Z") != ""
}

// prune returns the message without the members that break a rule. Of a list the
// whole is left out.
func prune(doc rawjson.Object, broken []protocol.Violation) rawjson.Object {
	doc = slices.Clone(doc)
	for _, v := range broken {
		if v.Rule != "required" {
			doc = pruneAt(doc, strings.Split(strings.TrimPrefix(v.Path, "/"), "/"))
		}
	}
	return doc
}

func pruneAt(doc rawjson.Object, path []string) rawjson.Object {
	inner, err := rawjson.Split(doc.Get(path[0]))
	if len(path) == 1 || err != nil {
		return doc.Without(path[0])
	}
	return doc.Set(path[0], pruneAt(inner, path[1:]).Encode())
}

// spelled returns the message with what it is needed for under the names of the
// protocol, and whether that was found.
func spelled(t protocol.Type, doc, mended rawjson.Object) (rawjson.Object, bool) {
	switch t {
	case protocol.TypeGameJoinAck:
		joins, said := joinIn(doc)
		return mended.Without("message_type").Set("accept", rawjson.Bool(joins)), said
	case protocol.TypeChooseParityResponse:
		choice := parityIn(doc)
		return mended.Without("message_type", "choice").Set("parity_choice", rawjson.Quote(choice)), choice != ""
	case protocol.TypeMatchResultReport:
		return reportIn(mended)
	case protocol.TypeLeagueRegisterRequest:
		return registrationIn("player_meta", doc, mended)
	case protocol.TypeRefereeRegisterRequest:
		return registrationIn("referee_meta", doc, mended)
	}
	if _, confirms := protocol.New(t).(*protocol.Ack); confirms {
		return mended.Without("message_type"), true // whatever it says, it has arrived
	}
	return mended, true
}

// The words by which players say that they join, or that they do not.
var (
	joinWords    = []string{"ACCEPTED", "ACCEPT", "ACK", "RECEIVED", "JOINED", "JOIN", "READY", "CONFIRMED", "YES", "TRUE", "1"}
	declineWords = []string{"REJECTED", "REJECT", "DECLINED", "DECLINE", "REFUSED", "NO", "FALSE", "0"}
)

// joinIn returns what an answer says of joining, under any usual name. A message
// of the type of a join joins unless it says otherwise.
func joinIn(doc rawjson.Object) (joins, said bool) {
	for _, name := range []string{"accept", "accepted", "joined", "status"} {
		word := strings.ToUpper(strings.Trim(string(doc.Get(name)), `" `))
		switch {
		case slices.Contains(joinWords, word):
			return true, true
		case slices.Contains(declineWords, word):
			return false, true
		}
	}
	join := protocol.TypeOf(doc) == protocol.TypeGameJoinAck
	return join, join
}

// parityIn returns the choice in an answer: under one of its names, or else the
// only parity that stands in the answer or in an object of it; "" without one.
func parityIn(doc rawjson.Object) string {
	for _, name := range []string{"parity_choice", "choice"} {
		if v := doc.Get(name); v != nil && v.Kind() != 'n' && string(v) != `""` {
			return parityOf(v)
		}
	}
	found := ""
	for _, m := range doc {
		choice := parityOf(m.Value)
		if inner, err := rawjson.Split(m.Value); err == nil {
			choice = parityIn(inner)
		}
		switch {
		case choice == "" || choice == found:
		case found != "":
			return ""
		default:
			found = choice
		}
	}
	return found
}

// parityOf reads a parity in any case, with blanks around it.
func parityOf(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	word := strings.ToLower(strings.TrimSpace(string(rawjson.Unquote(v))))
	if word != string(protocol.Even) && word != string(protocol.Odd) {
		return ""
	}
	return word
}

// metaNames are the names under which agents say who they are, where they do not
// say it beside the header.
var metaNames = []string{"player_meta", "referee_meta", "meta", "metadata", "player", "referee", "agent", "player_info", "referee_info", "agent_info"}

// metaFields are the fields of it with the names that they go by.
var metaFields = [][]string{
	{"display_name", "name", "player_name", "referee_name", "agent_name", "team_name", "bot_name", "nickname"},
	{
		"contact_endpoint", "endpoint", "url", "callback_url", "endpoint_url", "contact_url", "base_url", "player_endpoint", "referee_endpoint",
		"agent_endpoint", "player_url", "referee_url", "agent_url", "callback", "address",
	},
	{"version", "agent_version"},
	{"protocol_version"},
	{"game_types", "games", "supported_games", "game_type"},
	{"max_concurrent_matches", "capacity", "max_matches"},
	{"match_keys"},
}

// registrationIn returns a registration with what an agent says of itself in its
// place, under the names of the protocol; false without an endpoint. An agent
// without a name goes by the one that it signs with.
func registrationIn(place string, doc, mended rawjson.Object) (rawjson.Object, bool) {
	said := mended
	for _, name := range metaNames {
		if inner, err := rawjson.Split(mended.Get(name)); err == nil {
			said = append(slices.Clone(inner), mended...)
			break
		}
	}
	var meta rawjson.Object
	for _, names := range metaFields {
		v := said.First(names...)
		if names[0] == "game_types" && v.Kind() == '"' {
			v = slices.Concat(jsontext.Value("["), v, jsontext.Value("]"))
		}
		if v != nil && v.Kind() != 'n' {
			meta = append(meta, rawjson.Member{Name: names[0], Value: v})
		}
	}
	if _, name, err := protocol.ParseSender(doc.Text("sender")); meta.Text("display_name") == "" && err == nil {
		meta = meta.Set("display_name", rawjson.Quote(name))
	}
	return mended.Set(place, meta.Encode()), meta.Text("contact_endpoint") != "" && meta.Text("display_name") != ""
}

// reportIn returns a report whose result stands in its places, wherever the
// referee has put it: beside the header, or under other names; false without a
// word about the winner.
func reportIn(doc rawjson.Object) (rawjson.Object, bool) {
	result, err := rawjson.Split(doc.Get("result"))
	if err != nil {
		result = doc
	}
	details, err := rawjson.Split(result.Get("details"))
	if err != nil {
		details = result
	}
	winner := result.First("winner", "winner_id", "winner_player_id")
	if winner == nil {
		return nil, false
	}
	if word := strings.ToUpper(string(rawjson.Text(winner))); winner.Kind() == '"' && (word == "" || word == "NONE" || word == "TIE") {
		winner = jsontext.Value("null")
	}
	settled := rawjson.Object{{Name: "winner", Value: winner}}
	if score := result.First("score", "scores", "points"); score.Kind() == '{' {
		settled = append(settled, rawjson.Member{Name: "score", Value: score})
	}
	var about rawjson.Object
	for field, names := range map[string][]string{"drawn_number": {"drawn_number", "number"}, "choices": {"choices", "player_choices"}, "status": {"status"}} {
		if v := details.First(names...); v != nil {
			about = append(about, rawjson.Member{Name: field, Value: v})
		}
	}
	settled = append(settled, rawjson.Member{Name: "details", Value: about.Encode()})
	return doc.Without("result").Set("result", settled.Encode()), true
}
