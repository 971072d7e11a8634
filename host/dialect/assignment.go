package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// assignmentNames are the names, of types and of methods, under which managers
// assign a referee one match at a time. Such a message stands for an
// announcement of that match alone.
var assignmentNames = []string{"START_MATCH", "MATCH_ASSIGNMENT", "start_match", "assign_match", "RUN_MATCH", "run_match", "ASSIGN_MATCH", "conduct_match"}

// AssignmentNames returns the names under which managers assign a referee one
// match at a time, the commonest first.
func AssignmentNames() []string { return slices.Clone(assignmentNames) }

// AssignmentTrait returns the trait of a referee that takes assignments under a
// name of [AssignmentNames].
func AssignmentTrait(name string) string { return "hands-out-by-" + name }

// assignmentFields are the fields of an announced match, each with the names that
// managers give to it in an assignment.
var assignmentFields = []struct {
	field string
	names []string
}{
	{"match_id", []string{"match_id", "id"}},
	{"game_type", []string{"game_type"}},
	{"player_A_id", []string{"player_A_id", "player_a_id", "player1_id", "player_1_id", "player_a", "player_A", "player1"}},
	{"player_B_id", []string{"player_B_id", "player_b_id", "player2_id", "player_2_id", "player_b", "player_B", "player2"}},
	{"player_A_endpoint", []string{"player_A_endpoint", "player_a_endpoint", "player1_endpoint", "player_1_endpoint", "endpoint_a"}},
	{"player_B_endpoint", []string{"player_B_endpoint", "player_b_endpoint", "player2_endpoint", "player_2_endpoint", "endpoint_b"}},
	{"player_A_keys", []string{"player_A_keys"}},
	{"player_B_keys", []string{"player_B_keys"}},
	{"player_A_dialect", []string{"player_A_dialect"}},
	{"player_B_dialect", []string{"player_B_dialect"}},
	{"referee_id", []string{"referee_id"}},
	{"referee_endpoint", []string{"referee_endpoint"}},
}

// playerFields are the same for a player that is an object of its own.
var playerFields = []struct {
	suffix string
	names  []string
}{
	{"_id", []string{"player_id", "id"}},
	{"_endpoint", []string{"contact_endpoint", "endpoint", "url"}},
}

// readAssignment turns an assignment into an announcement of its match, and
// reports whether the request was one.
func (r *Request) readAssignment(name string) (bool, *protocol.Error) {
	said := string(r.Header.MessageType)
	_, known := protocol.Describe(r.Header.MessageType)
	switch {
	case slices.Contains(assignmentNames, said):
	case !known && slices.Contains(assignmentNames, name):
	default:
		return false, nil
	}
	if named, served := protocol.TypeOfMethod(name); served && named != protocol.TypeRoundAnnouncement {
		return true, refuseMethod(r.Header.MessageType, name, named)
	}
	message := r.doc
	if inner, err := rawjson.Split(message.Get("match")); err == nil && message.Get("match_id") == nil {
		message = append(slices.Clone(message.Without("match")), inner...)
	}
	match := assignedMatch(message)
	if match.Get("match_id") == nil {
		e := protocol.Refuse(protocol.CodeMissingField, protocol.Type(said), "A match that is handed out has a match_id.")
		e.Violations = []protocol.Violation{{Path: "/match_id", Rule: "required"}}
		return true, e
	}
	var doc rawjson.Object
	for _, m := range message {
		if doc.Get(m.Name) == nil && protocol.IsHeaderField(m.Name) && m.Name != "message_type" && m.Name != "match_id" {
			doc = append(doc, m)
		}
	}
	if doc.Get("round_id") == nil {
		round := message.First("round", "round_number")
		if round == nil {
			round = roundInID(string(rawjson.Text(match.Get("match_id"))))
		}
		doc = append(doc, rawjson.Member{Name: "round_id", Value: round})
	}
	doc = append(doc,
		rawjson.Member{Name: "message_type", Value: rawjson.Quote(string(protocol.TypeRoundAnnouncement))},
		rawjson.Member{Name: "matches", Value: slices.Concat(jsontext.Value{'['}, match.Encode(), jsontext.Value{']'})})
	r.Type, r.doc, r.Raw, r.assignment = protocol.TypeRoundAnnouncement, doc, doc.Encode(), strings.ToUpper(cmp.Or(said, name))
	r.Header.MessageType = protocol.TypeRoundAnnouncement
	r.Header.RoundID = protocol.ReadHeader(doc).RoundID
	return true, nil
}

// IsAssignment reports whether the request assigned a single match.
func (r *Request) IsAssignment() bool { return r.assignment != "" }

// assignedMatch returns the match of an assignment as an announcement has it.
func assignedMatch(doc rawjson.Object) rawjson.Object {
	var match rawjson.Object
	for _, f := range assignmentFields {
		if v := doc.First(f.names...); v != nil && v.Kind() != 'n' && (v.Kind() != '{' || strings.HasSuffix(f.field, "_keys")) {
			match = append(match, rawjson.Member{Name: f.field, Value: v})
		}
	}
	for i, side := range []string{"player_A", "player_B"} {
		player := playerAt(doc, i)
		if player == nil {
			continue
		}
		if player.Kind() == '"' && match.Get(side+"_id") == nil {
			match = append(match, rawjson.Member{Name: side + "_id", Value: player})
			continue
		}
		inner, err := rawjson.Split(player)
		if err != nil {
			continue
		}
		for _, f := range playerFields {
			if v := inner.First(f.names...); v != nil && match.Get(side+f.suffix) == nil {
				match = append(match, rawjson.Member{Name: side + f.suffix, Value: v})
			}
		}
	}
	return match
}

