// Package schema validates documents against JSON Schemas (draft 2020-12) and
// says what they break: for each broken rule a JSON Pointer and the keyword,
// sorted, without any value from the document. A [Registry] knows the tools
// that can be called, and the envelopes of requests. No schema is ever fetched.
package schema

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

//go:embed schemas
var schemas embed.FS

// draft is the only draft of JSON Schema that is accepted.
const draft = "https://json-schema.org/draft/2020-12/schema"

// ErrRemoteRef is the cause of the error for a schema that refers to one that is
// not embedded.
var ErrRemoteRef = errors.New("schemas are never fetched: put what is needed into $defs, or refer to an embedded schema by its file name, such as league_query.json")

// embedded loads the schemas that come with the program, and no others.
type embedded struct{}

// Load implements jsonschema.URLLoader.
func (embedded) Load(url string) (any, error) {
	name, ours := strings.CutPrefix(url, protocol.SchemaBase)
	if !ours {
		return nil, ErrRemoteRef
	}
	base := strings.TrimSuffix(name, ".json")
	raw, err := protocol.Schema(protocol.Type(strings.ToUpper(base)), protocol.Strict)
	if base != strings.ToLower(base) || base == name {
		err = errors.New("no such file")
	}
	if err != nil {
		raw, err = schemas.ReadFile("schemas/" + name)
	}
	if err != nil {
		return nil, fmt.Errorf("there is no embedded schema %q; %w", name, ErrRemoteRef)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw))
}

// A validator holds documents to one schema.
type validator = jsonschema.Schema

// compile returns the validator of a schema. The name places it among the
// embedded schemas, so that it can refer to them by file name.
func compile(name string, schema jsontext.Value) (*validator, error) {
	if err := checkDraft(schema); err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	return Compile(protocol.SchemaBase+name, doc, embedded{})
}

// Compile compiles a schema that stands at a URL and refers to what the loader
// loads.
func Compile(url string, doc any, loader jsonschema.URLLoader) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(loader)
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// checkDraft refuses schemas for another draft.
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
