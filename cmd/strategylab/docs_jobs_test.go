package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

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
