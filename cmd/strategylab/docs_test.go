package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// A choice and what was played are of two types, so that one for the other does not compile, says docs/plugins.md.
var _ = func(x any) bool {
	switch x.(type) {
	case strategies.Choice, game.Parity:
		return true
	}
	return false
}

// Every command line in the documentation names a command, and flags that the
// command has.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	app := newApp(&command.Process{})
	var pages []string
	for _, glob := range []string{"*.md", "docs/*.md", "docs/*/*.md", "scripts/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", glob))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	line := regexp.MustCompile("(?m)^ *(?:\\$ |go run \\./cmd/)?strategylab ([a-z].*)$|`(?:go run \\./cmd/)?strategylab ([a-z][^`]*)`")
	quoted := regexp.MustCompile(`'[^']*'`) // may be the command line of another program
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		for _, m := range line.FindAllStringSubmatch(joined, -1) {
			words, _, _ := strings.Cut(m[1]+m[2], "  ") // a description follows
			fields := strings.Fields(quoted.ReplaceAllString(words, "TEXT"))
			if strings.ContainsAny(words, "|,") && !strings.Contains(words, "--") || fields[0] == "is" {
				continue // a list of commands, or a sentence
			}
			checked++
			callable(t, app, page, fields)
		}
	}
	if checked < 80 {
		t.Errorf("the documentation has only %d command lines: the test does not read it", checked)
	}
}

// callable checks that words call a command, with flags that it has.
func callable(t *testing.T, app *cli.App, where string, words []string) {
	t.Helper()
	line, commands, cmd := strings.Join(words, " "), app.Commands, (*cli.Command)(nil)
	for len(words) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(words[0]) })
		if i < 0 {
			break
		}
		cmd, commands, words = commands[i], commands[i].Subcommands, words[1:]
	}
	if cmd == nil || len(commands) > 0 && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		if words[0] != "help" {
			t.Errorf("%s: there is no command %q", where, line)
		}
		return
	}
	for _, word := range words {
		flag, ok := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(strings.TrimRight(flag, ".,;:)"), "=")
		if !ok || flag == "" || flag == "help" {
			continue
		}
		if !slices.ContainsFunc(slices.Concat(cmd.Flags, app.Flags), func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) }) {
			t.Errorf("%s: %s has no flag --%s: strategylab %s", where, cmd.Name, flag, line)
		}
	}
}

// ourCalls are command lines of ours in a script or a manifest, up to the end of a command of the shell or of a list.
var ourCalls = regexp.MustCompile(`(?:\["strategylab", |\bstrategylab )("?[a-z][^;\]\n]*)`)

