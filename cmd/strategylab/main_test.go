package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/cluster/broker"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

// wholeSets says that tests leave nothing out, however long that takes.
var wholeSets = os.Getenv("WHOLE_TESTS") != ""

// whole skips a test in a plain run, and says what of it other tests show.
func whole(t *testing.T, others string) {
	t.Helper()
	if !wholeSets {
		t.Skip(others + "; WHOLE_TESTS=1 shows the rest")
	}
}

// oneWorker is a variable that a plain run sets to 1, since most experiments of tests play fewer leagues than it
// costs to start a worker for each processor.
const oneWorker = "STRATEGYLAB_WORKERS"

// ownProcesses is why a test is not run under the race detector whose processes share nothing with it.
const ownProcesses = "tests of packages race the goroutines of what it starts"

// notRaced skips a test under the race detector, which makes it ten times as slow, and says why.
func notRaced(t *testing.T, why string) {
	t.Helper()
	if raced {
		t.Skip(why)
	}
}

// TestMain lets the test binary be the program and the processes that it starts, and the programs that come with it:
// strategylab finds them on PATH. Their main functions have tests of their own. Tests wait for processes, so more
// of them run at once than there are processors.
func TestMain(m *testing.M) {
	if new(lab.Lab).Service(os.Args) != nil {
		os.Exit(realMain(unhurried))
	}
	if !wholeSets {
		_ = os.Setenv(oneWorker, "1")
	}
	debug.SetGCPercent(800) // the tests together keep little alive

	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil { // -parallel overrides it
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"strategylab": func() {
			limitFiles()
			code := realMain(unhurried)
			tellPeak()
			os.Exit(code)
		},
		"strategylab-broker":  func() { exit(broker.Serve(os.Stdin, os.Stdout)) },
		"strategylab-parquet": serveParquet,
		"exiting":             serveExiting,
	})
}

// unhurried is the patience of the processes of tests: longer than that of a user, since a
// test must not fail because the machine is busy.
var unhurried = patience{stop: 5 * time.Minute, check: 5 * time.Minute}

// exit ends a process with what its work comes to.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// scripts are the scripts of a run. Under the race detector they are those in which servers
// and clients run beside the test: what the others start runs in processes alone, and tests of
// packages have its goroutines raced. What a plain run shows, a whole one does not again.
func scripts(t *testing.T) (files []string) {
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	wanted := ""
	switch {
	case raced:
		wanted = `(?m)^(serving|hosting|broker|worker|foreign) `
	case wholeSets:
		wanted = `(?m)^\[!?whole\] `
	}
	chosen := regexp.MustCompile(wanted)
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if chosen.Match(text) {
			files = append(files, file)
		}
	}
	return files
}

// TestScript runs whole command lines, each script in a folder of its own: "exec strategylab"
// starts a process, and the lines of "lab" run in this one.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(oneWorker, os.Getenv(oneWorker))
			env.Values[hostsKey{}] = map[string]*process{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "raced": // a process has several times its memory, so that a script ends it which would otherwise be warned
				return raced, nil
			case "whole":
				return wholeSets, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"digest":     sameDigest,
			"truncate":   truncate,
			"misleads":   misleads,
			"damage":     damage,
			"serving":    serving,
			"foreign":    foreign,
			"port":       freePort,
			"lab":        succeeds,
			"code":       exitsWith,
			"processes":  startsProcesses,
			"hosting":    hosting,
			"ended":      ended,
			"posting":    posting,
			"readable":   readable,
			"verifiable": verifiable,
			"module":     writeModule,
			"broker":     scriptBroker,
			"worker":     worker,

			"wildplayer": wildPlayer,

			"same-but-time": sameButTime,
		},
	})
}

// exitsWith runs a command line that must end with an exit code: code N ARG...
func exitsWith(ts *testscript.TestScript, _ bool, args []string) {
	if got := runLine(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// sameDigest compares the digests of JSON documents: digest FILE FILE...
func sameDigest(ts *testscript.TestScript, neg bool, args []string) {
	digests := map[string]bool{}
	for _, file := range args {
		var doc struct{ Digest string }
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &doc))
		if len(doc.Digest) != 64 {
			ts.Fatalf("%s has the digest %q", file, doc.Digest)
		}
		digests[doc.Digest] = true
	}
	if same := len(digests) == 1; same == neg {
		ts.Fatalf("digests: %v", digests)
	}
}

// truncate cuts bytes off the end of a file: truncate FILE N.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}

// damage changes a byte in the middle of a file: damage FILE.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	text[len(text)/2] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
