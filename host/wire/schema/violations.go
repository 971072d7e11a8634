package schema

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/strategylab/strategylab/host/protocol"
)

// maxViolations bounds how many violations are told: a document of a megabyte
// can hold a hundred thousand.
const maxViolations = 32

// maxPath bounds a path, in bytes, since names in it come from the document. A
// longer one is cut to the longest part that fits.
const maxPath = 256

// check holds a JSON text with at most so many values to a schema. The root is
// put before every path.
func check(s *validator, raw jsontext.Value, root string, most int) []protocol.Violation {
	doc, err := decode(raw, most)
	switch {
	case errors.Is(err, errTooMany):
		return []protocol.Violation{{Path: root, Rule: "size"}}
	case errors.Is(err, errTooDeep):
		return []protocol.Violation{{Path: root, Rule: "depth"}}
	case err != nil:
		return []protocol.Violation{{Path: root, Rule: "json"}}
	}
	return checkValue(s, doc, root)
}

func checkValue(s *validator, doc any, root string) []protocol.Violation {
	err := s.Validate(doc)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return []protocol.Violation{{Path: root, Rule: "schema"}}
	}
	c := collector{root: root, doc: doc}
	c.collect(failed)
	return Tidy(c.found)
}

// Tidy sorts violations, drops repetitions and keeps as many as are told.
func Tidy(found []protocol.Violation) []protocol.Violation {
	protocol.SortViolations(found)
	found = slices.Compact(found)
	if len(found) > maxViolations {
		found = found[:maxViolations]
	}
	return found
}

// collector makes violations of what the validator found.
type collector struct {
	root  string
	doc   any
	found []protocol.Violation
}

// collect takes what is broken at the places where it is broken. Where one of
// several forms is asked for, the form that was meant cannot be known, so the
// choice itself is what is broken.
func (c *collector) collect(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			c.collect(cause)
		}
	case *kind.Required:
		c.names(e.InstanceLocation, k.Missing, "required")
	case *kind.DependentRequired:
		c.names(e.InstanceLocation, k.Missing, "dependentRequired")
	case *kind.AdditionalProperties:
		c.names(e.InstanceLocation, k.Properties, "additionalProperties")
	case *kind.PropertyNames:
		c.propertyName(e.InstanceLocation, k.Property)
	case *kind.AnyOf:
		if name := oneOfNames(e); name != "" {
			c.add(append(slices.Clone(e.InstanceLocation), name), "required")
			return
		}
		c.add(e.InstanceLocation, "anyOf")
	case *kind.Not:
		c.add(e.InstanceLocation, "not")
	case *kind.FalseSchema:
		rule := e.SchemaURL[strings.LastIndexByte(e.SchemaURL, '/')+1:]
		if !strings.HasPrefix(rule, "unevaluated") {
			rule = "false"
		}
		c.add(e.InstanceLocation, rule)
	default:
		rule := "schema"
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
			rule = path[0]
		}
		c.add(e.InstanceLocation, rule)
	}
}

// oneOfNames returns the first name where each form of a choice asks for
// nothing but members that are missing, and "" otherwise.
func oneOfNames(e *jsonschema.ValidationError) string {
	first := ""
	for _, cause := range e.Causes {
		missing, ok := cause.ErrorKind.(*kind.Required)
		if !ok || len(cause.InstanceLocation) != len(e.InstanceLocation) {
			return ""
		}
		if first == "" {
			first = missing.Missing[0]
		}
	}
	return first
}

func (c *collector) names(at, names []string, rule string) {
	for _, name := range names {
		c.add(append(slices.Clone(at), name), rule)
	}
}

// propertyName notes a member whose name breaks a rule. The validator reuses
// the memory of the place that it reports for these, so the place is looked
// up: every object at that depth that has such a member.
func (c *collector) propertyName(at []string, name string) {
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		if len(path) == len(at) {
			if object, ok := v.(map[string]any); ok {
				if _, has := object[name]; has {
					c.add(append(slices.Clone(path), name), "propertyNames")
				}
			}
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				walk(value, append(slices.Clip(path), key))
			}
		case []any:
			for i, value := range v {
				walk(value, append(slices.Clip(path), strconv.Itoa(i)))
			}
		}
	}
	walk(c.doc, nil)
}

func (c *collector) add(at []string, rule string) {
	path := c.root
	for _, token := range at {
		longer := path + "/" + escape(token)
		if len(longer) > maxPath {
			break
		}
		path = longer
	}
	c.found = append(c.found, protocol.Violation{Path: path, Rule: rule})
}

// escape writes a token of a JSON Pointer (RFC 6901).
func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
