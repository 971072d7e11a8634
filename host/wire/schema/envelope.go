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

// envelopes compile the schema of each form, once.
var envelopes = [...]func() (*Validator, error){
	LeagueForm:        sync.OnceValues(func() (*Validator, error) { return embeddedValidator("envelope_league.json") }),
	StrictForm:        sync.OnceValues(func() (*Validator, error) { return embeddedValidator("envelope.json") }),
	DeterministicForm: sync.OnceValues(func() (*Validator, error) { return embeddedValidator("envelope_deterministic.json") }),
}

func embeddedValidator(name string) (*Validator, error) {
	raw, err := embedded(name)
	if err != nil {
		return nil, err
	}
	return compile(raw)
}

// CheckEnvelope validates a request against the schema of a form and returns what it
// breaks, sorted; nil if it keeps it. It does not look into params, so that refusing a
// request is cheap however large it is.
func CheckEnvelope(f Form, request jsontext.Value) ([]protocol.Violation, error) {
	v, err := envelopes[f]()
	if err != nil {
		return nil, fmt.Errorf("schema: envelope: %w", err)
	}
	return checkValue(v, shallow(request), ""), nil
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
