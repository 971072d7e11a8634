package mcptools

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// wanted says what a schema wants where a value does not keep it, without
// repeating the value.
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

// quoted is a name that came from outside, no longer than names are.
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
