package schema

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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
func check(s *Validator, raw jsontext.Value, root string, most int) []protocol.Violation {
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

func checkValue(s *Validator, doc any, root string) []protocol.Violation {
	var found []protocol.Violation
	for _, f := range s.Validate(doc) {
		found = append(found, protocol.Violation{Path: pointer(root, f.At), Rule: f.Rule})
	}
	return Tidy(found)
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

func pointer(root string, at []string) string {
	path := root
	for _, token := range at {
		longer := path + "/" + escape(token)
		if len(longer) > maxPath {
			break
		}
		path = longer
	}
	return path
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
