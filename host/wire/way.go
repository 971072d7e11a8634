package wire

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// A Way is one way to put a message to a peer.
type Way struct {
	URL     string           // where it is posted
	Dialect *dialect.Dialect // how it is wrapped, and under which kind of id
	Name    string           // method or tool; empty for the dialect's own
	// Type is another message_type than the message's own; empty for that.
	Type protocol.Type
	// Input is the schema of the arguments, as the peer publishes it; nil for the
	// message itself.
	Input *discovery.Schema
	// Query is the schema of the parameters of the URL; nil for none.
	Query *discovery.Schema
	// Spread repeats what an agent says of itself beside the object that holds it.
	Spread bool
	// Drop are the members that the peer forbids, at any depth, or everything.
	Drop []string
	// Add are the members that the peer misses, by the names that it has for them.
	Add []string
	// Single is a path for messages of this type only.
	Single bool
}

// String describes the way in one line.
func (w Way) String() string {
	path := w.URL
	if u, err := url.Parse(w.URL); err == nil {
		path = cmp.Or(u.Path, "/")
	}
	text := "POST " + path + " " + w.Dialect.Name
	if w.Name != "" {
		text += " " + w.Name
	}
	if w.Type != "" {
		text += " as " + string(w.Type)
	}
	if w.Spread {
		text += " (flat)"
	}
	added := strings.Join(w.Add, ", ")
	switch nothing := w.Plain(); {
	case nothing && added == "":
		return text + " without parameters"
	case nothing:
		return text + " with " + added + " only"
	case w.Drop != nil:
		text += " without " + strings.Join(w.Drop, ", ")
	}
	if added != "" {
		text += " with " + added
	}
	return text
}

// Plain reports whether the way sends nothing of the message but what Add names.
func (w Way) Plain() bool { return slices.Equal(w.Drop, everything) }

// Call wraps a message, and returns where it goes.
func (w Way) Call(m protocol.Message) (dialect.Call, string, error) {
	if w.Input != nil || w.Query != nil || w.Spread || w.Drop != nil || w.Add != nil || w.Type != "" {
		return w.changed(m)
	}
	var call dialect.Call
	var err error
	if w.Name == "" {
		call, err = w.Dialect.Call(m)
	} else {
		call, err = w.Dialect.CallAs(w.Name, m)
	}
	return call, w.URL, err
}

// changed is Call where the message does not go as it is.
func (w Way) changed(m protocol.Message) (dialect.Call, string, error) {
	whole, err := protocol.Encode(m)
	if err != nil {
		return dialect.Call{}, "", err
	}
	target, err := w.target(whole)
	if err != nil {
		return dialect.Call{}, "", err
	}
	raw, err := w.fields(m, whole)
	if err != nil {
		return dialect.Call{}, "", err
	}
	call, err := w.Dialect.Wrap(cmp.Or(w.Name, w.Dialect.MethodsOf(m.Head().MessageType)[0]), raw)
	return call, target, err
}

// fields returns what the way sends of a message.
func (w Way) fields(m protocol.Message, whole jsontext.Value) (jsontext.Value, error) {
	if w.Input != nil {
		raw, err := w.Input.Fill(whole)
		if err != nil {
			return nil, err
		}
		return discovery.Add(dropped(raw, w.Drop), whole, w.Add), nil
	}
	raw, err := w.Dialect.Body(m)
	if err != nil {
		return nil, err
	}
	if w.Spread {
		raw = discovery.Spread(raw)
	}
	if w.Type != "" {
		doc, err := rawjson.Split(raw)
		if err != nil {
			return nil, err
		}
		raw = doc.Set("message_type", rawjson.Quote(string(w.Type))).Encode()
	}
	return discovery.Add(dropped(raw, w.Drop), whole, w.Add), nil
}

// target returns the URL, with its parameters if it has any.
func (w Way) target(raw jsontext.Value) (string, error) {
	if w.Query == nil {
		return w.URL, nil
	}
	filled, err := w.Query.Fill(raw)
	if err != nil {
		return "", err
	}
	doc, err := rawjson.Split(filled)
	if err != nil {
		return "", err
	}
	values := make(url.Values)
	for _, m := range doc {
		text := string(m.Value)
		if m.Value.Kind() == '"' {
			text = string(rawjson.Unquote(m.Value))
		}
		values.Set(m.Name, text)
	}
	return w.URL + "?" + values.Encode(), nil
}
