package script

import (
	"context"
	"fmt"
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
	// Doubtful says that it may be intended, such as reading after the end of a list to
	// find it.
	Doubtful bool
}

// Watched is a factory that can watch its script. Factories of scripts in other
// processes cannot.
type Watched interface {
	strategies.Factory
	// NewWatched makes a seat that chooses like one of New and passes every slip to
	// seen, in the goroutine of the call, perhaps often.
	NewWatched(ctx context.Context, s strategies.Setup, seen func(Slip)) (strategies.Strategy, error)
	// Text returns the source.
	Text() *Text
}

// API has the names of the fields of what a script is given. A runtime reads them
// off the objects that it makes.
type API struct{ Setup, Turn, Outcome []string }

// object is one of the things a script is given.
type object struct {
	name, article string
	fields        []string
}

func (a API) objects() []object {
	return []object{{"setup", "", a.Setup}, {"turn", "", a.Turn}, {"outcome", "an ", a.Outcome}}
}

// Missing describes the reading of a field that an object ("setup", "turn" or
// "outcome") does not have. ok is false if it has the field, with no value.
func (a API) Missing(name, field string) (what, hint string, ok bool) {
	for _, o := range a.objects() {
		if o.name != name {
			continue
		}
		if slices.Contains(o.fields, field) {
			return "", "", false
		}
		return fmt.Sprintf("%s%s has no field %q", o.article, o.name, field), a.meant(o, field), true
	}
	return "", "", false
}

// meant returns the hint for a field that o does not have.
func (a API) meant(o object, field string) string {
	list := o.name + " has " + strings.Join(o.fields, ", ")
	for _, other := range a.objects() {
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
