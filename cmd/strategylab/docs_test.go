package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

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
