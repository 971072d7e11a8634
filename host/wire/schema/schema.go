// Package schema validates documents against JSON Schemas (draft 2020-12, the keywords
// of [Validator]) and says what they break: for each broken rule a JSON Pointer and the
// keyword, sorted, without any value from the document. A [Registry] knows the tools that
// can be called. No schema is ever fetched.
package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/rawjson"
)

// draft is the only draft of JSON Schema that is accepted.
const draft = "https://json-schema.org/draft/2020-12/schema"

// ErrRemoteRef is the cause of the error for a schema that refers to one that is
// not embedded.
var ErrRemoteRef = errors.New("schemas are never fetched: put what is needed into $defs, or refer to an embedded schema by its file name, such as league_query.json")

// compile returns the validator of a schema, which can refer to the embedded schemas.
func compile(schema jsontext.Value) (*Validator, error) {
	if err := checkDraft(schema); err != nil {
		return nil, err
	}
	return Compile(schema, embedded)
}

func checkDraft(schema jsontext.Value) error {
	if schema.Kind() != '{' {
		return nil // true and false are schemas
	}
	members, err := rawjson.Parse(schema)
	if err != nil {
		return err
	}
	if said := members.Get("$schema"); said != nil && strings.TrimSuffix(members.Text("$schema"), "#") != draft {
		return fmt.Errorf("$schema is %.200s, want %s", said, draft)
	}
	return nil
}
