package schema

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/strategylab/strategylab/host/protocol"
)

// maxViolations bounds the violations that are reported: a document of a megabyte
// can have a hundred thousand.
const maxViolations = 32

// maxPath bounds a path, in bytes, since its names come from the document. A
// longer path ends with the last name that fits.
const maxPath = 256

// check validates a JSON text of at most most values. The root is put before
// every path.
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

// Tidy sorts violations, drops duplicates and keeps the first 32.
func Tidy(found []protocol.Violation) []protocol.Violation {
	slices.SortFunc(found, func(a, b protocol.Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	found = slices.Compact(found)
	if len(found) > maxViolations {
		found = found[:maxViolations]
	}
	return found
}

// collector turns the errors of the validator into violations.
type collector struct {
	root  string
	doc   any
	found []protocol.Violation
}

// collect adds a violation for each broken rule at the place where it is broken.
// Of several alternatives none can be known to be meant, so the choice itself is
// the violation.
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

// oneOfNames returns the first missing name if every alternative of a choice
// fails only for missing members, and "" otherwise.
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

// propertyName adds members whose name breaks a rule. The validator reuses the
// memory of the location that it reports for these, so they are looked up: in
// every object at that depth.
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
