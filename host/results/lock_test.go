package results_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/results"
)

func TestOneWriterAtATime(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 3, "")
	path := create(t, plan, nil)
	d := open(t, path)
	_, err := results.Open(path)
	var locked *results.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), "by this process") {
		t.Errorf("error %v, want that this process holds %s", err, path)
	}
	r, err := results.OpenReader(path)
	if err != nil {
		t.Errorf("reading beside a writer: %v", err)
	} else {
		_ = r.Close()
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_ = open(t, path).Close() // free again
}

// TestLockDiesWithItsHolder has another process hold a directory and kills it.
func TestLockDiesWithItsHolder(t *testing.T) {
	const env = "STRATEGYLAB_TEST_HOLD"
	if path := os.Getenv(env); path != "" {
		if _, err := results.Open(path); err != nil {
			t.Fatal(err)
		}
		fmt.Println("holding")
		select {}
	}
	t.Parallel()
	path := create(t, testPlan(3, 1, 3, ""), nil)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockDiesWithItsHolder$")
	cmd.Env = append(os.Environ(), env+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	_, err = results.Open(path)
	want := fmt.Sprintf("by process %d;", cmd.Process.Pid)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says %q", err, want)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	open(t, path)
}
