// Command strategylab is a lab for strategies in the league.v2 Even/Odd agent
// league. Run "strategylab help" for what it does.
package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

func main() { os.Exit(realMain()) }

// realMain is the only function that touches process globals: everything it
// finds there is handed on as a value, so that tests can hand on another.
func realMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	exe, _ := os.Executable()    // without it, strategies in other processes are left out
	return run(ctx, command.Process{
		Lab:      lab.Lab{Exe: exe, Now: time.Now, Entropy: entropy},
		Args:     os.Args,
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: isTerminal(os.Stderr),
		Columns:  columns(os.Getenv("COLUMNS")),
		ForBatch: forBatch,
		ForLive:  forLive,
	})
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func columns(env string) int {
	if n, err := strconv.Atoi(env); err == nil && n > 0 {
		return n
	}
	return 80
}

// entropy returns a seed that nobody can guess.
func entropy() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(b[:]), nil
}

// forBatch lets the heap grow to many times what is live before it is
// collected, up to a limit: with thousands of short-lived script VMs that saves
// a quarter of the processors' time. The limit keeps a large field from paying
// for it with memory.
func forBatch() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1600)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(192 << 20)
	}
}

// forLive lets the heap of agents grow as well: it is a few megabytes, which
// would be collected over and over. That saves a quarter of what a message
// costs. The limit is for hosts of large leagues.
func forLive() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(256 << 20)
	}
}
