package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// verifiable runs the lines of Python in docs/draws.md on a recording in which all draws
// are verifiable, and on a copy, changed.jsonl, in which one number is another:
// verifiable FILE DRAWS. Without Python only the copy is made.
func verifiable(ts *testscript.TestScript, _ bool, args []string) {
	recording := ts.ReadFile(args[0])
	drawn := regexp.MustCompile(`"match_id":"R1M1"[^\n]*?"drawn_number":(\d+)`).FindStringSubmatch(recording)
	n, err := strconv.Atoi(drawn[1])
	ts.Check(err)
	changed := regexp.MustCompile(`("match_id":"R1M1"[^\n]*?"drawn_number":)\d+`).ReplaceAllString(recording, "${1}"+strconv.Itoa((n+1)%10+1))
	ts.Check(os.WriteFile(ts.MkAbs("changed.jsonl"), []byte(changed), 0o600))
	python, err := python()
	if err != nil {
		ts.Logf("no python3: the lines in docs/draws.md are not tried")
		return
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "draws.md"))
	ts.Check(err)
	_, code, _ := strings.Cut(string(page), "```python\n")
	code, _, _ = strings.Cut(code, "```\n")
	all, err := strconv.Atoi(args[1])
	ts.Check(err)
	for file, verified := range map[string]int{args[0]: all, "changed.jsonl": all - 1} {
		output, err := exec.Command(python, "-c", code, ts.MkAbs(file)).CombinedOutput()
		ts.Check(err)
		if want := strconv.Itoa(verified) + " of " + args[1] + " draws verified\n"; string(output) != want {
			ts.Fatalf("%s: python says %q, want %q", file, output, want)
		}
	}
}