// playerAt returns the first or second player of an assignment that has them as
// a list or as objects; nil for any other.
func playerAt(doc rawjson.Object, i int) jsontext.Value {
	if list := doc.Get("players"); list.Kind() == '[' {
		if all := rawjson.Elements(list); i < len(all) {
			return all[i]
		}
	}
	for _, name := range [][]string{{"player_A", "player_a", "player1"}, {"player_B", "player_b", "player2"}}[i] {
		if v := doc.Get(name); v.Kind() == '{' {
			return v
		}
	}
	return nil
}

// roundInID reads the round from a match id such as R2M1; it is 1 in others.
func roundInID(id string) jsontext.Value {
	rest, ok := strings.CutPrefix(id, "R")
	if n := strings.IndexByte(rest, 'M'); ok && n > 0 && strings.Trim(rest[:n], "0123456789") == "" && rest[0] != '0' && n < 9 {
		return jsontext.Value(rest[:n])
	}
	return jsontext.Value("1")
}

// AssignmentCalls wraps an announcement for a referee that takes assignments
// under a name of [AssignmentNames]: one call for each match whose players'
// endpoints it holds. The error is that of [protocol.Encode].
func (d *Dialect) AssignmentCalls(name string, m *protocol.RoundAnnouncement) ([]Call, error) {
	var calls []Call
	for i := range m.Matches {
		if m.Matches[i].PlayerAEndpoint == "" && m.Matches[i].PlayerBEndpoint == "" {
			continue // another referee's
		}
		call, err := d.assignmentCall(name, m, &m.Matches[i])
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	return calls, nil
}

func (d *Dialect) assignmentCall(name string, m *protocol.RoundAnnouncement, match *protocol.AnnouncedMatch) (Call, error) {
	alone := *m
	alone.Matches, alone.Byes = []protocol.AnnouncedMatch{*match}, nil
	raw, err := protocol.Encode(&alone)
	if err != nil {
		return Call{}, err
	}
	if raw, err = d.edited(m.MessageType, raw, true); err != nil { // signed as everything else
		return Call{}, err
	}
	doc, err := rawjson.Split(raw)
	if err != nil {
		return Call{}, err
	}
	inner, err := rawjson.Split(rawjson.Elements(doc.Get("matches"))[0])
	if err != nil {
		return Call{}, err
	}
	doc = append(doc.Without("matches", "message_type"), rawjson.Member{Name: "message_type", Value: rawjson.Quote(strings.ToUpper(name))})
	for _, f := range inner {
		doc = append(doc, f)
		if lowered := strings.ToLower(f.Name); lowered != f.Name {
			doc = append(doc, rawjson.Member{Name: lowered, Value: f.Value})
		}
	}
	doc = append(doc, spellings(doc, inner)...)
	if d.Request.Bare {
		return Call{Body: doc.Encode()}, nil
	}
	params, err := d.Request.put(doc.Encode(), name, false)
	if err != nil {
		return Call{}, err
	}
	if d.Request.Method != "" {
		name = d.Request.Method
	}
	return Call{Method: name, Params: params}, nil
}

// spellings returns the members of an assignment, and the round in its header,
// under the other names that referees read them by.
func spellings(doc, match rawjson.Object) rawjson.Object {
	all := rawjson.Object{{Name: "round", Value: doc.Get("round_id")}}
	players := jsontext.Value{'['}
	for i, side := range []string{"A", "B"} {
		id, endpoint, number := match.Get("player_"+side+"_id"), match.Get("player_"+side+"_endpoint"), strconv.Itoa(i+1)
		if endpoint == nil {
			endpoint = jsontext.Value("null")
		}
		all = append(all,
			rawjson.Member{Name: "player" + number + "_id", Value: id}, rawjson.Member{Name: "player" + number + "_endpoint", Value: endpoint},
			rawjson.Member{Name: "player_" + number + "_id", Value: id}, rawjson.Member{Name: "player_" + number + "_endpoint", Value: endpoint},
			rawjson.Member{Name: "player_" + side, Value: id}, rawjson.Member{Name: "player_" + strings.ToLower(side), Value: id},
			rawjson.Member{Name: "player" + number, Value: id})
		if i > 0 {
			players = append(players, ',')
		}
		players = append(players, rawjson.Object{
			{Name: "player_id", Value: id}, {Name: "id", Value: id}, {Name: "contact_endpoint", Value: endpoint}, {Name: "endpoint", Value: endpoint},
		}.Encode()...)
	}
	return append(all, rawjson.Member{Name: "players", Value: append(players, ']')})
}

// AssignmentNameIn returns the name under which a referee takes assignments,
// found in its registration: any text that is one, such as an element of a list
// of its tools. It is empty where there is none.
func AssignmentNameIn(registration jsontext.Value) string {
	doc, err := rawjson.Split(registration)
	if err != nil {
		return ""
	}
	meta, err := rawjson.Split(doc.Get("referee_meta"))
	if err != nil {
		return ""
	}
	for _, m := range meta {
		values := []jsontext.Value{m.Value}
		if m.Value.Kind() == '[' {
			values = rawjson.Elements(m.Value)
		}
		for _, v := range values {
			if v.Kind() == '{' {
				if inner, err := rawjson.Split(v); err == nil {
					v = inner.Get("name")
				}
			}
			if v.Kind() == '"' && slices.Contains(assignmentNames, string(rawjson.Unquote(v))) {
				return string(rawjson.Unquote(v))
			}
		}
	}
	return ""
}
