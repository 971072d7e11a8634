package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// assigns begins the trait of a referee that takes assignments under a name of
// [protocol.AssignmentNames].
const assigns = "hands-out-by-"

// AssignmentTrait returns the trait of a referee that takes assignments under a name that is found in
// its registration: any text that is one, such as an element of a list of its tools, but for the name
// that it shows. It is empty where it names none of them.
func AssignmentTrait(registration jsontext.Value) string {
	meta := rawjson.Split(rawjson.Split(registration).Get("referee_meta")).Without("display_name").Encode()
	for _, name := range protocol.AssignmentNames {
		if bytes.Contains(meta, rawjson.Quote(name)) {
			return assigns + name
		}
	}
	return ""
}

var playerIDs = [...]string{"player_A_id", "player_B_id"}

// endpointOf returns the field beside the id of a player that holds the player's endpoint.
func endpointOf(id string) string { return strings.TrimSuffix(id, "_id") + "_endpoint" }

// readAssignment turns an assignment into an announcement of its match.
func (r *Request) readAssignment(name string) *protocol.Error {
	doc := r.doc
	if doc.Get("match_id") == nil {
		doc, _ = spread(doc, func(name string) bool { return name == "match" })
	}
	match := assignedMatch(doc)
	id := match.Get("match_id")
	if id == nil {
		return protocol.Refuse(protocol.CodeMissingField, r.Header.MessageType, "A match that is handed out has a match_id.",
			protocol.Violation{Path: "/match_id", Rule: "required"})
	}
	round, given := protocol.Find(doc, "round_id", `"0`)
	if !given {
		n := 0 // in a match id such as R2M1; it is 1 in others
		if _, err := fmt.Sscanf(string(rawjson.Text(id)), "R%dM", &n); err != nil {
			n = 1
		}
		round.Value = strconv.AppendInt(nil, int64(max(n, 1)), 10)
	}
	r.Type, r.Assignment = protocol.TypeRoundAnnouncement, strings.ToUpper(name)
	doc = doc.Without("match_id").Set("round_id", round.Value).Set("message_type", rawjson.Quote(string(r.Type)))
	doc = doc.Set("matches", slices.Concat(jsontext.Value{'['}, match.Encode(), jsontext.Value{']'}))
	r.doc, r.Raw = doc, doc.Encode()
	r.Header.MessageType, r.Header.RoundID = r.Type, protocol.ReadHeader(doc).RoundID
	return nil
}

// assignedMatch returns the match in an assignment, whose players are texts or objects, or a list.
func assignedMatch(doc rawjson.Object) rawjson.Object {
	all := rawjson.Elements(doc.Get("players"))
	for i := range min(len(all), len(playerIDs)) {
		doc = append(doc, rawjson.Member{Name: protocol.NamesOf(playerIDs[i])[1], Value: all[i]})
	}
	match := protocol.CollectMatch(doc)
	for _, id := range playerIDs {
		player, _ := protocol.Find(doc, id, "{")
		at, given := protocol.FindInner(rawjson.Split(player.Value), "contact_endpoint", scalars)
		if given && match.Get(endpointOf(id)) == nil {
			match = append(match, rawjson.Member{Name: endpointOf(id), Value: at.Value})
		}
	}
	return match
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
	add := func(value jsontext.Value, names ...string) {
		for _, name := range names {
			if doc.Get(name) == nil {
				doc = append(doc, rawjson.Member{Name: name, Value: value})
			}
		}
	}
	for _, f := range match {
		add(f.Value, f.Name, strings.ToLower(f.Name))
	}
	add(doc.Get("round_id"), protocol.NamesOf("round_id")[1])
	var players []string
	for _, id := range playerIDs {
		at := match.Get(endpointOf(id))
		if at == nil {
			at = jsontext.Value("null")
		}
		add(match.Get(id), protocol.NamesOf(id)[1:]...)
		add(at, protocol.NamesOf(endpointOf(id))[1:]...)
		players = append(players, fmt.Sprintf(`{"player_id":%s,"id":%[1]s,"contact_endpoint":%s,"endpoint":%[2]s}`, match.Get(id), at))
	}
	add(jsontext.Value("["+strings.Join(players, ",")+"]"), "players")
	return doc
}
