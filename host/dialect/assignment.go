package dialect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// AssignmentTrait returns the trait of a referee that takes assignments under a
// name of [protocol.AssignmentNames].
func AssignmentTrait(name string) string { return "hands-out-by-" + name }

var playerIDs = [...]string{"player_A_id", "player_B_id"}

// readAssignment turns an assignment into an announcement of its match, and
// reports whether the request was one.
func (r *Request) readAssignment(name string) (bool, *protocol.Error) {
	said := string(r.Header.MessageType)
	_, known := protocol.Describe(r.Header.MessageType)
	switch {
	case protocol.Assigns(said):
	case !known && protocol.Assigns(name):
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
		return true, protocol.Refuse(protocol.CodeMissingField, protocol.Type(said), "A match that is handed out has a match_id.",
			protocol.Violation{Path: "/match_id", Rule: "required"})
	}
	var doc rawjson.Object
	for _, m := range message {
		if doc.Get(m.Name) == nil && protocol.IsHeaderField(m.Name) && m.Name != "message_type" && m.Name != "match_id" {
			doc = append(doc, m)
		}
	}
	if doc.Get("round_id") == nil {
		round, given := protocol.Find(message, "round_id", `"0`)
		if !given {
			round.Value = roundInID(string(rawjson.Text(match.Get("match_id"))))
		}
		doc = append(doc, rawjson.Member{Name: "round_id", Value: round.Value})
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

func assignedMatch(doc rawjson.Object) rawjson.Object {
	match := protocol.Collect(protocol.TypeRoundAnnouncement, "matches", doc)
	for i, id := range playerIDs {
		side, player := strings.TrimSuffix(id, "_id"), playerAt(doc, i)
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
		for suffix, field := range map[string]string{"_id": "player_id", "_endpoint": "contact_endpoint"} {
			if m, given := protocol.FindInner(inner, field, scalars); given && match.Get(side+suffix) == nil {
				match = append(match, rawjson.Member{Name: side + suffix, Value: m.Value})
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
	m, _ := protocol.Find(doc, playerIDs[i], "{")
	return m.Value
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
// under a name of [protocol.AssignmentNames]: one call for each match whose players'
// endpoints it holds. The error is that of [protocol.Encode].
func (d *Dialect) AssignmentCalls(name string, m *protocol.RoundAnnouncement) ([]jsonrpc.Message, error) {
	var calls []jsonrpc.Message
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

func (d *Dialect) assignmentCall(name string, m *protocol.RoundAnnouncement, match *protocol.AnnouncedMatch) (jsonrpc.Message, error) {
	alone := *m
	alone.Matches, alone.Byes = []protocol.AnnouncedMatch{*match}, nil
	raw, err := d.Body(&alone) // signed as everything else
	if err != nil {
		return jsonrpc.Message{}, err
	}
	doc, err := rawjson.Split(raw)
	if err != nil {
		return jsonrpc.Message{}, err
	}
	inner, err := rawjson.Split(rawjson.Elements(doc.Get("matches"))[0])
	if err != nil {
		return jsonrpc.Message{}, err
	}
	doc = append(doc.Without("matches", "message_type"), rawjson.Member{Name: "message_type", Value: rawjson.Quote(strings.ToUpper(name))})
	for _, f := range inner {
		doc = append(doc, f)
		if lowered := strings.ToLower(f.Name); lowered != f.Name {
			doc = append(doc, rawjson.Member{Name: lowered, Value: f.Value})
		}
	}
	return d.Wrap(name, append(doc, spellings(doc, inner)...).Encode())
}

// spellings returns the members of an assignment, and the round in its header,
// under the other names that referees read them by.
func spellings(doc, match rawjson.Object) rawjson.Object {
	all := rawjson.Object{{Name: protocol.NamesOf("round_id")[1], Value: doc.Get("round_id")}}
	players := jsontext.Value{'['}
	for i, id := range playerIDs {
		side := strings.TrimSuffix(id, "_id")
		values := map[string]jsontext.Value{"_id": match.Get(side + "_id"), "_endpoint": match.Get(side + "_endpoint")}
		if values["_endpoint"] == nil {
			values["_endpoint"] = jsontext.Value("null")
		}
		for _, suffix := range []string{"_id", "_endpoint"} {
			for _, name := range protocol.NamesOf(side + suffix)[1:] {
				all = append(all, rawjson.Member{Name: name, Value: values[suffix]})
			}
		}
		if i > 0 {
			players = append(players, ',')
		}
		players = append(players, rawjson.Object{
			{Name: "player_id", Value: values["_id"]}, {Name: "id", Value: values["_id"]},
			{Name: "contact_endpoint", Value: values["_endpoint"]}, {Name: "endpoint", Value: values["_endpoint"]},
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
			if v.Kind() == '"' && protocol.Assigns(string(rawjson.Unquote(v))) {
				return string(rawjson.Unquote(v))
			}
		}
	}
	return ""
}
