package script

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/strategies"
)

// Slip is a mistake in a script that does not fail: it reads what does not exist, or
// declares what is never called.
type Slip struct {
	Line int    // from 1
	What string // one sentence
	Hint string // may be empty
	// Doubtful says that it may be intended, such as reading after the end of a list to find it.
	Doubtful bool
}

// Watched is a factory that can watch its script. Factories of scripts in other processes cannot.
type Watched interface {
	strategies.Factory
	// NewWatched makes a seat that chooses like one of New and passes every slip to
	// seen, in the goroutine of the call, perhaps often.
	NewWatched(ctx context.Context, s strategies.Setup, seen func(Slip)) (strategies.Strategy, error)
	// Text returns the source.
	Text() *Text
}

// object is one of the things a script is given.
type object struct {
	name, article string
	fields        []string
}

// objects are what scripts are given, as scripts/README.md has them.
var objects = []object{
	{"setup", "", []string{"id", "name", "players", "rounds", "legs"}},
	{"turn", "", []string{"match_id", "round", "opponent", "role", "played", "wins", "draws", "losses", "points", "history"}},
	{"outcome", "an ", []string{"match_id", "round", "opponent", "role", "choice", "opponent_choice", "drawn_number", "result", "points"}},
}

// Missing describes the reading of a field that an object ("setup", "turn" or "outcome") does
// not have; what is empty if it has the field, with no value.
func Missing(name, field string) (what, hint string) {
	for _, o := range objects {
		if o.name == name && !slices.Contains(o.fields, field) {
			return fmt.Sprintf("%s%s has no field %q", o.article, o.name, field), o.meant(field)
		}
	}
	return "", ""
}

// meant returns the hint for a field that o does not have.
func (o object) meant(field string) string {
	list := o.name + " has " + strings.Join(o.fields, ", ")
	for _, other := range objects {
		if name := same(field, other.fields); name != "" && other.name != o.name && same(field, o.fields) == "" {
			return fmt.Sprintf("%s%s has %s; %s", other.article, other.name, name, list)
		}
	}
	if near := nearestField(field, o.fields); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, list)
	}
	return list
}

// folded makes opponentChoice and Opponent_Choice alike.
func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// same returns the field that differs from a name at most by its spelling.
func same(name string, fields []string) string {
	for _, f := range fields {
		if folded(f) == folded(name) {
			return f
		}
	}
	return ""
}

func nearestField(name string, fields []string) string {
	if f := same(name, fields); f != "" {
		return f
	}
	plain := make([]string, len(fields))
	for i, f := range fields {
		plain[i] = folded(f)
	}
	if at := slices.Index(plain, Nearest(folded(name), plain)); at >= 0 {
		return fields[at]
	}
	return ""
}

// EachNode calls visit for every pointer and slice in a part of a syntax tree, and for the
// variable of an interface type that a pointer is in, which visit may set: after those inside
// it. Embedded and unexported fields, which have positions, are left out.
func EachNode(v reflect.Value, visit func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Interface:
		EachNode(v.Elem(), visit)
	case reflect.Pointer:
		if !v.IsNil() {
			EachNode(v.Elem(), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !v.Type().Field(i).Anonymous {
				EachNode(v.Field(i), visit)
			}
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			EachNode(v.Index(i), visit)
		}
	default:
		return
	}
	visit(v)
}

// AnswerHint says what is behind an invalid choice, if that is known. kind is "text",
// "boolean", "nothing", "function" or another; text is the answer if it is a text.
func AnswerHint(kind, text string) string {
	switch kind {
	case "text":
		if s := strings.ToLower(strings.TrimSpace(text)); s == "even" || s == "odd" {
			return "use lower case without spaces"
		}
	case "boolean":
		return "true and false are no choices"
	case "nothing":
		return "does choose return on every path?"
	case "function":
		return "did you forget to call it?"
	}
	return ""
}

// Words returns the values of an enumeration up to the last in a language, in which word makes a
// value of a name; that of the first, which is none, is empty.
func Words[E interface {
	~uint8
	String() string
}, V any](last E, word func(name string) V) (words []V) {
	for e := E(0); e <= last; e++ {
		words = append(words, word(e.String()))
	}
	return words
}
