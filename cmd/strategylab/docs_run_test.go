package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// needsOthers are the commands that run until they are stopped or talk to agents of
// others. The tests of their families start and stop them.
var needsOthers = []string{"host", "player", "manager", "manager,", "referee", "start", "query", "mcp", "conformance", "plugins", "studio"}

// step is a documented command and the output that is shown for it, if any.
type step struct{ page, command, shown string }

var (
	fenced  = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	someRun = regexp.MustCompile(`--(runs|max-runs|matches) [0-9]+`)
	numbers = regexp.MustCompile(`[0-9][0-9.,]*`)
)

// commandsIn returns the commands of a block that end by themselves.
func commandsIn(block string) []string {
	var commands []string
	for line := range strings.Lines(strings.ReplaceAll(block, "\\\n ", "")) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "go run ./cmd/")
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "strategylab" || slices.Contains(needsOthers, words[1]) || strings.Contains(line, " | ") {
			continue
		}
		command, _, _ := strings.Cut(strings.ReplaceAll(line, "  --", " --"), "  ") // a description follows
		commands = append(commands, command)
	}
	return commands
}

// stepsOf returns the commands of a page in order. The output of the last command of a
// block is in the next block, if hardly more than a sentence is between them.
func stepsOf(t *testing.T, page string) []step {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	var all []step
	blocks := fenced.FindAllSubmatchIndex(text, -1)
	for k, at := range blocks {
		commands := commandsIn(string(text[at[4]:at[5]]))
		for _, c := range commands {
			all = append(all, step{page: page, command: c})
		}
		if len(commands) == 0 || k+1 == len(blocks) {
			continue
		}
		next := blocks[k+1]
		below, between := string(text[next[4]:next[5]]), string(text[at[1]:next[0]])
		if next[2] == next[3] && len(between) < 100 && !strings.Contains(between, "#") && !strings.Contains(below, "strategylab ") {
			all[len(all)-1].shown = below
		}
	}
	return all
}

// quick shortens a command: what is documented with a thousand leagues works with a
// few, and what is documented with all strategies with some of them, if it has flags for
// more than that. A benchmark need not be precise.
func quick(command string) string {
	if strings.HasPrefix(command, "strategylab tune") {
		return command + " --runs 120 --confirm 64"
	}
	few := "20"
	if strings.HasPrefix(command, "strategylab experiment") && !strings.Contains(command, " --field ") && !strings.Contains(command, " --resume ") {
		if others := strings.Fields(someRun.ReplaceAllString(command, "")); len(others) == 2 {
			few = "2"
		} else {
			command += " --field mine,hedge,council,random,markov-2"
		}
	}
	command = someRun.ReplaceAllString(command, "--$1 "+few)
	sequential := strings.Contains(command, " --until ") || strings.Contains(command, " --sprt ")
	if strings.HasPrefix(command, "strategylab experiment") && !strings.Contains(command, "--runs") && !sequential {
		command += " --runs " + few
	}
	if sequential {
		command += " --max-runs 4"
	}
	if strings.HasPrefix(command, "strategylab strategies bench") && !strings.Contains(command, "--for") {
		command += " --for 10ms"
	}
	return command
}

// kinds are lines without their numbers.
func kinds(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(numbers.ReplaceAllString(line, "N")), " "); line != "" && line != "..." {
			all = append(all, line)
		}
	}
	return all
}

// TestDocumentedCommandsRun runs the commands of the documentation in order and in one
// folder. What is shown as output has a line, numbers aside, that the command prints.
// A plain run reads the first of the pages. An experiment, a league or a check that several pages start runs once.
func TestDocumentedCommandsRun(t *testing.T) {
	if raced {
		t.Skip("processes of their own, one after the other: scripts run the same commands under the race detector")
	}
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the commands are for a shell")
	}
	dir := t.TempDir()
	self := program(t, dir)
	if err := os.CopyFS(filepath.Join(dir, "scripts"), os.DirFS("../../scripts")); err != nil {
		t.Fatal(err)
	}
	const mine = "function choose(turn)\n  local last = turn.history[#turn.history]\n  if last == nil or last.opponent_choice == nil then return 0.5 end\n" +
		"  if last.opponent_choice == 'even' then return 'odd' end\n  return 'even'\nend\n"
	write(t, dir, "scripts/mine.lua", mine)
	write(t, dir, "drafts/new.lua", "-- New: like mine.\n"+mine)
	var steps []step
	pages := []string{"README.md", "scripts/README.md", "docs/writing-strategies.md", "docs/report.md"}
	if wholeSets {
		pages = append(pages, "docs/reading-results.md", "docs/commands.md", "docs/analysis.md", "docs/sequential.md")
	}
	for _, page := range pages {
		steps = append(steps, stepsOf(t, page)...)
	}
	compared, played := 0, map[string][]byte{}
	for _, s := range steps {
		if strings.Contains(s.command, "strategies new") { // it refuses to replace a script
			if err := os.Remove(filepath.Join(dir, "scripts/mine.lua")); err != nil {
				t.Fatal(err)
			}
		}
		if _, after, found := strings.Cut(s.command, "--out "); found && !strings.HasSuffix(s.command, ".parquet") {
			if err := os.RemoveAll(filepath.Join(dir, strings.Fields(after)[0])); err != nil {
				t.Fatal(err)
			}
		}
		command := quick(s.command)
		output, again := played[command]
		var err error
		if !again {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(self)+string(os.PathListSeparator)+os.Getenv("PATH"))
			output, err = cmd.CombinedOutput()
		}
		if !strings.Contains(command, "--out ") && (strings.HasPrefix(command, "strategylab experiment") || strings.HasPrefix(command, "strategylab league") || strings.HasPrefix(command, "strategylab strategies check")) {
			played[command] = output
		}
		if err != nil && !strings.Contains(s.command, "--assert") { // few leagues may not show what is asserted
			t.Errorf("%s: %s: %v\n%s", s.page, s.command, err, output)
			continue
		}
		shown := kinds(s.shown)
		if len(shown) == 0 {
			continue
		}
		compared++
		printed := kinds(string(output))
		if !slices.ContainsFunc(shown, func(line string) bool { return slices.Contains(printed, line) }) {
			t.Errorf("%s shows for %s\n%s\nbut it prints\n%s", s.page, s.command, s.shown, output)
		}
	}
	if wholeSets && len(steps) < 30 || compared < 1 {
		t.Errorf("the documentation has %d commands, and %d with output: the test does not read it", len(steps), compared)
	}
	t.Logf("%d commands, %d with output", len(steps), compared)
}
