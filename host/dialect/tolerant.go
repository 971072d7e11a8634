package dialect

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// In tolerant mode a member that breaks its rule counts as missing, and what the message
// is needed for is looked for under other names and in other spellings. Where that is
// enough, the message is taken, and its header says what was wrong with it.

// decodeTolerantly is [protocol.Decode] of a message that has broken its field rules
// with flaw. It returns flaw where what the message is needed for is not found.
func decodeTolerantly(t protocol.Type, doc rawjson.Object, flaw error, request *protocol.Header) (protocol.Message, error) {
	broken, is := errors.AsType[*protocol.Error](flaw)
	if !is || request != nil && (broken.Code == protocol.CodeVersionMismatch || otherZone(request.Timestamp)) {
		return nil, flaw // a request in another protocol or time means something else
	}
	rest, found := spelled(t, doc, prune(doc, broken.Violations))
	if !found {
		return nil, flaw
	}
	m, err := protocol.Decode(t, rest, protocol.Tolerant, request)
	if more, is := errors.AsType[*protocol.Error](err); is { // the first finding was about the whole
		m, err = protocol.Decode(t, prune(rest, more.Violations), protocol.Tolerant, request)
	}
	if err != nil {
		return nil, flaw
	}
	m.Head().Flaw = broken
	return m, nil
}

// aboutMatches are the fields of the messages about a match that programs of others
// name in their own way, and aboutResults those of a result that stands beside the
// header. Echoed are those that an answer repeats.
var (
	echoedFields = []string{"match_id", "round_id", "league_id"}
	aboutMatches = append(slices.Clone(echoedFields), "opponent_id", "role_in_match", "player_id", "auth_token", "conversation_id", "game_type")
	aboutResults = append(slices.Clone(aboutMatches), "drawn_number", "points_earned", "your_choice", "opponent_choice", "result")
)

// scalars are the kinds of values that are neither objects nor lists nor null.
const scalars = `"0tf`

// respell gives the fields of a message about a match the names of the protocol, where a tolerant
// agent is sent others. What it renames is echoed in the answer under both names.
func (r *Request) respell() {
	result := r.Type == protocol.TypeGameOver || r.Type == protocol.TypeMatchResultReport
	if r.mode == protocol.Strict || r.doc.Get("match_id").Kind() == '"' && r.doc.Get("round_id") != nil && !result {
		return
	}
	fields := aboutMatches
	switch r.Type {
	case protocol.TypeGameOver:
		fields = aboutResults
	case protocol.TypeMatchResultReport:
		if doc, found := reportIn(r.doc); found && rawjson.Split(r.doc.Get("result")).Get("details") == nil {
			r.doc, r.Raw = doc, doc.Encode()
		}
	case protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameError, protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse:
	default:
		return
	}
	doc := r.doc
	for _, field := range fields {
		m, found := protocol.Find(doc, field, scalars)
		number := field != "round_id" && strings.HasSuffix(field, "_id") && m.Value.Kind() == '0'
		if !found || m.Name == field && !number {
			continue
		}
		r.echo = append(r.echo, renamed{field, m})
		if number {
			m.Value = rawjson.Quote(string(m.Value))
		}
		doc = doc.Set(field, m.Value)
	}
	if r.Type == protocol.TypeGameOver {
		doc = gathered(doc)
	}
	if r.echo == nil && !result {
		return
	}
	r.doc, r.Raw, r.Header = doc, doc.Encode(), protocol.ReadHeader(doc)
}

// spread puts what a member such as payload or header holds beside the others.
func (r *Request) spread() {
	if r.mode == protocol.Strict {
		return
	}
	for _, m := range r.doc {
		if m.Value.Kind() != '{' || !protocol.HoldsMessage(m.Name) {
			continue
		}
		r.doc = r.doc.Without(m.Name)
		for _, inner := range rawjson.Split(m.Value) {
			if r.doc.Get(inner.Name) == nil {
				r.doc = append(r.doc, inner)
			}
		}
		r.Raw = r.doc.Encode()
	}
}

