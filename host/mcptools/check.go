package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/strategylab/strategylab/host/wire/schema"
)

// validator is a compiled schema; nil accepts every object.
type validator struct{ compiled *jsonschema.Schema }

// compile compiles a schema of type object. It fetches nothing: a reference to
// another document is an error.
func compile(raw json.RawMessage) (*validator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	object, ok := doc.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New(`it must be a JSON object with "type": "object"`)
	}
	compiled, err := schema.Compile("tool:schema", doc, noLoader{})
	if err != nil {
		return nil, err
	}
	return &validator{compiled}, nil
}

// noLoader refuses references to other documents.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s; it must stand alone", url)
}

// check validates raw, a JSON object. The error lists the violations without
// repeating values.
func (s *validator) check(raw json.RawMessage) error {
	if s == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	err = s.compiled.Validate(doc)
	invalid := new(jsonschema.ValidationError)
	if !errors.As(err, &invalid) {
		return err
	}
	found := map[string]bool{}
	violations(invalid, found)
	return errors.New(strings.Join(slices.Sorted(maps.Keys(found)), "; "))
}

// violations collects the leaves of a validation error.
func violations(e *jsonschema.ValidationError, into map[string]bool) {
	for _, cause := range e.Causes {
		violations(cause, into)
	}
	if len(e.Causes) > 0 {
		return
	}
	where := strings.Join(e.InstanceLocation, "/")
	if required, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range required.Missing {
			into[fmt.Sprintf("/%s is missing", strings.TrimPrefix(where+"/"+name, "/"))] = true
		}
		return
	}
	into[fmt.Sprintf("/%s %s", where, wanted(e.ErrorKind))] = true
}

// wanted describes what a schema wants instead of a value, without repeating the
// value.
func wanted(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("is of type %s, want %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.Enum:
		return "want one of " + listOf(k.Want)
	case *kind.Const:
		return "want " + listOf([]any{k.Want})
	case *kind.Minimum:
		return "want at least " + decimal(k.Want)
	case *kind.Maximum:
		return "want at most " + decimal(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("has %d characters, want at least %d", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, want at most %d", k.Got, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %d items, want at least %d", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d items, want at most %d", k.Got, k.Want)
	case *kind.Pattern:
		return "want a text that matches " + k.Want
	case *kind.AdditionalProperties:
		return "has a property that there is not: " + quoted(k.Properties[0])
	}
	return fmt.Sprintf("does not keep %q", strings.Join(k.KeywordPath(), "/"))
}

func listOf(values []any) string {
	var texts []string
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("?")
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, ", ")
}

// quoted quotes a name from outside, shortened to 64 bytes.
func quoted(name string) string {
	const most = 64
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return fmt.Sprintf("%q", name)
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return r.FloatString(6)
}
