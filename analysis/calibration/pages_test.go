package calibration

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	update = flag.Bool("update", false, "compute the tables of docs/calibration*.md again")
	pages  = []string{"../../docs/calibration.md", "../../docs/calibration-looking.md"}
	// A measurement on a page: a comment that says what, and below it, up to the next text,
	// the tables.
	measured = regexp.MustCompile("(?ms)^<!-- measured: ([^\n]*) -->\n\n((?:\\|[^\n]*\n|\n)*)")
)

// measurement is what a page has measured: a part, for sizes of fields, only fields whose
// name contains a text.
type measurement struct {
	part   string
	suite  Suite
	fields string
	opts   Options
}

// readMeasurement reads it as a page has it: "rare, 4 or 8 players, 500 repetitions, equal".
func readMeasurement(text string) (m measurement, err error) {
	parts := strings.Split(text, ", ")
	if len(parts) < 3 || len(parts) > 4 {
		return m, fmt.Errorf("measurement %q, want a part, numbers of players, repetitions and perhaps a field", text)
	}
	m = measurement{part: parts[0], suite: Suite{Legs: 10, Leagues: 200}, opts: Options{Seed: 8, Workers: 2}}
	for _, n := range regexp.MustCompile("[0-9]+").FindAllString(parts[1], -1) {
		players, _ := strconv.Atoi(n)
		m.suite.Players = append(m.suite.Players, players)
	}
	_, err = fmt.Sscanf(parts[2], "%d repetitions", &m.opts.Repetitions)
	if len(parts) == 4 {
		m.fields = parts[3]
	}
	return m, err
}

// run measures, and returns the tables. Each field has seeds of its own.
func (m measurement) run(ctx context.Context) (string, error) {
	var rows []Row
	run := func(field, what string, measure func(o Options) ([]Row, error)) error {
		if !strings.Contains(field, m.fields) {
			return nil
		}
		o, h := m.opts, fnv.New32a()
		h.Write([]byte(what))
		o.Seed += uint64(h.Sum32()) << 32
		found, err := measure(o)
		rows = append(rows, found...)
		return err
	}
	var err error
	switch m.part {
	case "intervals":
		for _, f := range m.suite.Fields() {
			err = errors.Join(err, run(f.Name, f.Name, func(o Options) ([]Row, error) { return Measure(ctx, f, o) }))
		}
	case "rare":
		for _, f := range m.suite.rarities() {
			what := fmt.Sprintf("%s, %d leagues", f.Name, f.Leagues)
			err = errors.Join(err, run(what, what, func(o Options) ([]Row, error) { return measureRare(ctx, f, o) }))
		}
	case "looking":
		for _, w := range m.suite.watches() {
			what := "looking after every league: " + w.Field.Name
			if len(w.Guarantees) == 1 {
				what = fmt.Sprintf("looking after every league, %s guarantee: %s", w.Guarantees[0], w.Field.Name)
			}
			err = errors.Join(err, run(w.Field.Name, what, func(o Options) ([]Row, error) { return measureLooking(ctx, w, o) }))
		}
	case "extending":
		for _, f := range m.suite.extensions() {
			err = errors.Join(err, run(f.Name, "extending: "+f.Name, func(o Options) ([]Row, error) { return measureExtending(ctx, f, o) }))
		}
	case "widths":
		for _, n := range m.suite.Players {
			what := fmt.Sprintf("widths among %d equal players", n)
			err = errors.Join(err, run(what, what, func(o Options) ([]Row, error) {
				row, err := measureNarrowing(ctx, n, m.suite.Legs, o)
				return []Row{row}, err
			}))
		}
	}
	var tables bytes.Buffer
	writeMarkdown(&tables, rows)
	return tables.String(), err
}

// TestPages: the tables of these pages are what is measured. With LONG_TESTS those of the first
// measurement are computed again; with -update, all are, which takes half an hour.
func TestPages(t *testing.T) {
	if !*update {
		t.Parallel()
	}
	checked := false
	for _, name := range pages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		again := measured.ReplaceAllFunc(page, func(found []byte) []byte {
			text := measured.FindSubmatch(found)[1]
			m, err := readMeasurement(string(text))
			if err != nil {
				t.Error(err)
			}
			if checked && !*update || !*update && !long {
				return found
			}
			checked = true
			t.Logf("%s", text)
			tables, err := m.run(t.Context())
			if err != nil {
				t.Error(err)
			}
			return []byte("<!-- measured: " + string(text) + " -->\n\n" + tables + "\n")
		})
		again = append(bytes.TrimRight(again, "\n"), '\n')
		if !*update {
			if diff := cmp.Diff(string(page), string(again)); diff != "" {
				t.Errorf("%s has other tables; run make calibration:\n%s", name, diff)
			}
		} else if err := os.WriteFile(name, again, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