// gathered returns a GAME_OVER with the result in its place that stands beside the header, or in an
// object of another name. A result in words for its receiver alone stays as it is.
func gathered(doc rawjson.Object) rawjson.Object {
	from, rest := holder(doc, "game_result")
	if len(rest) < len(doc) {
		from, _ = holder(from, "game_result")
	}
	if from.Get("status").Kind() == '"' && from.Get("winner_player_id") != nil && from.Get("choices").Kind() == '{' {
		return doc
	}
	result := protocol.Collect(protocol.TypeGameOver, "game_result", from)
	if beside := len(rest) == len(doc); beside && result.Get("winner_player_id") == nil && (result.Get("choices") == nil || from.Get("result").Kind() == '"') {
		return doc
	}
	return rest.Set("game_result", result.Encode())
}

// holder returns the object in which a message has what belongs into a member, and the
// message without it: the member, under any name of it, or else the message itself.
func holder(doc rawjson.Object, member string) (from, rest rawjson.Object) {
	if m, is := protocol.Find(doc, member, "{"); is {
		if inner := rawjson.Split(m.Value); inner != nil {
			return inner, doc.Without(m.Name)
		}
	}
	return doc, doc
}

// renamed is a member of a request that the protocol names otherwise.
type renamed struct {
	field string // the protocol's name
	as    rawjson.Member
}

// wide reports whether the answer names its type in a second way and echoes every id: for
// a peer that has not read one in the usual form, or whose messages have no message_type.
func (r *Request) wide() bool {
	return r.mode == protocol.Tolerant && (r.Dialect.Answer.Both || r.Header.MessageType == "" && !r.Dialect.Request.structured())
}

// widened adds to an answer what the request calls otherwise and, if it is wide, its type
// under the other name of message_type and the ids of the request that the protocol does
// not have. An assignment is acknowledged under its own type.
func (r *Request) widened(raw jsontext.Value) jsontext.Value {
	asks := r.mode == protocol.Tolerant && r.Type == protocol.TypeChooseParityCall && bytes.IndexByte(r.Raw, '[') >= 0
	if r.echo == nil && r.assignment == "" && !asks && !r.wide() {
		return raw
	}
	doc := rawjson.Split(raw)
	if asks {
		doc = r.offered(doc)
	}
	for _, e := range r.echo {
		if slices.Contains(echoedFields, e.field) && doc.Get(e.field) != nil {
			doc = doc.Set(e.as.Name, e.as.Value)
		}
	}
	add := func(name string, v jsontext.Value) {
		if v != nil && doc.Get(name) == nil {
			doc = append(doc, rawjson.Member{Name: name, Value: v})
		}
	}
	if r.wide() {
		add(protocol.NamesOf("message_type")[1], doc.Get("message_type"))
		for _, m := range r.doc {
			words := protocol.WordsOf(m.Name)
			if kind := m.Value.Kind(); len(words) > 1 && words[len(words)-1] == "id" && !protocol.KnownField(m.Name) && (kind == '"' || kind == '0') {
				add(m.Name, m.Value)
			}
		}
	}
	if r.assignment != "" {
		doc = doc.Set("message_type", rawjson.Quote(r.assignment+"_ACK"))
	}
	return doc.Encode()
}

// offered spells a choice as the call does, where that lists what may be chosen.
func (r *Request) offered(doc rawjson.Object) rawjson.Object {
	for _, m := range append(slices.Clone(r.doc), rawjson.Split(r.doc.Get("context"))...) {
		if m.Value.Kind() != '[' {
			continue
		}
		for _, option := range rawjson.Elements(m.Value) {
			if choice := parityOf(option); choice != "" && choice == doc.Text("parity_choice") {
				return doc.Set("parity_choice", option).Set("choice", option)
			}
		}
	}
	return doc
}