// The manifests in docs/examples/cluster keep the schemas of Kubernetes, KEDA and
// Compose, as far as testdata/cluster.schema.json describes them, call commands that
// exist with flags that they have, and set variables that are read.
func TestClusterManifests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/examples/cluster/*.json")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	app := newApp(&command.Process{})
	read := map[string]bool{}
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			read[command.Variable(f.Names()[0])] = true
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keeps(t, "testdata/cluster.schema.json", text, `"image"`)
		if n := calls(t, app, file, string(text)); n < 3 {
			t.Errorf("%s: %d commands were checked", file, n)
		}
		variables := regexp.MustCompile(`STRATEGYLAB_[A-Z_]+`).FindAllString(string(text), -1)
		for _, name := range variables {
			if !read[name] {
				t.Errorf("%s: nothing reads %s", file, name)
			}
		}
		if len(variables) < 2 {
			t.Errorf("%s has the variables %q", file, variables)
		}
	}
}

// keeps checks a document by a schema that does not accept it with another member in place of one.
func keeps(t *testing.T, schema string, document []byte, member string) {
	t.Helper()
	if err := validate(schema, document); err != nil {
		t.Error(err)
	}
	if validate(schema, bytes.Replace(document, []byte(member), []byte(`"another"`), 1)) == nil {
		t.Errorf("%s accepts a document without %s", schema, member)
	}
}

// calls checks the command lines of a text and returns how many there are.
func calls(t *testing.T, app *cli.App, where, text string) (n int) {
	t.Helper()
	for _, m := range ourCalls.FindAllStringSubmatch(text, -1) {
		callable(t, app, where, strings.Fields(strings.NewReplacer(`", "`, " ", `"`, "").Replace(m[1])))
		n++
	}
	return n
}

// The jobs on the page about shards call commands that exist with flags that they have,
// for as many shards as they start. The manifest is one of a Kubernetes Job, as far as
// testdata/job.schema.json describes it.
func TestDocumentedJobs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/shards.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, m := range fenced.FindAllSubmatch(text, -1) {
		blocks[string(m[2])] = strings.ReplaceAll(string(m[3]), "\\\n", " ")
	}
	app := newApp(&command.Process{})
	for kind, same := range map[string]string{
		"bash": `--array=1-(\d+)[^/]*--seed [^/]*--shard "\$SLURM_ARRAY_TASK_ID/(\d+)"`,
		"json": `"completions": (\d+)[\s\S]*--seed [\s\S]*--shard \$\(\(JOB_COMPLETION_INDEX \+ 1\)\)/(\d+) `,
		"yaml": `shard: \[1[^\]]* (\d+)\][\s\S]*--seed [\s\S]*--shard \$\{\{ matrix.shard \}\}/(\d+) `,
	} {
		if calls(t, app, "the "+kind+" block", blocks[kind]) == 0 {
			t.Errorf("the %s block calls no command", kind)
		}
		if m := regexp.MustCompile(same).FindStringSubmatch(blocks[kind]); m == nil || m[1] != m[2] {
			t.Errorf("the %s block starts another number of jobs than there are shards: %q", kind, m)
		}
	}
	keeps(t, "testdata/job.schema.json", []byte(blocks["json"]), `"restartPolicy"`)
}

// What a page has of commands: a fenced block of sh is typed as it stands. A comment
// above it says why it is not, or with which code its last command exits.
var (
	fenced     = regexp.MustCompile("(?ms)^(?:<!-- ([^\n]*) -->\n)?```(\\w*)\n(.*?)^```$")
	isCommand  = regexp.MustCompile(`(?m)^(\$ |\./)?(strategylab|go|claude|curl|npx|docker|python3|cp|export|source) [a-z-]`)
	lasting    = regexp.MustCompile(`\bstrategylab (host|player|manager|referee|studio|worker|broker|mcp .*--http|experiment .*--w(eb|atch))\b`)
	persisting = regexp.MustCompile(`^(export |cd |\w+=)`)
	begun      = regexp.MustCompile(`http://|nats://|Listening|waiting`)
	someRun    = regexp.MustCompile(`--(runs|max-runs|matches) [0-9]+`)
	numbers    = regexp.MustCompile(`[0-9][0-9.,]*`)
)

// quick shortens a command: what is documented with a thousand leagues works with a
// few, if it has flags for more than that. A benchmark need not be precise.
func quick(command string) string {
	command, _, _ = strings.Cut(command, "  #")
	command = strings.Replace(command, "go run ./cmd/strategylab", "strategylab", 1) // make readme does
	command = strings.Replace(command, "go build -o strategylab ./cmd/strategylab", `ln -s "$(command -v strategylab)" .`, 1)
	if strings.HasPrefix(command, "strategylab tune") && !strings.Contains(command, "--resume") {
		return command + " --runs 120 --confirm 64 --legs 2"
	}
	few := "20"
	if strings.Contains(command, "--shard") {
		few = "192" // 64 for each
	}
	command = someRun.ReplaceAllString(command, "--$1 "+few)
	if strings.HasPrefix(command, "strategylab experiment") && !strings.Contains(command, "--legs") && !strings.Contains(command, "--resume") {
		command += " --legs 2"
	}
	switch {
	case strings.Contains(command, " --until ") || strings.Contains(command, " --sprt "):
		command += " --max-runs 4"
	case strings.HasPrefix(command, "strategylab experiment") && !strings.Contains(command, "--r"):
		command += " --runs " + few
	case strings.HasPrefix(command, "strategylab strategies bench"):
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

// desk is where the commands of one page are typed: a new clone, and a network in which every port is free.
type desk struct {
	*testing.T
	dir   string
	enter []string // enters the network
	left  []func() // stops what runs until it is stopped
}

// newDesk returns a desk with the strategy of your own that docs/README.md speaks of, and with the commands
// strategylab, claude, which starts the server that it would add, and xdg-open.
func newDesk(t *testing.T, serves bool) *desk {
	d := &desk{T: t, dir: t.TempDir()}
	files, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		t.Skip("no git repository to clone: ", err)
	}
	for name := range strings.Lines(string(files)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(d.dir, name)), 0o755), os.WriteFile(filepath.Join(d.dir, name), text, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	const mine = "function choose(turn)\n  local last = turn.history[#turn.history]\n  if last == nil or last.opponent_choice == nil then return 0.5 end\n" +
		"  if last.opponent_choice == 'even' then return 'odd' end\n  return 'even'\nend\n"
	write(t, d.dir, "scripts/mine.lua", mine)
	write(t, d.dir, "drafts/new.lua", "-- New: like mine.\n"+mine)
	bin := t.TempDir()
	program(t, bin)
	for name, text := range map[string]string{
		"claude":   "while [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done\n[ $# = 0 ] || { shift; exec \"$@\" </dev/null; }\n",
		"xdg-open": "test -s \"$1\"\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.enter = []string{"env", "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "GOBIN=" + t.TempDir(), "GOFLAGS=-trimpath"}
	if serves {
		network := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat")
		in, err := network.StdinPipe()
		out, err2 := network.StdoutPipe()
		if err = errors.Join(err, err2, network.Start()); err == nil {
			_, err = io.ReadFull(out, make([]byte, 3))
			t.Cleanup(func() { _ = in.Close(); _ = network.Wait() })
		}
		if err != nil {
			t.Skip("no network of its own, where the ports are free: ", err)
		}
		d.enter = append([]string{"nsenter", "--preserve-credentials", "--user", "--net", "--target", fmt.Sprint(network.Process.Pid)}, d.enter...)
	}
	return d
}

// process is a command of the page.
func (d *desk) process(ctx context.Context, shell, command string) (*exec.Cmd, *lockedBuffer) {
	out := new(lockedBuffer)
	cmd := exec.CommandContext(ctx, d.enter[0], append(d.enter[1:], shell, "-c", command)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, out, out
	return cmd, out
}

// has says that there is a command.
func (d *desk) has(shell, name string) bool {
	if strings.Contains(name, "/") {
		return true
	}
	cmd, _ := d.process(d.Context(), shell, "command -v "+name)
	return cmd.Run() == nil
}

// leave starts what runs until it is stopped, waits until it has begun, and stops it when the page ends.
func (d *desk) leave(shell, command string) {
	cmd, out := d.process(d.Context(), shell, command)
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	var ended errgroup.Group
	gone := make(chan struct{})
	ended.Go(func() error { defer close(gone); return cmd.Wait() })
	d.left = append(d.left, func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended by itself
		var exit *exec.ExitError
		if err := ended.Wait(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 4) {
			d.Errorf("%s: %v\n%s", command, err, out)
		}
	})
	until(d.T, command, func() bool {
		select {
		case <-gone:
			return true
		default:
			return begun.MatchString(out.String())
		}
	})
}

// TestDocumentedCommandsRun types every command of the documentation as it is written, those of a page in
// order and in a new clone; only what takes thousands of leagues takes fewer. What is shown as output has a
// line, numbers aside, that the command prints. A plain run reads a page that builds nothing.
func TestDocumentedCommandsRun(t *testing.T) {
	notRaced(t, "processes of their own, one after the other: scripts run the same commands under the race detector")
	t.Parallel()
	pages := []string{"docs/report.md"}
	if wholeSets {
		pages = []string{"README.md", "CONTRIBUTING.md", "scripts/README.md"}
		for _, glob := range []string{"docs/*.md", "docs/*/*.md"} {
			found, err := filepath.Glob("../../" + glob)
			if err != nil {
				t.Fatal(err)
			}
			for _, page := range found {
				pages = append(pages, filepath.ToSlash(page[len("../../"):]))
			}
		}
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			typePage(t, page)
		})
	}
}

