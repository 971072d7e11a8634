package wire

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Some programs validate what they get against models that forbid members they do
// not know, and name those in their refusal. Then the message goes without them.

// mostNarrowings limits how often a message is put again with fewer members.
const mostNarrowings = 6

// mostDropped limits how many members a ladder leaves out.
const mostDropped = 16

// narrower returns the way without the members of the message that the refusal
// forbids; false where it forbids none.
func (w Way) narrower(m protocol.Message, err error) (Way, bool) {
	text := Words(err)
	if !protocol.Says(protocol.Forbids, text) || w.Plain() {
		return w, false
	}
	raw, failed := protocol.Encode(m)
	if failed != nil {
		return w, false
	}
	drop := slices.Clone(w.Drop)
	for finding := range strings.SplitSeq(text, ";") {
		drop = append(drop, protocol.Forbidden(finding, namesIn(raw, nil))...)
	}
	slices.Sort(drop)
	drop = slices.Compact(drop)
	if len(drop) == len(w.Drop) {
		return w, false
	}
	w.Drop = drop
	w.Add = slices.DeleteFunc(slices.Clone(w.Add), func(name string) bool { return slices.Contains(drop, name) })
	return w, true
}

// smallest returns the ways of a message that needs no parameters at all: with the
// id of the league only, and with nothing.
func smallest(w Way) []Way {
	empty := Way{URL: w.URL, Dialect: w.Dialect, Name: w.Name, Single: w.Single, Drop: everything}
	named := empty
	named.Add = []string{"league_id"}
	return []Way{named, empty}
}

// needsNothing reports whether a type of message says all by its name.
func needsNothing(t protocol.Type) bool { return t == protocol.TypeStartLeague }

// namesIn appends the names of the members of an object and of the objects in it.
func namesIn(raw jsontext.Value, names []string) []string {
	doc, err := rawjson.Split(raw)
	if err != nil {
		return names
	}
	for _, m := range doc {
		if names = append(names, m.Name); m.Value.Kind() == '{' {
			names = namesIn(m.Value, names)
		}
	}
	return names
}

// everything are the members of a way that sends none.
var everything = []string{"*"}

// dropped returns an object without some members, at any depth.
func dropped(raw jsontext.Value, names []string) jsontext.Value {
	switch {
	case len(names) == 0:
		return raw
	case slices.Equal(names, everything):
		return jsontext.Value("{}")
	}
	doc, err := rawjson.Split(raw)
	if err != nil {
		return raw
	}
	doc = doc.Without(names...)
	for i, m := range doc {
		if m.Value.Kind() == '{' {
			doc[i].Value = dropped(m.Value, names)
		}
	}
	return doc.Encode()
}
