package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/export/parquet"
)

// embedded is the command line of an experiment with a broker of its own and no workers. What a broker that is killed
// leaves is in the folder.
func embedded(t *testing.T, dir string) *exec.Cmd {
	e := commandLine(t.Context(), dir, "experiment", "--cluster", "embedded", "--workers", "0", "--runs", "10", "--field", "random,role", "--no-report")
	e.Env = append(os.Environ(), "TMPDIR="+dir)
	return e
}

// TestBrokerStops interrupts a broker, which removes its temporary folder.
func TestBrokerStops(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		cmd := commandLine(t.Context(), dir, "broker", "--listen", "127.0.0.1:0", "--quiet")
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		b, _ := startBroker(t, cmd)
		if kept, _ := filepath.Glob(filepath.Join(dir, "*", "token")); len(kept) != 1 {
			t.Errorf("the broker keeps its token in %q", kept)
		}
		b.signal(signal)
		if code := b.code(); code != exitStopped {
			t.Errorf("after %v: exit code %d", signal, code)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after %v the broker leaves %v, %v", signal, left, err)
		}
	}
}

// brokerOf returns the process of the broker that a program has started.
func brokerOf(t *testing.T, pid int) int {
	t.Helper()
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, child := range strings.Fields(string(children)) {
			line, err := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			if program, rest, _ := bytes.Cut(line, []byte{0}); err == nil && filepath.Base(string(program)) == "strategylab-broker" {
				if len(rest) > 0 {
					t.Errorf("the broker has the arguments %q, which everybody can read", rest)
				}
				broker, err := strconv.Atoi(child)
				if err != nil {
					t.Fatal(err)
				}
				return broker
			}
		}
	}
	t.Fatalf("process %d has no broker", pid)
	return 0
}

// TestBrokerIsLost kills brokers alone: what has started them says so and ends.
func TestBrokerIsLost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes of others are looked up in /proc")
	}
	dir := t.TempDir()
	broker := commandLine(t.Context(), dir, "broker", "--listen", "127.0.0.1:0")
	broker.Env = append(os.Environ(), "TMPDIR="+dir)
	for _, c := range []struct {
		cmd  *exec.Cmd
		code int
		says string
	}{
		{broker, exitFailure, `strategylab: the broker has ended \(signal: killed\)\n`},
		{embedded(t, dir), exitStopped, `strategylab: the broker has ended \(signal: killed\); what is complete is kept\n`},
	} {
		p := begin(t, c.cmd)
		p.err.until("start workers with")
		broker, err := os.FindProcess(brokerOf(t, p.Process.Pid))
		if err == nil {
			err = broker.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		if code := p.code(); code != c.code {
			t.Errorf("exit code %d, want %d", code, c.code)
		}
		p.err.until(c.says)
	}
}

// parquetVariable has strategylab-parquet fail or hang, for tests.
const parquetVariable = "PARQUET_TEST"

// serveParquet is the program strategylab-parquet.
func serveParquet() {
	switch os.Getenv(parquetVariable) {
	case "fails":
		exit(errors.New("strategylab-parquet: the disk is full"))
	case "hangs":
		for range time.Tick(time.Hour) { // until it is killed
		}
	}
	exit(parquet.Write(os.Stdout, os.Stdin))
}

// TestExportLeavesNothing exports with a program that fails and with one that never ends:
// no file stays that is not whole.
func TestExportLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run1(t, dir, exitOK, "experiment", "--runs", "10", "--field", "random,role", "--no-report", "--out", "run")
	left := func(what string) []string {
		found, _ := filepath.Glob(filepath.Join(dir, what))
		return found
	}
	for how, code := range map[string]int{"fails": exitUsage, "hangs": exitStopped} {
		cmd := commandLine(t.Context(), dir, "export", "run", "--out", "leagues.parquet")
		cmd.Env = append(os.Environ(), parquetVariable+"="+how)
		p := begin(t, cmd)
		if how == "fails" {
			p.err.until("strategylab: export run: exit status 1: strategylab-parquet: the disk is full\n")
		} else {
			until(t, "the file", func() bool { return len(left("leagues.parquet.*.part")) == 1 })
			p.signal(os.Interrupt)
		}
		if p.code() != code || len(left("leagues*")) > 0 {
			t.Errorf("a program that %s: %v, and it leaves %q", how, p.ProcessState, left("leagues*"))
		}
	}
}
