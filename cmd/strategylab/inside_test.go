package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

// lockedBuffer is written by others while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string { return b.from(0) }

// from returns what has been written after some bytes.
func (b *lockedBuffer) from(at int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf.Bytes()[at:])
}

// in is a process in a folder, without terminals and variables.
func in(dir string) command.Process { return command.Process{Lab: lab.Lab{Dir: dir}} }

// with is in, for a program that starts others for its strategies.
func with(dir string) command.Process {
	p := in(dir)
	p.Exe = os.Args[0]
	p.Lab = p.WithLoader()
	return p
}

// inside runs a command line in this process, as p. A clock, seeds and variables that p does
// not have are the real ones, 512 and none.
func inside(ctx context.Context, p command.Process, args ...string) (code int, stdout, stderr string) {
	var o, e lockedBuffer
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Entropy == nil {
		p.Entropy = func() (uint64, error) { return 1 << 20, nil }
	}
	if p.Env == nil {
		p.Env = func(string) string { return "" }
	}
	p.Args, p.Stdin, p.Stdout, p.Stderr = append([]string{"strategylab"}, args...), strings.NewReader(""), &o, &e
	p.CheckTime, p.ForBatch, p.ForLive = unhurried.check, func() {}, func() {}
	code = run(ctx, p)
	return code, o.String(), e.String()
}

// startsProcesses has the lines of a script that follow load and play strategies in other
// processes, as those of users do, and plugins play: processes.
func startsProcesses(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("PROCESSES", "yes") }

// runLine runs a line of a script in this process and returns its exit code.
func runLine(ts *testscript.TestScript, args []string) int {
	p := in(ts.MkAbs("."))
	if ts.Getenv("PROCESSES") != "" {
		p = with(ts.MkAbs("."))
	}
	p.Entropy, p.Env = entropy, ts.Getenv
	code, stdout, stderr := inside(context.Background(), p, args...)
	_, _ = ts.Stdout().Write([]byte(stdout))
	_, _ = ts.Stderr().Write([]byte(stderr))
	return code
}

// succeeds runs a command line that must succeed, or fail: [!] lab ARG...
func succeeds(ts *testscript.TestScript, neg bool, args []string) {
	if code := runLine(ts, args); neg != (code != 0) {
		ts.Fatalf("exit code %d", code)
	}
}

// fetch sends a request with headers, each followed by its value, and returns the answer. An empty value is no header.
func fetch(ctx context.Context, method, url, body string, header ...string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}
