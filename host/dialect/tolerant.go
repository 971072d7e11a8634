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
	doc, found := spelled(t, doc)
	m, _ := protocol.Decode(t, doc, protocol.Tolerant, request) // without what breaks its rule
	if !found || m == nil {
		return nil, flaw
	}
	m.Head().Flaw = broken
	return m, nil
}

// echoedFields are those that an answer repeats.
var echoedFields = []string{"match_id", "round_id", "league_id"}

// scalars are the kinds of values that are neither objects nor lists nor null.
const scalars = `"0tf`

// respell gives the fields of a message about a match the names of the protocol, where a tolerant
// agent is sent others. What it renames is echoed in the answer under both names.
func (r *Request) respell() {
	if r.Mode == protocol.Strict || !protocol.Foreign(r.Type, r.doc) {
		return
	}
	doc, _ := protocol.Respell(r.Type, r.doc)
	r.said, r.doc, r.Raw, r.Header = r.doc, doc, doc.Encode(), protocol.ReadHeader(doc)
}

// spread returns a document with what its objects of some names hold beside the others, and whether
// there are any. It goes through them once: as many as fit a body may be there.
func spread(doc rawjson.Object, holds func(name string) bool) (rawjson.Object, bool) {
	is := func(m rawjson.Member) bool { return m.Value.Kind() == '{' && holds(m.Name) }
	if !slices.ContainsFunc(doc, is) {
		return doc, false
	}
	out, taken := slices.DeleteFunc(slices.Clone(doc), is), make(map[string]bool)
	for _, m := range out {
		taken[m.Name] = true
	}
	for _, m := range doc {
		if !is(m) {
			continue
		}
		for _, inner := range rawjson.Split(m.Value) {
			if !taken[inner.Name] {
				out, taken[inner.Name] = append(out, inner), true
			}
		}
	}
	return out, true
}

// widened adds to an answer what the request calls otherwise and, for a peer that has not read one in
// the usual form or whose messages have no message_type, its type under the other name of that and the
// ids of the request that the protocol does not have. An assignment is acknowledged under its own type.
func (r *Request) widened(raw jsontext.Value) jsontext.Value {
	tolerant := r.Mode == protocol.Tolerant
	wide := tolerant && (r.Dialect.Answer.Both || r.Header.MessageType == "" && !r.Dialect.Request.structured())
	asks := tolerant && r.Type == protocol.TypeChooseParityCall && bytes.IndexByte(r.Raw, '[') >= 0
	if r.said == nil && r.Assignment == "" && !asks && !wide {
		return raw
	}
	doc := rawjson.Split(raw)
	if asks {
		doc = r.offered(doc)
	}
	for _, field := range echoedFields {
		if m, said := protocol.Find(r.said, field, scalars); said && doc.Get(field) != nil {
			doc = doc.Set(m.Name, m.Value)
		}
	}
	if other := protocol.NamesOf("message_type")[1]; wide && doc.Get("message_type") != nil && doc.Get(other) == nil {
		doc = append(doc, rawjson.Member{Name: other, Value: doc.Get("message_type")})
	}
	answer := doc // short, whatever the request holds
	for _, m := range r.doc {
		words, kind := protocol.WordsOf(m.Name), m.Value.Kind()
		id := len(words) > 1 && words[len(words)-1] == "id" && !protocol.KnownField(m.Name) && (kind == '"' || kind == '0')
		if wide && id && answer.Get(m.Name) == nil {
			doc = append(doc, m)
		}
	}
	if r.Assignment != "" {
		doc = doc.Set("message_type", rawjson.Quote(r.Assignment+"_ACK"))
	}
	return doc.Encode()
}

// offered spells a choice as the call does, where that lists what may be chosen.
func (r *Request) offered(doc rawjson.Object) rawjson.Object {
	for _, m := range append(slices.Clone(r.doc), rawjson.Split(r.doc.Get("context"))...) {
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
	_, clock, is := strings.Cut(timestamp, ":")
	at := strings.LastIndexAny(clock, "+-")
	return is && at >= 0 && strings.Trim(clock[at+1:], "0:Z") != ""
}

// spelled returns the message with what it is needed for under the names of the
// protocol, and whether that was found.
func spelled(t protocol.Type, doc rawjson.Object) (rawjson.Object, bool) {
	switch t {
	case protocol.TypeGameJoinAck:
		joins, said := protocol.Joins(doc)
		if !said && protocol.TypeOf(doc) == t { // it joins unless it says otherwise
			joins, said = true, true
		}
		return slices.Clone(doc).Set("accept", rawjson.Bool(joins)), said
	case protocol.TypeChooseParityResponse:
		choice := cmp.Or(parityIn(doc), protocol.ParityWord(protocol.Explanation(doc)))
		return doc.Without("choice").Set("parity_choice", rawjson.Quote(choice)), choice != ""
	}
	return protocol.Respell(t, doc)
}

// parityIn returns the choice in an answer: under one of its names, or else the
// only parity that stands in the answer or in an object of it; "" without one.
func parityIn(doc rawjson.Object) string {
	if m, given := protocol.Find(doc, "parity_choice", scalars); given && string(m.Value) != `""` {
		return parityOf(m.Value)
	}
	found := ""
	for _, m := range doc {
		choice := cmp.Or(parityOf(m.Value), parityIn(rawjson.Split(m.Value)))
		if choice != "" && found != "" && choice != found {
			return ""
		}
		found = cmp.Or(choice, found)
	}
	return found
}

// parityOf reads a parity in any case, with blanks around it.
func parityOf(v jsontext.Value) string {
	word := strings.ToLower(strings.TrimSpace(string(rawjson.Text(v))))
	if !protocol.Choice(word).Valid() {
		return ""
	}
	return word
}
