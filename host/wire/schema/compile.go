// Package schema validates documents against JSON Schemas (draft 2020-12) and says what they break:
// for each broken rule a JSON Pointer and the keyword, sorted, without any value from the document.
// A [Registry] knows the tools that can be called. No schema is ever fetched.
package schema

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
)

// draft is the only draft of JSON Schema that is accepted.
const draft = "https://json-schema.org/draft/2020-12/schema"

// ErrRemoteRef is the cause of the error for a schema that refers to one that is not embedded.
var ErrRemoteRef = errors.New("schemas are never fetched: put what is needed into $defs, or refer to an embedded schema by its file name, such as league_query.json")

// A Validator is a compiled schema. It is safe for concurrent use.
//
// It knows the keywords of JSON Schema that describe messages and tools, and no others, since the
// libraries that know all of them compile the metaschemas of every draft when a process starts,
// which costs more than the rest of its start, or stop at the first rule that is broken.
type Validator struct{ root *node }

// node is a schema as it is written, and what follows from that.
type node struct {
	Draft string           `json:"$schema"`
	ID    string           `json:"$id"`
	Ref   string           `json:"$ref"`
	Defs  map[string]*node `json:"$defs"`

	Type     texts          `json:"type"`
	Const    jsontext.Value `json:"const"`
	Enum     []any          `json:"enum"`
	Pattern  string         `json:"pattern"`
	Format   string         `json:"format"`
	Required []string       `json:"required"`

	Minimum       *float64 `json:"minimum"`
	Maximum       *float64 `json:"maximum"`
	MinLength     *float64 `json:"minLength"`
	MaxLength     *float64 `json:"maxLength"`
	MinItems      *float64 `json:"minItems"`
	MaxItems      *float64 `json:"maxItems"`
	MinProperties *float64 `json:"minProperties"`
	MaxProperties *float64 `json:"maxProperties"`

	Properties           map[string]*node `json:"properties"`
	AdditionalProperties *node            `json:"additionalProperties"`
	PropertyNames        *node            `json:"propertyNames"`
	Items                *node            `json:"items"`
	AllOf                []*node          `json:"allOf"`
	AnyOf                []*node          `json:"anyOf"`
	Not                  *node            `json:"not"`
	If                   *node            `json:"if"`
	Then                 *node            `json:"then"`
	Else                 *node            `json:"else"`

	Rest map[string]jsontext.Value `json:",embed"` // annotations

	never    bool  // the schema false
	constant []any // none, or one
	pattern  *regexp.Regexp
	target   *node // of Ref
}

// annotations are the keywords that accept every document.
var annotations = []string{"$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

// UnmarshalJSONFrom reads a schema: an object, true or false.
func (n *node) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind == 't' || kind == 'f' {
		n.never = kind == 'f'
		return dec.SkipValue()
	}
	type object node
	return json.UnmarshalDecode(dec, (*object)(n))
}

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

// Compile compiles a schema. A $ref reaches into its $defs or names a schema that load
// returns. The error says which keyword is wrong, or unknown.
func Compile(schema jsontext.Value, load func(name string) (jsontext.Value, error)) (*Validator, error) {
	root, err := (&compiler{load: load}).document(schema, "#")
	if err != nil {
		return nil, err
	}
	return &Validator{root}, nil
}

type compiler struct {
	root *node
	load func(name string) (jsontext.Value, error)
	open []string // the references that are being followed
}

func (c *compiler) document(schema jsontext.Value, at string) (*node, error) {
	root := new(node)
	if err := json.Unmarshal(schema, root); err != nil {
		return nil, err
	}
	c.root = root
	if root.Draft != "" && strings.TrimSuffix(root.Draft, "#") != draft {
		return nil, fmt.Errorf("$schema is %.200q, want %s", root.Draft, draft)
	}
	return root, c.compile(root, at)
}

// compile completes the schema at a place of the document, and those in it.
func (c *compiler) compile(n *node, at string) (err error) {
	for keyword := range n.Rest {
		if !slices.Contains(annotations, keyword) {
			return fmt.Errorf("%s/%s: this keyword is not supported", at, keyword)
		}
	}
	for _, name := range n.Type {
		if !slices.Contains([]string{"null", "boolean", "string", "number", "integer", "array", "object"}, name) {
			return fmt.Errorf("%s/type: there is no type %.100q", at, name)
		}
	}
	if n.Const != nil {
		n.constant = make([]any, 1)
		err = json.Unmarshal(n.Const, &n.constant[0])
	}
	if n.Pattern != "" && err == nil {
		n.pattern, err = regexp.Compile(n.Pattern)
	}
	if n.Format != "" && formats[n.Format] == nil {
		err = fmt.Errorf("it is %.100q, want %s", n.Format, strings.Join(slices.Sorted(maps.Keys(formats)), " or "))
	}
	if n.Ref != "" && err == nil {
		n.target, err = c.follow(n.Ref)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	parts := map[string]*node{
		"additionalProperties": n.AdditionalProperties, "propertyNames": n.PropertyNames, "items": n.Items,
		"not": n.Not, "if": n.If, "then": n.Then, "else": n.Else,
	}
	for name, part := range n.Properties {
		parts["properties/"+name] = part
	}
	for i, part := range slices.Concat(n.AllOf, n.AnyOf) {
		parts[fmt.Sprintf("anyOf, allOf/%d", i)] = part
	}
	for name, part := range parts {
		if part == nil {
			continue
		}
		if err := c.compile(part, at+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// follow compiles what a $ref refers to.
func (c *compiler) follow(ref string) (*node, error) {
	if slices.Contains(c.open, ref) {
		return nil, fmt.Errorf("%.100q refers to itself", ref)
	}
	inner := compiler{c.root, c.load, append(slices.Clip(c.open), ref)}
	if name, local := strings.CutPrefix(ref, "#/$defs/"); local {
		target := c.root.Defs[name]
		if target == nil {
			return nil, fmt.Errorf("there is no %.100q", ref)
		}
		return target, inner.compile(target, ref)
	}
	if id := c.root.ID; id != "" && !strings.HasPrefix(id, protocol.SchemaBase) {
		return nil, fmt.Errorf("%.100q stands beside %.100q; %w", ref, id, ErrRemoteRef)
	}
	text, err := c.load(ref)
	if err != nil {
		return nil, err
	}
	return inner.document(text, ref)
}
