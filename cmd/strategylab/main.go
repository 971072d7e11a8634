// Command strategylab is a lab for strategies in the league.v2 Even/Odd agent
// league. Run "strategylab help" for what it does.
package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func main() { os.Exit(realMain(patience{stop: stopTime, check: lab.DefaultCheckTime})) }

// patience is how long a process takes at most for what a user waits for.
type patience struct {
	stop  time.Duration // to end after a signal
	check time.Duration // to check a strategy
}

// realMain runs the command line of this process.
func realMain(most patience) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := thisProcess()
	p.CheckTime = most.check
	if p.Service(p.Args) != nil {
		return run(ctx, p)
	}
	return stoppable(ctx, p, most.stop, func() int { return run(ctx, p) })
}

// thisProcess is the only function that reads process globals: everything it
// finds there is handed on as a value, so that tests can hand on another.
func thisProcess() command.Process {
	exe, _ := os.Executable() // without it, strategies in other processes are left out
	build, _ := debug.ReadBuildInfo()
	return command.Process{
		Lab:      lab.Lab{Exe: exe, Now: time.Now, Entropy: entropy, Code: codeFolder()}.WithLoader(),
		Args:     os.Args,
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Out:      terminal(os.Stdout),
		Err:      terminal(os.Stderr),
		Colour:   os.Getenv("NO_COLOR") == "" && capable(),
		Env:      os.Getenv,
		Build:    build,
		ForBatch: forBatch,
		ForLive:  forLive,
		Stage:    new(command.Stage),
	}
}

// terminal returns the size of the terminal that a file is.
func terminal(f *os.File) command.Terminal {
	if !term.IsTerminal(int(f.Fd())) {
		return command.Terminal{}
	}
	cursor := capable()
	if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
		return command.Terminal{Columns: columns, Rows: rows, Cursor: cursor}
	}
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || columns < 1 {
		columns = 80
	}
	return command.Terminal{Columns: columns, Rows: 24, Cursor: cursor}
}

// capable reports whether terminals understand control sequences. Those of Windows do
// so only on request.
func capable() bool { return os.Getenv("TERM") != "dumb" && runtime.GOOS != "windows" }

// codeFolder returns the folder for compiled scripts: that of the variable, none if it is
// empty, and by default one among the user's caches.
func codeFolder() string {
	if folder, set := os.LookupEnv(lab.CodeVariable); set {
		return folder
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(caches, "strategylab", "code")
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
