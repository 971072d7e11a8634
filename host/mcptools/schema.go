package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// validator is a compiled schema; nil admits every object.
type validator struct{ compiled *jsonschema.Schema }

// compile compiles a schema of type object. It fetches nothing: a reference
// that leads out of the schema is an error.
func compile(raw json.RawMessage) (*validator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	object, ok := doc.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New(`it must be a JSON object with "type": "object"`)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	const name = "tool:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
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

// check says in one sentence where raw, a JSON object, does not keep the
// schema, without repeating its values.
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
	var list []string
	for v := range found {
		list = append(list, v)
	}
	sort.Strings(list)
	return errors.New(strings.Join(list, "; "))
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
