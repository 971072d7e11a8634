package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

var controls = regexp.MustCompile("\x1b\\[[0-9]*[A-Za-z]")

// screens plays an experiment on terminals and returns what it wrote to both.
func screens(t *testing.T, out, err command.Terminal, args ...string) (stdout, stderr string) {
	t.Helper()
	p := in(t.TempDir())
	p.Out, p.Err, p.Colour = out, err, true
	code, stdout, stderr := inside(t.Context(), p, append([]string{"experiment", "--field", "random*2,always-even,always-odd,joint-markov-2,longest-match,stay-or-flip",
		"--seed", "5", "--runs", "100", "--legs", "2", "--out", "run"}, args...)...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return stdout, stderr
}

// Each stream has the width of its own terminal, and what is no terminal has none.
func TestScreensHaveTheirOwnWidth(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	if _, stderr := screens(t, command.Terminal{}, command.Terminal{Columns: 80, Rows: 12, Cursor: true}, "--quiet"); stderr != "" {
		t.Errorf("--quiet prints %q", stderr)
	}
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

// TestFilesCannotControlTerminals gives every command whose input is a file one that tries
// to control the terminal, and looks at what arrives there.
func TestFilesCannotControlTerminals(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2J\x1b]0;owned\x07\u202egnp\u202c\u009b31m"
	dir := t.TempDir()
	write := func(name, text string) { write(t, dir, name, text) }
	write("scripts/titled.lua", "-- "+evil+" title\n-- "+evil+" description\nprint('"+evil+"')\nfunction choose(turn) error('"+evil+"') end\n")
	write("scripts/broken.js", "throw new Error('"+evil+"')\n")
	write("scripts/worse"+evil+".lua", "function choose() return 1 end")
	write("plan/plan.json", `{"schema":"`+strings.ReplaceAll(evil, "\x1b", "\\u001b")+`"}`)
	write("raw/plan.json", `{"schema":"`+evil+`"}`)
	write("looks/plan.json", `{"schema":"strategylab/plan/v1","looks":[`+strings.Repeat("1,", 100_000)+`1]}`)
	write("trace.jsonl", `{"`+evil+`":1}`+"\n"+evil+"\n")
	write("record.jsonl", strings.ReplaceAll(`{"seq":1,"time":"2026-01-01T00:00:00Z","direction":"in","peer":"EVIL","body":"EVIL"}`, "EVIL", strings.ReplaceAll(strings.ReplaceAll(evil, "\x1b", "\\u001b"), "\x07", "\\u0007"))+"\n")
	for _, args := range [][]string{
		{"strategies", "list", "--in-process"}, {"strategies", "show", "titled", "--in-process"}, {"strategies", "check", "scripts/titled.lua", "--in-process"},
		{"strategies", "check", "scripts/broken.js", "--in-process"}, {"strategies", "show", evil}, {"strategies", "check", evil + ".lua"},
		{"experiment", "--field", "titled,random", "--runs", "4", "--in-process", "--seed", "1", "--legs", "1", "--no-report", "--out", "run"},
		{"experiment", "--field", evil}, {evil}, {"experiment", "--" + evil}, {"analyze", "plan"}, {"analyze", "raw"}, {"analyze", "looks"}, {"analyze", evil},
		{"report", "run"}, {"replay", "run"}, {"replay", "run", "--match", evil}, {"export", "plan"},
		{"trace", "show", "trace.jsonl"}, {"trace", "show", "record.jsonl", "--bodies"}, {"trace", "audit", "record.jsonl"},
	} {
		for _, terminal := range []command.Terminal{{}, {Columns: 80, Rows: 24}} {
			p := in(dir)
			p.Out, p.Err = terminal, terminal
			_, stdout, stderr := inside(t.Context(), p, args...)
			if i := strings.IndexFunc(stderr+stdout, func(c rune) bool {
				return c < ' ' && !strings.ContainsRune("\n\t\r", c)
			}); i >= 0 {
				t.Errorf("%q, terminal %v: control character in %.300q %.300q", args, terminal.Is(), stdout, stderr)
			}
			text := stderr
			if terminal.Is() {
				text += stdout
			}
			if strings.ContainsAny(text, "\u202e\u202c\u009b") {
				t.Errorf("%q, terminal %v: direction or C1 in %.300q", args, terminal.Is(), text)
			}
			if len(stderr) > 64<<10 {
				t.Errorf("%q: %d bytes on stderr", args, len(stderr))
			}
		}
	}
}
