package schema

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Form is a set of rules for the envelopes of requests.
type Form int

// The forms of envelopes.
const (
	// LeagueForm follows the league: an id is a string or a number, and params
	// may be missing.
	LeagueForm Form = iota
	// StrictForm requires a string as id, a method, and an object as params.
	StrictForm
	// DeterministicForm is StrictForm with UUIDs as ids.
	DeterministicForm
)

// file returns the name of the form's schema.
func (f Form) file() string {
	return [...]string{"envelope_league.json", "envelope.json", "envelope_deterministic.json"}[f]
}

// An Envelope is the schema of a form of envelopes, ready for use. It is safe
// for concurrent use.
type Envelope struct {
	// Schema is the JSON Schema, draft 2020-12.
	Schema jsontext.Value
	// Fingerprint is the SHA-256, in lower-case hexadecimal, of its canonical
	// JSON (RFC 8785).
	Fingerprint string

	schema *Validator
}

// LoadEnvelope returns the schema of a form of envelopes. It is compiled once.
func (r *Registry) LoadEnvelope(f Form) (*Envelope, error) {
	entry := &r.envelopes[f]
	entry.once.Do(func() {
		if entry.envelope, entry.err = compileEnvelope(f.file()); entry.err != nil {
			entry.err = fmt.Errorf("schema: %s: %w", f.file(), entry.err)
		}
	})
	return entry.envelope, entry.err
}

// compiledEnvelope is the result of compiling, once.
type compiledEnvelope struct {
	once     sync.Once
	envelope *Envelope
	err      error
}

func compileEnvelope(name string) (*Envelope, error) {
	raw, err := schemas.ReadFile("schemas/" + name)
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(jsontext.Value(raw).Clone())
	if err != nil {
		return nil, err
	}
	s, err := compile(raw)
	return &Envelope{Schema: raw, Fingerprint: digest, schema: s}, err
}

// Check validates a request against the schema and returns what it breaks,
// sorted; nil if it keeps it.
func (e *Envelope) Check(request jsontext.Value) []protocol.Violation {
	return check(e.schema, request, "", MaxValues)
}

// CheckShallowly is Check without looking into params, so that refusing a request
// is cheap however large it is.
func (e *Envelope) CheckShallowly(request jsontext.Value) []protocol.Violation {
	return checkValue(e.schema, shallow(request), "")
}

// shallow returns the members of an envelope for the validator: whether they
// are there and of which kind.
func shallow(raw jsontext.Value) any {
	members, err := rawjson.Parse(raw)
	if err != nil {
		return []any{} // no object
	}
	envelope := make(map[string]any)
	for _, name := range []string{"jsonrpc", "id", "method", "params"} {
		value := members.Get(name)
		switch value.Kind() {
		case 0:
		case '{':
			envelope[name] = map[string]any{}
		case '[':
			envelope[name] = []any{}
		case '"':
			envelope[name] = members.Text(name)
		case '0':
			envelope[name] = 0.0 // no envelope asks which number
		case 'n':
			envelope[name] = nil
		default:
			envelope[name] = true
		}
	}
	return envelope
}
