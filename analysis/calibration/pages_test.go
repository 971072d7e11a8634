package calibration

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
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
			err = cmp.Or(err, run(f.Name, f.Name, func(o Options) ([]Row, error) { return Measure(ctx, f, o) }))
		}
	case "rare":
		for _, f := range m.suite.rarities() {
			what := fmt.Sprintf("%s, %d leagues", f.Name, f.Leagues)
			err = cmp.Or(err, run(what, what, func(o Options) ([]Row, error) { return measureRare(ctx, f, o) }))
		}
	case "looking":
		for _, w := range m.suite.watches() {
			what := "looking after every league: " + w.Field.Name
			if len(w.Guarantees) == 1 {
				what = fmt.Sprintf("looking after every league, %s guarantee: %s", w.Guarantees[0], w.Field.Name)
			}
			err = cmp.Or(err, run(w.Field.Name, what, func(o Options) ([]Row, error) { return measureLooking(ctx, w, o) }))
		}
	case "extending":
		for _, f := range m.suite.extensions() {
			err = cmp.Or(err, run(f.Name, "extending: "+f.Name, func(o Options) ([]Row, error) { return measureExtending(ctx, f, o) }))
		}
	case "widths":
		for _, n := range m.suite.Players {
			what := fmt.Sprintf("widths among %d equal players", n)
			err = cmp.Or(err, run(what, what, func(o Options) ([]Row, error) {
				row, err := measureNarrowing(ctx, n, m.suite.Legs, o)
				return []Row{row}, err
			}))
		}
	}
	var tables bytes.Buffer
	writeMarkdown(&tables, rows)
	return tables.String(), err
}

// TestPages: the tables of these pages are what is measured. With LONG_TESTS one column of a
// table is computed again; with -update, all are, which takes half an hour.
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
			switch {
			case err != nil:
				t.Error(err)
				return found
			case *update:
				t.Logf("%s", text)
				tables, err := m.run(t.Context())
				if err != nil {
					t.Error(err)
				}
				return []byte("<!-- measured: " + string(text) + " -->\n\n" + tables + "\n")
			case m.part == "rare" && !checked:
				if checked = true; !long {
					return found
				}
				m.fields = "4 players, one fails in 1 % of leagues, 50 leagues"
				m.compare(t, string(found))
			}
			return found
		})
		if *update {
			if err := os.WriteFile(name, append(bytes.TrimRight(again, "\n"), '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !checked && !*update {
		t.Error("the pages have nothing that was checked")
	}
}

// compare measures again, and compares what comes out with the tables of a page.
func (m measurement) compare(t *testing.T, tables string) {
	t.Helper()
	again, err := m.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, want := cells(again), cells(tables)
	if len(got) == 0 {
		t.Errorf("%s is not measured", m.fields)
	}
	for cell, value := range got {
		if want[cell] != value {
			t.Errorf("%s is %q, and now %q; run make calibration", cell, want[cell], value)
		}
	}
}

// cells are those of tables in Markdown by all that is said of them, in lines, columns and
// the corner.
func cells(tables string) map[string]string {
	all := map[string]string{}
	var corner string
	var columns []string
	for line := range strings.Lines(tables) {
		texts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for k := range texts {
			texts[k] = strings.TrimSpace(texts[k])
		}
		switch {
		case len(texts) < 2:
			columns = nil
			continue
		case columns == nil:
			corner, columns = texts[0], texts
			continue
		case strings.HasPrefix(texts[0], "---"):
			continue
		}
		for k := 1; k < len(texts); k++ {
			words := slices.Sorted(slices.Values(strings.Split(corner+", "+columns[k]+", "+texts[0], ", ")))
			all[strings.Join(words, ", ")] = texts[k]
		}
	}
	return all
}