// otherZone reports whether a time bears the offset of a zone other than UTC.
func otherZone(timestamp string) bool {
	at := strings.LastIndexAny(timestamp, "+-")
	return strings.Contains(timestamp, ":") && at > strings.IndexByte(timestamp, ':') && strings.Trim(timestamp[at+1:], "0:Z") != ""
}

// prune returns the message without the members that break a rule. Of a list the whole is left out.
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
	inner := rawjson.Split(doc.Get(path[0]))
	if len(path) == 1 || inner == nil {
		return doc.Without(path[0])
	}
	return doc.Set(path[0], pruneAt(inner, path[1:]).Encode())
}

// spelled returns the message with what it is needed for under the names of the
// protocol, and whether that was found.
func spelled(t protocol.Type, doc, rest rawjson.Object) (rawjson.Object, bool) {
	switch t {
	case protocol.TypeGameJoinAck:
		joins, said := protocol.Joins(doc)
		if !said && protocol.TypeOf(doc) == t { // it joins unless it says otherwise
			joins, said = true, true
		}
		return rest.Without("message_type").Set("accept", rawjson.Bool(joins)), said
	case protocol.TypeChooseParityResponse:
		choice := cmp.Or(parityIn(doc), protocol.ParityWord(protocol.Explanation(doc)))
		return rest.Without("message_type", "choice").Set("parity_choice", rawjson.Quote(choice)), choice != ""
	case protocol.TypeMatchResultReport:
		return reportIn(rest)
	case protocol.TypeLeagueRegisterRequest:
		return registrationIn(t, "player_meta", doc, rest)
	case protocol.TypeRefereeRegisterRequest:
		return registrationIn(t, "referee_meta", doc, rest)
	}
	if _, confirms := protocol.New(t).(*protocol.Ack); confirms {
		return rest.Without("message_type"), true // whatever it says, it has arrived
	}
	return rest, true
}

// parityIn returns the choice in an answer: under one of its names, or else the
// only parity that stands in the answer or in an object of it; "" without one.
func parityIn(doc rawjson.Object) string {
	if m, given := protocol.Find(doc, "parity_choice", scalars); given && string(m.Value) != `""` {
		return parityOf(m.Value)
	}
	found := ""
	for _, m := range doc {
		choice := parityOf(m.Value)
		if inner := rawjson.Split(m.Value); inner != nil {
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
	word := strings.ToLower(strings.TrimSpace(string(rawjson.Text(v))))
	if !protocol.Choice(word).Valid() {
		return ""
	}
	return word
}

// registrationIn returns a registration with what an agent says of itself in its
// place, under the names of the protocol; false without an endpoint. An agent
// without a name goes by the one that it signs with.
func registrationIn(t protocol.Type, place string, doc, rest rawjson.Object) (rawjson.Object, bool) {
	from, _ := holder(rest, place)
	meta := protocol.Collect(t, place, append(slices.Clone(from), rest...))
	if _, name, err := protocol.ParseSender(doc.Text("sender")); meta.Text("display_name") == "" && err == nil {
		meta = meta.Set("display_name", rawjson.Quote(name))
	}
	return rest.Set(place, meta.Encode()), meta.Text("contact_endpoint") != "" && meta.Text("display_name") != ""
}

// reportIn returns a report whose result stands in its places, wherever the referee has put it:
// beside the header, or under other names; false without a word about the winner.
func reportIn(doc rawjson.Object) (rawjson.Object, bool) {
	from, rest := holder(doc, "result")
	inside, _ := holder(from, "details")
	about := protocol.Collect(protocol.TypeMatchResultReport, "result.details", inside)
	settled := protocol.Collect(protocol.TypeMatchResultReport, "result", from).Set("details", about.Encode())
	winner := settled.Get("winner")
	if winner.Kind() == '"' && protocol.Means(protocol.Nobody, string(rawjson.Text(winner))) {
		settled = settled.Set("winner", jsontext.Value("null"))
	}
	return rest.Without("result").Set("result", settled.Encode()), winner != nil
}
