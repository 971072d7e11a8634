package wire

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// A Form is one form in which a peer may take a message.
type Form struct {
	URL     string           // where it is posted
	Dialect *dialect.Dialect // how it is wrapped, and under which kind of id
	Name    string           // method or tool; empty for the dialect's own
	Type    protocol.Type    // another message_type than the message's own; empty for that
	// Input and Query are the schemas of the arguments and of the parameters of the
	// URL, as the peer publishes them; nil for the message itself and for none.
	Input, Query *discovery.Schema
	Spread       bool     // what an agent says of itself is repeated beside the object that holds it
	Drop         []string // the members that the peer forbids, at any depth, or everything
	Add          []string // the members that the peer misses, by the names that it has for them
	Single       bool     // the path is for messages of this type only
}

// String describes the form in one line.
func (f Form) String() string {
	path := f.URL
	if u, err := url.Parse(f.URL); err == nil {
		path = cmp.Or(u.Path, "/")
	}
	text := "POST " + path + " " + f.Dialect.Name
	if f.Name != "" {
		text += " " + f.Name
	}
	if f.Type != "" {
		text += " as " + string(f.Type)
	}
	if f.Spread {
		text += " (flat)"
	}
	added := strings.Join(f.Add, ", ")
	switch nothing := f.Plain(); {
	case nothing && added == "":
		return text + " without parameters"
	case nothing:
		return text + " with " + added + " only"
	case f.Drop != nil:
		text += " without " + strings.Join(f.Drop, ", ")
	}
	if added != "" {
		text += " with " + added
	}
	return text
}

// Plain reports whether the form sends nothing of the message but what Add names.
func (f Form) Plain() bool { return slices.Equal(f.Drop, everything) }

// everything are the members of a form that sends none.
var everything = []string{"*"}

// changes reports whether the form changes a message before it is wrapped.
func (f Form) changes() bool {
	return f.Input != nil || f.Query != nil || f.Spread || f.Drop != nil || f.Add != nil || f.Type != ""
}

// Call wraps a message, and returns where it goes.
func (f Form) Call(m protocol.Message) (call jsonrpc.Message, target string, err error) {
	if !f.changes() {
		call, err = f.Dialect.Call(m, f.Name)
		return call, f.URL, err
	}
	whole, sent, err := f.sends(m)
	if err != nil {
		return call, "", err
	}
	return f.Dialect.Wrap(cmp.Or(f.Name, f.Dialect.MethodsOf(m.Head().MessageType)[0]), sent.Encode()), f.target(whole), nil
}

// sends returns a message as it is, and what the form sends of it.
func (f Form) sends(m protocol.Message) (whole, sent rawjson.Object, err error) {
	raw, err := protocol.Encode(m)
	if err != nil {
		return nil, nil, err
	}
	whole = rawjson.Split(raw)
	if f.Input != nil {
		sent = f.Input.Fill(whole)
	} else if raw, err = f.Dialect.Body(m); err == nil {
		if sent = rawjson.Split(raw); f.Spread {
			sent = discovery.Spread(sent)
		}
		if f.Type != "" {
			sent = sent.Set("message_type", rawjson.Quote(string(f.Type)))
		}
	}
	return whole, discovery.Add(dropped(sent, f.Drop), whole, f.Add), err
}

func (f Form) target(whole rawjson.Object) string {
	if f.Query == nil {
		return f.URL
	}
	values := make(url.Values)
	for _, m := range f.Query.Fill(whole) {
		text := string(m.Value)
		if m.Value.Kind() == '"' {
			text = string(rawjson.Text(m.Value))
		}
		values.Set(m.Name, text)
	}
	return f.URL + "?" + values.Encode()
}

// as returns the form under another type of message. A registration repeats beside the
// header what the agent says of itself, for programs that look for it there.
func (f Form) as(t, near protocol.Type) Form {
	f.Spread = registers(t)
	switch f.Type = near; cmp.Or(f.Name, f.Dialect.MethodsOf(t)[0]) {
	case string(t):
		f.Name = string(near)
	case strings.ToLower(string(t)):
		f.Name = strings.ToLower(string(near))
	}
	return f
}

func (f Form) withOtherID() Form {
	if f.Dialect.NumericIDs {
		f.Dialect = f.Dialect.Without(dialect.TraitNumericIDs)
	} else {
		f.Dialect = f.Dialect.With(dialect.TraitNumericIDs)
	}
	return f
}