func typePage(t *testing.T, page string) {
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	var d *desk
	blocks := fenced.FindAllSubmatchIndex(text, -1)
	part := func(block, group int) string {
		if at := blocks[block][2*group : 2*group+2]; at[0] >= 0 {
			return string(text[at[0]:at[1]])
		}
		return ""
	}
	for k := range blocks {
		mark, shell, block := part(k, 1), part(k, 2), part(k, 3)
		if isCommand.MatchString(block) && shell == "" {
			t.Errorf("this block has commands: mark it as sh, so that they are tried\n%s", block)
		}
		if shell != "sh" && shell != "bash" || strings.HasPrefix(mark, "not run: ") {
			continue
		}
		if d == nil {
			d = newDesk(t, lasting.Match(text))
		}
		shown := ""
		if k+1 < len(blocks) && part(k+1, 2) == "" && blocks[k+1][0]-blocks[k][1] < 100 {
			shown = part(k+1, 3)
		}
		code := 0
		_, _ = fmt.Sscanf(mark, "exits with %d: ", &code)
		d.typeBlock(shell, block, shown, code)
	}
	if d == nil && page == "docs/report.md" {
		t.Error("no command was found: the test does not read the page")
	}
	for ; d != nil && len(d.left) > 0; d.left = d.left[:len(d.left)-1] {
		d.left[len(d.left)-1]()
	}
}

// typeBlock types the commands of a block. The last one prints a line of what is shown, and exits with the code.
func (d *desk) typeBlock(shell, block, shown string, code int) {
	before, output, last, got := "", "", "", 0
	for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case persisting.MatchString(line):
			before += line + "\n"
		case !d.has(shell, strings.Fields(line)[0]):
			d.Logf("no %s: not tried: %s", strings.Fields(line)[0], line)
			return
		case lasting.MatchString(line):
			d.leave(shell, before+"exec "+quick(strings.TrimSuffix(line, "&")))
		default:
			if got != 0 {
				d.Errorf("%s: exit code %d\n%s", last, got, output)
			}
			if _, script, ok := strings.Cut(line, "strategies new "); ok { // it refuses to replace one
				_ = os.Remove(filepath.Join(d.dir, strings.Fields(script)[0]))
			}
			last = before + quick(line)
			cmd, out := d.process(d.Context(), shell, last)
			err := cmd.Run()
			output, got = out.String(), cmd.ProcessState.ExitCode()
			if err != nil && strings.Contains(last, "--assert") && (got == 5 || got == 6) {
				got = 0 // few leagues may not show what is asserted
			}
		}
	}
	if got != code {
		d.Errorf("%s: exit code %d, want %d\n%s", last, got, code, output)
	}
	if want := kinds(shown); last != "" && len(want) > 0 {
		printed := kinds(output)
		if !slices.ContainsFunc(want, func(line string) bool { return slices.Contains(printed, line) }) {
			d.Errorf("the page shows for %s\n%s\nbut it prints\n%s", last, shown, output)
		}
	}
}
