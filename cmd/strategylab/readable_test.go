package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
)

// readRun checks the files of a run as a stranger reads them: by the published schemas,
// which allow no property that they do not have, and with the reader of docs, which
// knows no more than host/results/FORMAT.md says. Without Python the reader is left out.
func readRun(dir string) error {
	for _, name := range []string{"plan", "summary", "mirrors"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if os.IsNotExist(err) && name == "mirrors" { // two players, or no report
			continue
		}
		if err != nil {
			return err
		}
		if err := validate("../../docs/schemas/"+name+".schema.json", text); err != nil {
			return fmt.Errorf("%s.json of %s: %w", name, dir, err)
		}
	}
	python, err := python()
	if err != nil {
		return nil
	}
	var summary struct{ Digest string }
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err == nil {
		err = json.Unmarshal(text, &summary)
	}
	if err != nil {
		return err
	}
	output, err := exec.Command(python, "../../docs/read_run.py", dir).CombinedOutput()
	if err == nil && !strings.HasSuffix(string(output), "\ndigest "+summary.Digest+"\n") {
		err = fmt.Errorf("it does not end with the digest %s", summary.Digest)
	}
	if err != nil {
		return fmt.Errorf("read_run.py %s: %w\n%s", dir, err, output)
	}
	return nil
}

// validate checks a document by a schema, by the library of the SDK of the Model Context
// Protocol, which is linked anyway.
func validate(name string, document []byte) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var doc any
	if err := json.Unmarshal(document, &doc); err != nil {
		return err
	}
	return resolved.Validate(doc)
}

// python returns the program that python3 stands for. Where that is a script that looks for
// one, it takes several times as long to start.
var python = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(path)), err
})

// readable checks that strangers can read runs: readable DIR...
func readable(ts *testscript.TestScript, _ bool, args []string) {
	for _, dir := range args {
		ts.Check(readRun(ts.MkAbs(dir)))
	}
}

// TestReadersNotice: a reader that is given other leagues than the summary is about
// says so, whether digest or points tell.
func TestReadersNotice(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	run1(t, dir, exitOK, "experiment", "--runs", "5", "--legs", "1", "--seed", "3", "--field", "random,role,hedge", "--quiet", "--out", "run")
	run := filepath.Join(dir, "run")
	if err := readRun(run); err != nil {
		t.Error(err)
	}
	sound, err := os.ReadFile(filepath.Join(run, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	for old, changed := range map[string]string{
		`"digest": "`: `"digest": "0`, `"matches": 10,`: `"matches": 11,`, `"points": {`: `"points": {"ours": true,`, `"tiers": [`: `"layers": [`,
	} {
		spoilt := strings.Replace(string(sound), old, changed, 1)
		if spoilt == string(sound) {
			t.Fatalf("%s is not in %s", old, sound)
		}
		write(t, run, "summary.json", spoilt)
		if _, missing := python(); missing == nil && readRun(run) == nil {
			t.Errorf("nobody noticed %s", changed)
		}
	}
}

// TestPythonPackage: what docs/python reads of a run agrees with what it reads of its exports.
func TestPythonPackage(t *testing.T) {
	t.Parallel()
	whole(t, "TestReadersNotice reads runs with Python")
	python := ""
	for _, name := range []string{"/usr/bin/python3", "python3"} { // a package of the system is for that of the system
		if exec.Command(name, "-c", "import pandas").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("no python3 with pandas: docs/python is not tried")
	}
	dir := t.TempDir()
	run1(t, dir, exitOK, "experiment", "--runs", "20", "--legs", "2", "--seed", "3", "--field", "random,role,hedge,always-odd", "--quiet", "--out", "run")
	for _, rows := range []string{"leagues", "pairs", "matches"} {
		for _, kind := range []string{"csv", "json", "ndjson"} {
			run1(t, dir, exitOK, "export", "run", "--quiet", "--rows", rows, "--out", rows+"."+kind)
		}
	}
	cmd := exec.Command(python, "../../docs/python/test_strategylab.py", dir)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if output, err := cmd.CombinedOutput(); err != nil || string(output) != "4 players agree\n" {
		t.Errorf("%v: %s", err, output)
	}
}
