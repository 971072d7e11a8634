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
