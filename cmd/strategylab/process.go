package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"
)

// process is what the program may use of the process it runs in.
type process struct {
	args           []string
	exe            string // this program; empty if that is not known
	dir            string // relative paths are meant from here; empty for the working directory
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       bool // stderr is one
	columns        int  // width of the terminal in characters
	now            func() time.Time
	entropy        func() (uint64, error)
	forBatch       func() // tunes the process for batch work
	forLive        func() // tunes the process for messages
}

// path returns where the user meant by a path given on the command line.
func (p *process) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

// width is what fits a line of the terminal in characters; 0 if there is none.
func (p *process) width() int {
	if p.terminal {
		return p.columns
	}
	return 0
}

// logger writes people's log lines to stderr.
func (p *process) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}

// warn tells the user something that does not stop the command.
func (p *process) warn(format string, args ...any) {
	fmt.Fprintf(p.stderr, "strategylab: warning: "+format+"\n", args...)
}

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, p process) int {
	app := newApp(&p)
	args := reorder(app, p.args)
	err := app.RunContext(ctx, args)
	if err != nil && !isReported(err) {
		fmt.Fprintf(p.stderr, "strategylab: %v\n", err)
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(p.stderr, "  %s\n", hint)
		}
	}
	return exitCode(err)
}
