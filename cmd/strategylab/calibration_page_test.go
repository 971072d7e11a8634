package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var calibrationPages = []string{"../../docs/calibration.md", "../../docs/calibration-looking.md"}

// A measurement on the page: a command in a block of its own, and below it, up to the
// next text, the tables that it prints.
var measured = regexp.MustCompile("(?ms)^```\n(strategylab calibrate [^\n]*)\n```\n\n((?:\\|[^\n]*\n|\n)*)")

// TestCalibrationPage: the tables of these pages are what the commands above them print. Here only one column of some tables is computed again; with -update, all are, which
// takes some minutes.
func TestCalibrationPage(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("it computes for long and shares nothing")
	}
	run := func(command string, more ...string) string {
		args := append(fieldsOf(command), append(more, "--format", "markdown", "--quiet")...)
		output, err := commandLine(t.Context(), t.TempDir(), args...).Output()
		if len(output) == 0 { // it fails as well if a promise is missed, and prints the tables
			t.Fatalf("%s: %v", command, err)
		}
		return string(output)
	}
	var found [][]string
	for _, name := range calibrationPages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !*update {
			found = append(found, measured.FindAllStringSubmatch(string(page), -1)...)
			continue
		}
		page = measured.ReplaceAllFunc(page, func(found []byte) []byte {
			command := measured.FindSubmatch(found)[1]
			return []byte("```\n" + string(command) + "\n```\n\n" + run(string(command)) + "\n")
		})
		page = append(bytes.TrimRight(page, "\n"), '\n')
		if err := os.WriteFile(name, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		return // all of it was just measured
	}
	fields := map[string]string{"rare": "4 players, one fails in 1 % of leagues, 50 leagues"}
	if wholeSets {
		fields["intervals"] = "2 players, P(differ) 0.1"
	}
	for part, field := range fields {
		checked := false
		for _, m := range found {
			command, tables := m[1], m[2]
			if !strings.Contains(command, "--parts "+part+" ") || checked {
				continue
			}
			checked = true
			got, want := cells(run(command, "--fields", field)), cells(tables)
			if len(got) == 0 {
				t.Errorf("%s: %q is not measured", command, field)
			}
			for cell, value := range got {
				if want[cell] != value {
					t.Errorf("%s: %s is %q, and now %q; run make calibration", command, cell, want[cell], value)
				}
			}
		}
		if !checked {
			t.Errorf("the page measures no %s", part)
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

// fieldsOf splits a command, without the name of the program.
func fieldsOf(command string) (args []string) {
	for k, part := range strings.Split(command, "'") {
		if k%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args[1:]
}
