package validation

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// envelope is a set of rules for envelopes. There is a schema of each, and a
// quick way to hold a request to it; a test holds the two to each other.
type envelope struct {
	schema string
	// What is asked beyond what host/jsonrpc asks of every request.
	strict, uuid bool
}

var (
	envelopeLeague        = envelope{schema: "envelope_league.json"}
	envelopeStrict        = envelope{schema: "envelope.json", strict: true}
	envelopeDeterministic = envelope{schema: "envelope_deterministic.json", strict: true, uuid: true}
)

// An Envelope is the schema of a strict envelope, ready for use. It is safe for
// concurrent use.
type Envelope struct {
	// Schema is the JSON Schema, draft 2020-12.
	Schema jsontext.Value
	// Fingerprint is the SHA-256, in lower-case hexadecimal, of its canonical
	// JSON (RFC 8785).
	Fingerprint string

	schema *jsonschema.Schema
}

// LoadEnvelope returns the schema of envelopes as strict validation asks for
// them; with deterministic ids, they are UUIDs. It is compiled once.
func (r *Registry) LoadEnvelope(deterministic bool) (*Envelope, error) {
	e := envelopeStrict
	if deterministic {
		e = envelopeDeterministic
	}
	return r.cache.envelope(e.schema)
}

// Check holds a request to the schema and returns what it breaks, sorted; nil
// if it keeps it.
func (e *Envelope) Check(request jsontext.Value) []protocol.Violation {
	return check(e.schema, request, "", maxValues)
}

// keeps reports whether a request that host/jsonrpc has read keeps the rules.
// It must agree with the schema.
func (e envelope) keeps(req *jsonrpc.Request) bool {
	if !e.strict {
		// What the league asks besides is the handler's to judge.
		return true
	}
	switch {
	case req.Kind == jsonrpc.KindObject:
		return false // there is no "jsonrpc"
	case req.ID.Kind() != '"', req.Method == "", req.Params.Kind() != '{':
		return false
	}
	return !e.uuid || isUUID(req.ID)
}

// isUUID reports whether a JSON string is a UUID of any version.
func isUUID(id jsontext.Value) bool {
	if bytes.IndexByte(id, '\\') >= 0 {
		quoted, err := jsontext.AppendUnquote([]byte{'"'}, id)
		if err != nil {
			return false
		}
		id = append(quoted, '"')
	}
	if len(id) != len(`"00000000-0000-0000-0000-000000000000"`) {
		return false
	}
	for i, c := range id[1 : len(id)-1] {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// checkEnvelope holds a request to the rules of the pipeline; nil if it keeps
// them.
func (p *Pipeline) checkEnvelope(req *jsonrpc.Request) *Refusal {
	if p.envelope.keeps(req) {
		return nil
	}
	return p.badEnvelope(p.envelope, req.Raw, protocol.Violation{Path: "", Rule: "type"})
}

// badEnvelope says what is wrong with an envelope, by its schema. Where the
// schema finds nothing it is the other violation.
func (p *Pipeline) badEnvelope(e envelope, raw jsontext.Value, other protocol.Violation) *Refusal {
	s, err := p.cfg.Registry.cache.envelope(e.schema)
	if err != nil {
		return internal(err)
	}
	found := checkValue(s.schema, shallow(raw), "")
	if found == nil {
		found = []protocol.Violation{other}
	}
	return refuse(protocol.CanonicalInvalidEnvelope, found...)
}

// shallow returns what matters of an envelope, for the validator: whether its
// members are there and of which kind. However large a request is, refusing it
// is cheap.
func shallow(raw jsontext.Value) any {
	members, err := membersOf(raw)
	if err != nil {
		return []any{} // no object
	}
	envelope := make(map[string]any)
	for _, name := range []string{"jsonrpc", "id", "method", "params"} {
		value := members[name]
		switch value.Kind() {
		case 0:
		case '{':
			envelope[name] = map[string]any{}
		case '[':
			envelope[name] = []any{}
		case '"':
			envelope[name] = text(value)
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

// envelope returns the schema of envelopes in a file.
func (c *cache) envelope(name string) (*Envelope, error) {
	found, _ := c.envelopes.LoadOrStore(name, new(compiledEnvelope))
	entry := found.(*compiledEnvelope)
	entry.once.Do(func() {
		if entry.envelope, entry.err = compileEnvelope(name); entry.err != nil {
			entry.err = fmt.Errorf("validation: %s: %w", name, entry.err)
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
	s, err := compile(name, raw)
	return &Envelope{Schema: raw, Fingerprint: digest, schema: s}, err
}

// unanswered returns the refusal of a request that its handler has not
// answered as a handler must, which a server would turn into a refusal of its
// own.
func unanswered(req *jsonrpc.Request, res jsonrpc.Response) *Refusal {
	if res.Status != 0 && (res.Status < http.StatusOK || res.Status > 599) {
		return internal(errors.New("the handler gave an invalid HTTP status"))
	}
	if req.Kind == jsonrpc.KindCall && res.Body == nil && res.Error == nil && res.Result == nil {
		return internal(errors.New("the handler gave no answer"))
	}
	return nil
}

// methodOf returns the method of a document that was refused, if it is one
// with a method.
func methodOf(raw jsontext.Value) string {
	members, err := membersOf(raw)
	if err != nil {
		return ""
	}
	return text(members["method"])
}