// smallest returns the forms of a message that needs no parameters at all: with the
// id of the league only, and with nothing.
func (f Form) smallest() []Form {
	empty := Form{URL: f.URL, Dialect: f.Dialect, Name: f.Name, Single: f.Single, Drop: everything}
	named := empty
	named.Add = []string{"league_id"}
	return []Form{named, empty}
}

// What a form drops and adds at most, in members.
const (
	mostDropped = 16
	mostAdded   = 6
)

// narrower returns the form without the members of the message that a refusal forbids, as programs
// do that validate against models of their own; false where it forbids none.
func (f Form) narrower(m protocol.Message, err error) (Form, bool) {
	text := Words(err)
	if !protocol.Says(protocol.Forbids, text) || f.Plain() {
		return f, false
	}
	whole, sent, failed := f.sends(m)
	if failed != nil {
		return f, false
	}
	drop := slices.Clone(f.Drop)
	for finding := range strings.SplitSeq(text, ";") {
		drop = append(drop, protocol.Forbidden(finding, namesIn(sent, namesIn(whole, nil)))...)
	}
	slices.Sort(drop)
	drop = slices.Compact(drop)
	if len(drop) == len(f.Drop) || len(drop) > mostDropped {
		return f, false
	}
	f.Drop = drop
	f.Add = slices.DeleteFunc(slices.Clone(f.Add), func(name string) bool { return slices.Contains(drop, name) })
	return f, true
}

// wider returns the form with the members that a refusal misses and the message has
// something for; false where that changes nothing.
func (f Form) wider(m protocol.Message, err error) (Form, bool) {
	all := missing(Words(err))
	if len(all) == 0 {
		return f, false
	}
	_, before, failed := f.sends(m)
	if failed != nil {
		return f, false
	}
	f.Add = slices.Clone(f.Add)
	for _, name := range all {
		if !slices.Contains(f.Add, name) {
			f.Add = append(f.Add, name)
		}
	}
	_, after, failed := f.sends(m)
	return f, failed == nil && len(f.Add) <= mostAdded && !rawjson.Equal(before.Encode(), after.Encode())
}

var (
	// misses are the phrases by which functions and validators name what they miss:
	// "missing 2 required positional arguments: 'a' and 'b'", "missing fields: a, b".
	misses = pattern(`(?i)missing (?:\d+ )?(?:required |mandatory )?(?:[a-z-]+ )?(?:arguments?|fields?|parameters?|params?|keys?|property|properties)\b[:\s]*(.*)`)
	// requires are those that name it first: "body.params.league: Field required".
	requires = pattern(`(?i)['"]?([a-z_][\w.]*)['"]?:?\s+(?:field required|field is required|is required|is a required (?:property|field))`)
	// absent is the text of a failed look-up in a dictionary, which is its key.
	absent = pattern(`^(?:KeyError\W*)?'([A-Za-z_]\w*)'$`)
	names  = pattern(`[A-Za-z_]\w*`)
	quoted = pattern(`['"\x60]([A-Za-z_]\w*)['"\x60]`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func missing(text string) []string {
	text = strings.TrimSpace(text)
	if found := absent().FindStringSubmatch(text); found != nil {
		return found[1:]
	}
	var all []string
	for finding := range strings.SplitSeq(text, ";") {
		for _, found := range requires().FindAllStringSubmatch(finding, mostAdded) {
			all = append(all, found[1][strings.LastIndexByte(found[1], '.')+1:])
		}
		found := misses().FindStringSubmatch(finding)
		if found == nil {
			continue
		}
		in := quoted().FindAllStringSubmatch(found[1], mostAdded)
		for _, name := range in {
			all = append(all, name[1])
		}
		if in == nil {
			all = append(all, names().FindAllString(found[1], mostAdded)...)
		}
	}
	return all
}

// namesIn appends the names of the members of an object and of the objects in it.
func namesIn(doc rawjson.Object, names []string) []string {
	for _, m := range doc {
		names = namesIn(rawjson.Split(m.Value), append(names, m.Name))
	}
	return names
}

// dropped returns an object without some members, at any depth.
func dropped(doc rawjson.Object, names []string) rawjson.Object {
	if slices.Equal(names, everything) {
		return nil
	}
	doc = doc.Without(names...)
	for i, m := range doc {
		if inner := rawjson.Split(m.Value); inner != nil && len(names) > 0 {
			doc[i].Value = dropped(inner, names).Encode()
		}
	}
	return doc
}
