package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

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
	line := regexp.MustCompile(`(?:go run \./cmd/)?strategylab (experiment|merge) ([^"\n]*(?:"\$[^"\n]*"[^"\n]*)*)`)
	for _, kind := range []string{"bash", "json", "yaml"} {
		calls := line.FindAllStringSubmatch(blocks[kind], -1)
		if len(calls) == 0 {
			t.Errorf("the %s block calls no experiment", kind)
		}
		for _, call := range calls {
			if call[1] == "experiment" && (!strings.Contains(call[2], "--shard ") || !strings.Contains(call[2], "--seed ")) {
				t.Errorf("the %s block plays no shard: %s", kind, call[0])
			}
			callable(t, app, "the "+kind+" block", strings.Fields(call[1]+" "+call[2]))
		}
	}
	for kind, same := range map[string]string{
		"bash": `--array=1-(\d+)[^/]*--shard "\$SLURM_ARRAY_TASK_ID/(\d+)"`,
		"json": `"completions": (\d+)[\s\S]*--shard \$\(\(JOB_COMPLETION_INDEX \+ 1\)\)/(\d+) `,
		"yaml": `shard: \[1[^\]]* (\d+)\][\s\S]*--shard \$\{\{ matrix.shard \}\}/(\d+) `,
	} {
		if m := regexp.MustCompile(same).FindStringSubmatch(blocks[kind]); m == nil || m[1] != m[2] {
			t.Errorf("the %s block starts another number of jobs than there are shards: %q", kind, m)
		}
	}
	if err := validate("testdata/job.schema.json", []byte(blocks["json"])); err != nil {
		t.Error(err)
	}
	broken := strings.Replace(blocks["json"], "restartPolicy", "restart", 1)
	if validate("testdata/job.schema.json", []byte(broken)) == nil {
		t.Error("the schema accepts a manifest without restartPolicy")
	}
}
