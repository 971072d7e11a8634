package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("STRATEGYLAB_TEST_MAIN") != "" {
		main()
		return
	}
	must(0, os.Setenv("STRATEGYLAB_TEST_MAIN", "1"))
	os.Exit(m.Run())
}

// TestProgram runs the program with input that is whole, that is cut off, and by hand.
func TestProgram(t *testing.T) {
	t.Parallel()
	const head = `{"columns":[{"name":"league","type":"int32"}]}` + "\n"
	for _, c := range []struct {
		in             string
		args           []string
		code           int
		stdout, stderr string
	}{
		{head, nil, 0, "PAR1", ""},
		{head + `{"league":1`, nil, 1, "", "strategylab-parquet: read row 0: unexpected EOF\n"},
		{head, []string{"--help"}, 2, "", "strategylab-parquet: other programs start this one; run strategylab export DIR --out leagues.parquet\n"},
	} {
		var stdout, stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), os.Args[0], c.args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.in), &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if cmd.ProcessState.ExitCode() != c.code || !strings.HasPrefix(stdout.String(), c.stdout) || stderr.String() != c.stderr {
			t.Errorf("%q %q: %v, it prints %q and %q", c.args, c.in, err, stdout.String(), stderr.String())
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":               "read header: EOF",
		`{"columns":[]}`: "read header: it has no columns",
		`{"columns":[{"name":"x","type":"date"}]}`:                       `read header: column "x" is of type "date"; want int32, *int32, float64 or string`,
		`{"columns":[{"name":"x","type":"int32"}]}` + `{"x":"first"}`:    "read row 0: json: ",
		`{"columns":[{"name":"x","type":"int32"}]}` + `{"x":1}{"x":null`: "read row 1: unexpected EOF",
	} {
		if err := write(io.Discard, strings.NewReader(in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

// rowsOf are the rows of a file, each as JSON, and its metadata.
func rowsOf(file []byte) (rows []string, f *parquet.File) {
	f = must(parquet.OpenFile(bytes.NewReader(file), int64(len(file))))
	in := parquet.NewReader(bytes.NewReader(file))
	for {
		row := map[string]any{}
		err := in.Read(&row)
		if err == io.EOF {
			return rows, f
		}
		rows = append(rows, string(must(json.Marshal(must(row, err)))))
	}
}

// Rows of many row groups come back as they went in.
func TestRowGroups(t *testing.T) {
	t.Parallel()
	var in, out bytes.Buffer
	in.WriteString(`{"columns":[{"name":"league","type":"int32"},{"name":"number","type":"*int32","encoding":"optional"}],"metadata":{"plan":"{}"}}` + "\n")
	var want []string
	for i := range rowGroup + 10 {
		number := "null"
		if i%3 == 0 {
			number = fmt.Sprint(i % 7)
		}
		want = append(want, fmt.Sprintf(`{"league":%d,"number":%s}`, i, number))
		in.WriteString(want[i] + "\n")
	}
	must(0, write(&out, &in))
	rows, f := rowsOf(out.Bytes())
	if plan, _ := f.Lookup("plan"); !reflect.DeepEqual(rows, want) || len(f.RowGroups()) != 2 || plan != "{}" {
		t.Errorf("%d rows in %d groups for the plan %q", len(rows), len(f.RowGroups()), plan)
	}
}

// TestExport has the strategylab of this checkout export a run with the program, and as NDJSON.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := func(name string, args ...string) []byte {
		t.Helper()
		var stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", args, err, stderr.String())
		}
		return out
	}
	lab, run := filepath.Join(dir, "strategylab"), filepath.Join(dir, "run")
	command("go", "-C", "../..", "build", "-o", lab, "./cmd/strategylab")
	must(0, os.Symlink(must(os.Executable()), filepath.Join(dir, "strategylab-parquet")))
	command(lab, "experiment", "--runs", "20", "--seed", "1", "--field", "random,markov-2,always-odd,role", "--no-report", "--quiet", "--out", run)
	var plan bytes.Buffer
	must(0, json.Compact(&plan, must(os.ReadFile(filepath.Join(run, "plan.json")))))
	for _, kind := range []string{"leagues", "pairs", "matches"} {
		path := filepath.Join(dir, kind+".parquet")
		command(lab, "export", run, "--rows", kind, "--out", path, "--quiet")
		rows, f := rowsOf(must(os.ReadFile(path)))
		lines := strings.Split(strings.TrimSpace(string(command(lab, "export", run, "--rows", kind, "--format", "ndjson"))), "\n")
		if len(rows) != len(lines) {
			t.Fatalf("%s: %d rows, want %d", kind, len(rows), len(lines))
		}
		for i, line := range lines {
			var row, want map[string]any
			if err := errors.Join(json.Unmarshal([]byte(rows[i]), &row), json.Unmarshal([]byte(line), &want)); err != nil || !reflect.DeepEqual(row, want) {
				t.Fatalf("%s, row %d: %s (%v), want %s", kind, i, rows[i], err, line)
			}
		}
		if kept, _ := f.Lookup("strategylab.plan"); kept != plan.String() {
			t.Errorf("%s: the plan is %s, want %s", kind, kept, plan.String())
		}
	}
}
