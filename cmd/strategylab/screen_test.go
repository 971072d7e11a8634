package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

var controls = regexp.MustCompile("\x1b\\[[0-9]*[A-Za-z]")

// screens plays an experiment on terminals and returns what it wrote to both.
func screens(t *testing.T, out, err command.Terminal, args ...string) (stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	p := command.Process{
		Lab: lab.Lab{Dir: t.TempDir(), Now: time.Now, Entropy: func() (uint64, error) { return 1 << 20, nil }}, Args: append([]string{"strategylab", "experiment",
			"--field", "random*2,always-even,always-odd,joint-markov-2,longest-match,stay-or-flip", "--seed", "5", "--legs", "2", "--out", "run"}, args...),
		Stdout: &o, Stderr: &e, Out: out, Err: err, Colour: true, ForBatch: func() {},
	}
	if code := run(t.Context(), p); code != exitOK {
		t.Fatalf("exit code %d: %s", code, e.String())
	}
	return o.String(), e.String()
}

// Each stream has the width of its own terminal, and what is no terminal has none.
func TestScreensHaveTheirOwnWidth(t *testing.T) {
	t.Parallel()
	file, notes := screens(t, command.Terminal{}, command.Terminal{})
	if controls.MatchString(file+notes) || strings.Contains(notes, "leagues  ") {
		t.Errorf("control sequences or progress in a file: %q, %q", file, notes)
	}
	narrow := command.Terminal{Columns: 60, Rows: 12, Cursor: true}
	if beside, _ := screens(t, command.Terminal{}, narrow); beside != file {
		t.Errorf("a terminal on stderr changes stdout:\n%s\nwithout:\n%s", beside, file)
	}
	for _, columns := range []int{60, 80, 160} {
		own := command.Terminal{Columns: columns, Rows: 12, Cursor: true}
		stdout, stderr := screens(t, own, own, "--mine", "stay-or-flip")
		for text, most := range map[string]int{stdout: columns, stderr: columns - 1} {
			for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(controls.ReplaceAllString(line, ""), "\n")); n > most && strings.Contains(line, " ") {
					t.Errorf("%d columns: line of %d: %q", columns, n, line)
				}
			}
		}
		if !strings.Contains(stdout, "\x1b[1mstay-or-flip") {
			t.Errorf("%d columns: the user's strategy is not highlighted:\n%s", columns, stdout)
		}
	}
}

// Standings appear on a terminal with the first leagues, whatever the machine's speed,
// and are gone in the end.
func TestStandingsWhileItRuns(t *testing.T) {
	t.Parallel()
	own := command.Terminal{Columns: 80, Rows: 12, Cursor: true}
	_, stderr := screens(t, command.Terminal{}, own, "--until", "best", "--max-runs", "3000", "--mine", "stay-or-flip")
	text := controls.ReplaceAllString(stderr, "")
	for _, want := range []string{" strategy ", " points ", " *  stay-or-flip ", "Until best: ", " of at most 3000 leagues"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if !regexp.MustCompile("\r\x1b\\[[0-9]+A\x1b\\[Jresults in run").MatchString(stderr) {
		t.Errorf("the standings are left behind: %q", stderr)
	}
	if _, stderr := screens(t, command.Terminal{}, own, "--quiet"); stderr != "" {
		t.Errorf("--quiet prints %q", stderr)
	}
}
