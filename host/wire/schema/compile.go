// Package schema validates documents against JSON Schemas (draft 2020-12) and says what they break:
// for each broken rule a JSON Pointer and the keyword, sorted, without any value from the document.
// A [Registry] knows the tools that can be called. No schema is ever fetched.
package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// draft is the only draft of JSON Schema that is accepted.
const draft = "https://json-schema.org/draft/2020-12/schema"

// dateTime is the only format that messages have.
const dateTime = "date-time"

// A Validator is a compiled schema. It is safe for concurrent use.
//
// It knows the keywords of JSON Schema that describe messages and tools, and no others, since the
// libraries that know all of them compile the metaschemas of every draft when a process starts,
// which costs more than the rest of its start, or stop at the first rule that is broken.
type Validator struct{ root *node }

// node is a schema as it is written, and what follows from that.
type node struct {
	Draft string `json:"$schema"`

	Type     texts            `json:"type"`
	Const    jsontext.Value   `json:"const"`
	Enum     []jsontext.Value `json:"enum"`
	Pattern  string           `json:"pattern"`
	Format   string           `json:"format"`
	Required []string         `json:"required"`

	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinLength *float64 `json:"minLength"`
	MaxLength *float64 `json:"maxLength"`
	MinItems  *float64 `json:"minItems"`
	MaxItems  *float64 `json:"maxItems"`

	Properties           map[string]*node `json:"properties"`
	AdditionalProperties *node            `json:"additionalProperties"`
	PropertyNames        *node            `json:"propertyNames"`
	Items                *node            `json:"items"`
	AllOf                []*node          `json:"allOf"`
	AnyOf                []*node          `json:"anyOf"`
	Not                  *node            `json:"not"`
	If                   *node            `json:"if"`
	Then                 *node            `json:"then"`

	Rest map[string]jsontext.Value `json:",embed"` // annotations

	never   bool // the schema false
	pattern *regexp.Regexp
}

var (
	kinds = map[jsontext.Kind]string{'n': "null", 't': "boolean", 'f': "boolean", '"': "string", '0': "number", '[': "array", '{': "object"}
	// annotations are the keywords that accept every document.
	annotations = []string{"$id", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)

// texts are one text or several.
type texts []string

// UnmarshalJSONFrom reads a text or a list of texts.
func (t *texts) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		*t = make(texts, 1)
		return json.UnmarshalDecode(dec, &(*t)[0])
	}
	return json.UnmarshalDecode(dec, (*[]string)(t))
}

// Compile compiles a schema, which stands alone. The error says which keyword is wrong, or unknown.
func Compile(schema jsontext.Value) (*Validator, error) {
	v := &Validator{new(node)}
	return v, json.Unmarshal(schema, v.root)
}

// UnmarshalJSONFrom reads a schema, which may be true or false, and refuses keywords and values that
// no message has.
func (n *node) UnmarshalJSONFrom(dec *jsontext.Decoder) (err error) {
	if kind := dec.PeekKind(); kind == 't' || kind == 'f' {
		n.never = kind == 'f'
		return dec.SkipValue()
	}
	type object node
	if err = json.UnmarshalDecode(dec, (*object)(n)); err != nil {
		return err
	}
	for keyword := range n.Rest {
		if !slices.Contains(annotations, keyword) {
			return fmt.Errorf("%s: this keyword is not supported", keyword)
		}
	}
	for _, name := range n.Type {
		if name != "integer" && !slices.Contains(slices.Collect(maps.Values(kinds)), name) {
			return fmt.Errorf("there is no type %.100q", name)
		}
	}
	if n.Draft != "" && strings.TrimSuffix(n.Draft, "#") != draft {
		return fmt.Errorf("$schema is %.200q, want %s", n.Draft, draft)
	}
	if n.Format != "" && n.Format != dateTime {
		return fmt.Errorf("the format is %.100q, want %s", n.Format, dateTime)
	}
	if n.Pattern != "" {
		n.pattern, err = regexp.Compile(n.Pattern)
	}
	return err
}
