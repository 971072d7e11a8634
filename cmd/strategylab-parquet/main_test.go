package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("STRATEGYLAB_TEST_MAIN") != "" {
		main()
		return
	}
	if err := os.Setenv("STRATEGYLAB_TEST_MAIN", "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestProgram runs the program with input that is whole, that is cut off, and by hand.
func TestProgram(t *testing.T) {
	t.Parallel()
	const head = `{"rows":"leagues","plan":{}}` + "\n"
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
