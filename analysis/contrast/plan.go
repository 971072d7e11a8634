package contrast

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/strategylab/strategylab/host/results"
)

// Change is a difference between two plans.
type Change struct {
	What   string `json:"what"`             // "seed", "legs", "draw", "transport", "runs", "field" or "code"
	Player string `json:"player,omitempty"` // whose code, if What is "code"
	Before string `json:"before"`
	After  string `json:"after"`
}

// Changes returns the differences between two plans.
func Changes(before, after results.Plan) []Change {
	list := []Change{}
	add := func(what, x, y string) {
		if x != y {
			list = append(list, Change{What: what, Before: x, After: y})
		}
	}
	add("seed", strconv.FormatUint(before.Seed, 10), strconv.FormatUint(after.Seed, 10))
	add("legs", strconv.Itoa(before.Legs), strconv.Itoa(after.Legs))
	add("draw", before.Draw, after.Draw)
	add("transport", before.Transport, after.Transport)
	add("runs", strconv.Itoa(before.Runs), strconv.Itoa(after.Runs))
	if !slices.EqualFunc(before.Field, after.Field, func(x, y results.Entrant) bool { return x.Name == y.Name }) {
		x, y := fmt.Sprintf("%d players", len(before.Field)), fmt.Sprintf("%d players", len(after.Field))
		if len(apart(before, after))+len(apart(after, before)) == 0 {
			x, y = "one order", "another order"
		} else if x == y {
			y += ", others"
		}
		add("field", x, y)
	}
	codes := map[string]results.Entrant{}
	for _, f := range after.Field {
		codes[f.Name] = f
	}
	for _, f := range before.Field {
		if now, both := codes[f.Name]; both && !sameCode(f, now) {
			list = append(list, Change{What: "code", Player: f.Name, Before: code(f), After: code(now)})
		}
	}
	return list
}

// sameCode reports whether two players play the same. All built-in strategies have the
// fingerprint of the program, so their names distinguish them.
func sameCode(x, y results.Entrant) bool {
	return x.Kind == y.Kind && x.Fingerprint == y.Fingerprint && (x.Kind != "builtin" || x.Ref == y.Ref)
}

// code names a version of a strategy.
func code(e results.Entrant) string {
	const enough = 19 // of "sha256:...", to tell versions apart
	print := e.Fingerprint
	if len(print) > enough {
		print = print[:enough]
	}
	return fmt.Sprintf("%s (%s)", cmp.Or(e.Source, e.Ref), print)
}

// apart returns the names of the players of a that are not in b.
func apart(a, b results.Plan) []string {
	names := []string{}
	for _, f := range a.Field {
		if !slices.ContainsFunc(b.Field, func(o results.Entrant) bool { return o.Name == f.Name }) {
			names = append(names, f.Name)
		}
	}
	return names
}

// sharesChance reports whether leagues of one index have the same seats, draws and
// coins in both plans.
func sharesChance(a, b results.Plan) bool {
	return a.Seed == b.Seed && a.Legs == b.Legs && a.Draw == b.Draw &&
		slices.EqualFunc(a.Field, b.Field, func(x, y results.Entrant) bool { return x.Name == y.Name })
}
