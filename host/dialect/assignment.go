package dialect

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// assigns begins the trait of a referee that takes assignments.
const assigns = "hands-out-by-"

// AssignmentTrait returns the trait of a referee that takes assignments under a
// name of [protocol.AssignmentNames].
func AssignmentTrait(name string) string { return assigns + name }

var playerIDs = [...]string{"player_A_id", "player_B_id"}

// readAssignment turns an assignment into an announcement of its match, and
// reports whether the request was one.
func (r *Request) readAssignment(name string) (bool, *protocol.Error) {
	said := string(r.Header.MessageType)
	_, known := protocol.Describe(r.Header.MessageType)
	if !protocol.Assigns(said) && (known || !protocol.Assigns(name)) {
		return false, nil
	}
	if named, served := protocol.TypeOfMethod(name); served && named != protocol.TypeRoundAnnouncement {
		return true, refuseMethod(r.Header.MessageType, name, named)
	}
	message := r.doc
	if inner := rawjson.Split(message.Get("match")); inner != nil && message.Get("match_id") == nil {
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
		player, _ := protocol.Find(doc, id, "{")
		if list := doc.Get("players"); list.Kind() == '[' {
			if all := rawjson.Elements(list); i < len(all) {
				player.Value = all[i]
			}
		}
		side := strings.TrimSuffix(id, "_id")
		inner := rawjson.Split(player.Value)
		said, _ := protocol.FindInner(inner, "player_id", scalars)
		if player.Value.Kind() == '"' {
			said.Value = player.Value
		}
		at, _ := protocol.FindInner(inner, "contact_endpoint", scalars)
		for _, m := range (rawjson.Object{{Name: id, Value: said.Value}, {Name: side + "_endpoint", Value: at.Value}}) {
			if m.Value != nil && match.Get(m.Name) == nil {
				match = append(match, m)
			}
		}
	}
	return match
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
func (d *Dialect) AssignmentCalls(name string, m *protocol.RoundAnnouncement) (calls []jsonrpc.Message, err error) {
	for _, match := range m.Matches {
		if match.PlayerAEndpoint == "" && match.PlayerBEndpoint == "" {
			continue // another referee's
		}
		alone := *m
		alone.Matches, alone.Byes = []protocol.AnnouncedMatch{match}, nil
		raw, err := d.Body(&alone) // signed as everything else
		if err != nil {
			return nil, err
		}
		calls = append(calls, d.Wrap(name, assignment(name, raw).Encode()))
	}
	return calls, nil
}

// assignment returns an announcement of one match with its fields beside the header, and
// with them and the round under the other names that referees read them by.
func assignment(name string, announcement jsontext.Value) rawjson.Object {
	doc := rawjson.Split(announcement)
	match := rawjson.Split(rawjson.Elements(doc.Get("matches"))[0])
	doc = append(doc.Without("matches", "message_type"), rawjson.Member{Name: "message_type", Value: rawjson.Quote(strings.ToUpper(name))})
	for _, f := range match {
		doc = append(doc, f)
		if lowered := strings.ToLower(f.Name); lowered != f.Name {
			doc = append(doc, rawjson.Member{Name: lowered, Value: f.Value})
		}
	}
	doc = append(doc, rawjson.Member{Name: protocol.NamesOf("round_id")[1], Value: doc.Get("round_id")})
	var players []string
	for _, id := range playerIDs {
		endpoint := strings.TrimSuffix(id, "_id") + "_endpoint"
		at := match.Get(endpoint)
		if at == nil {
			at = jsontext.Value("null")
		}
		for _, f := range (rawjson.Object{{Name: id, Value: match.Get(id)}, {Name: endpoint, Value: at}}) {
			for _, name := range protocol.NamesOf(f.Name)[1:] {
				doc = append(doc, rawjson.Member{Name: name, Value: f.Value})
			}
		}
		players = append(players, fmt.Sprintf(`{"player_id":%s,"id":%[1]s,"contact_endpoint":%s,"endpoint":%[2]s}`, match.Get(id), at))
	}
	return append(doc, rawjson.Member{Name: "players", Value: jsontext.Value("[" + strings.Join(players, ",") + "]")})
}

// AssignmentNameIn returns the name under which a referee takes assignments,
// found in its registration: any text that is one, such as an element of a list
// of its tools. It is empty where there is none.
func AssignmentNameIn(registration jsontext.Value) string {
	meta := rawjson.Split(registration).Get("referee_meta")
	for _, name := range protocol.AssignmentNames() {
		if bytes.Contains(meta, rawjson.Quote(name)) {
			return name
		}
	}
	return ""
}
