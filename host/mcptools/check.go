package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/wire/schema"
)

// validator is a compiled schema; nil accepts every object.
type validator struct{ compiled *schema.Validator }

// compile compiles a schema of type object. It fetches nothing: a reference to
// another document is an error.
func compile(raw json.RawMessage) (*validator, error) {
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil && !json.Valid(raw) {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if object["type"] != "object" {
		return nil, errors.New(`it must be a JSON object with "type": "object"`)
	}
	compiled, err := schema.Compile(jsontext.Value(raw))
	if err != nil {
		return nil, err
	}
	return &validator{compiled}, nil
}

// check validates raw, a JSON object. The error lists the violations without
// repeating values.
func (s *validator) check(raw json.RawMessage) error {
	if s == nil {
		return nil
	}
	found, err := s.compiled.ValidateJSON(jsontext.Value(bytes.TrimSpace(raw)))
	if err != nil || len(found) == 0 {
		return err
	}
	var broken []string
	for _, f := range found {
		broken = append(broken, f.String())
	}
	slices.Sort(broken)
	return errors.New(strings.Join(slices.Compact(broken), "; "))
}
