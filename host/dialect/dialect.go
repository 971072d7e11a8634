// Package dialect is how peers wrap and name the messages of league.v2: the
// dialects of the protocol itself and those of programs that were met in real
// leagues. It recognizes the dialect of a request, answers in it, and reads an
// answer in whatever form it comes. It does no I/O; everything exported is safe
// for concurrent use unless its comment says otherwise.
//
// # Reading a request
//
// A [Codec] takes what a JSON-RPC server has (method and params) or a bare
// body, in two steps, so that a receiver can authenticate the sender before it
// validates the message:
//
//	req, err := codec.Open(method, params) // wrapping, message type, header
//	...check req.Header.AuthToken and req.Header.Sender...
//	msg, err := req.Decode()               // every field rule, then the Go type
//	reply, err := req.Reply(answer)        // in the wrapping it came in
//	reply := req.Refuse(header, err)       // likewise for a refusal
//
// # Sending one
//
//	call, err := dialect.Contracts.Call(msg)     // method and params
//	msg, err := codec.ReadAnswer(sent, answer)   // wherever the answer sits
package dialect

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Dialect describes how one kind of peer wraps messages. It is data: the
// codec reads and writes every dialect with the same code, so a new kind of
// peer needs a description and no code. A Dialect must not be changed once it
// is in use.
type Dialect struct {
	// Name identifies the dialect in settings and logs.
	Name string
	// Title says in one line whom it serves.
	Title string

	// Request and Answer say where the message sits in either direction.
	Request, Answer Place

	// Naming says how requests are named, Methods names single ones otherwise.
	Naming  Naming
	Methods map[protocol.Type]string

	// Edits are made to every message that is written, in this order.
	Edits []Edit
	// Omit lists top-level members that are not written, in requests only: an
	// answer with more than the peer reads does no harm.
	Omit []string

	// Refusal says how a refusal is told.
	Refusal RefusalStyle
	// Rejects says that a registration is turned away with an answer of status
	// REJECTED where other dialects get an error.
	Rejects bool

	// Marks tell the dialect apart from others that wrap and name alike. Where
	// all of them are found, the dialect is preferred to those without marks.
	Marks []Mark
	// HandOut is the name under which a referee is given its matches one by
	// one; empty where it reads them from ROUND_ANNOUNCEMENT.
	Assignment string

	// Async lists answers that the peer does not give when it is called but
	// posts as requests of their own; the call itself gets an acknowledgement.
	Async []protocol.Type
	// NumericIDs says that the peer takes only numbers as JSON-RPC ids.
	NumericIDs bool
}

// A Place says where in params, in a result or in a body a message sits. The
// zero Place is the flat one: the message is the params, or the result.
type Place struct {
	// Method is the one method that all requests share; empty where each has
	// its own.
	Method string
	// Name is the member that names the request or the tool, beside Message.
	Name string
	// Message is the member that holds the message, or with Header the rest.
	Message string
	// Header is the member that holds the header fields apart.
	Header string
	// Content says that an answer is an MCP tool result: the message also
	// stands as text in content, and isError is set.
	Content bool
	// Flat says that the message's members also stand at the top level.
	Flat bool
	// Text says that the message is a string that holds JSON.
	Text bool
	// Request says that the answer is itself a request: a method, the type in
	// lower case, and the message as params.
	Request bool
	// Both says that the answer is a result, and a request beside it: for peers
	// of which it is not known which of the two they read.
	Both bool
	// Bare says that there is no JSON-RPC around the message.
	Bare bool
}

// A Mark is something in a message that betrays who wrote it.
type Mark struct {
	// Path leads to the member, through objects from the top of the message.
	Path []string
	// Value is the text that the member must be.
	Value string
	// Absent says that there must be no such member instead.
	Absent bool
}

// Naming is a way to derive a request's method from its type.
type Naming uint8

const (
	ByBook      Naming = iota // the protocol's own names: handle_game_invitation
	ByType                    // the type: GAME_INVITATION
	ByLowerType               // the type in lower case: game_invitation
)

// RefusalStyle is a way to tell a peer that its message is refused.
type RefusalStyle uint8

const (
	// RefuseByError answers with a JSON-RPC error whose data is the refusal.
	RefuseByError RefusalStyle = iota
	// RefuseByToolError answers with a tool result that has isError set. What
	// is wrong with the call rather than the message is a JSON-RPC error.
	RefuseByToolError
	// RefuseByMessage answers with the refusal where an answer would stand.
	RefuseByMessage
)

// An Edit changes one member of a message before it is written: it copies
// another member there, or sets a constant.
type Edit struct {
	// Types are the message types concerned; nil means all.
	Types []protocol.Type
	// Path leads to the member, through objects from the top of the message.
	// Objects on the way that are missing are not made.
	Path []string
	// From is the member, beside the one at Path, that is copied; empty to set
	// Value. Nothing happens where there is no such member.
	From string
	// Value is the constant, as JSON.
	Value jsontext.Value
	// When limits the edit.
	When Condition
	// Was, if set, limits the edit to members of this value, as JSON.
	Was jsontext.Value
}

// Condition says in which state of the member an Edit is made.
type Condition uint8

const (
	Always    Condition = iota
	IfMissing           // the member is not there
	IfNull              // the member is an explicit null
)

// MethodOf returns the method under which a request of the type is sent.
func (d *Dialect) MethodOf(t protocol.Type) string {
	if d.Request.Method != "" {
		return d.Request.Method
	}
	return d.nameOf(t)
}

// nameOf returns the name of a request: its method or, where all requests
// share one, what stands in the place for it.
func (d *Dialect) nameOf(t protocol.Type) string {
	if name, ok := d.Methods[t]; ok {
		return name
	}
	about, _ := protocol.Describe(t)
	switch {
	case d.Naming == ByType || about.Method == "":
		return string(t)
	case d.Naming == ByLowerType:
		return strings.ToLower(string(t))
	default:
		return about.Method
	}
}

// MethodsOf returns all names under which a request of the type may be known,
// the dialect's own first: what to try, in order, when the peer answers that
// it does not know a method.
func (d *Dialect) MethodsOf(t protocol.Type) []string {
	names := []string{d.nameOf(t)}
	about, _ := protocol.Describe(t)
	for _, name := range about.Names {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// IsAsync reports whether the peer posts answers of this type as requests of
// their own.
func (d *Dialect) IsAsync(t protocol.Type) bool { return slices.Contains(d.Async, t) }

// edited applies the edits to a message, and the omissions to one that is a
// request. It returns the message as it is where the dialect has none.
func (d *Dialect) edited(t protocol.Type, raw jsontext.Value, request bool) (jsontext.Value, error) {
	if len(d.Edits) == 0 && (len(d.Omit) == 0 || !request) {
		return raw, nil
	}
	doc, err := rawjson.Split(raw)
	if err != nil {
		return nil, err
	}
	for _, e := range d.Edits {
		if e.Types != nil && !slices.Contains(e.Types, t) {
			continue
		}
		if doc, err = e.apply(doc, e.Path); err != nil {
			return nil, err
		}
	}
	if request {
		doc = doc.Without(d.Omit...)
	}
	return doc.Encode(), nil
}

// apply makes the edit in the object that the rest of the path leads from.
func (e Edit) apply(doc rawjson.Object, path []string) (rawjson.Object, error) {
	if len(path) == 0 {
		return doc, nil
	}
	value := doc.Get(path[0])
	if len(path) > 1 {
		if value.Kind() != '{' {
			return doc, nil
		}
		inner, err := rawjson.Split(value)
		if err != nil {
			return nil, err
		}
		if inner, err = e.apply(inner, path[1:]); err != nil {
			return nil, err
		}
		return doc.Set(path[0], inner.Encode()), nil
	}
	if e.When == IfMissing && value != nil || e.When == IfNull && value.Kind() != 'n' || e.Was != nil && !rawjson.Equal(e.Was, value) {
		return doc, nil
	}
	replacement := e.Value
	if e.From != "" {
		replacement = doc.Get(e.From)
	}
	if replacement == nil {
		return doc, nil
	}
	return doc.Set(path[0], replacement), nil
}
