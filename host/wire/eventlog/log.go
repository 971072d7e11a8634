package eventlog

import (
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Folder is where the logs lie below a data directory.
const Folder = "runs/mcp_server/envelope_validation"

// What a zero in Config stands for.
const (
	DefaultMaxFile  = 8 << 20
	DefaultMaxFiles = 8
	DefaultFlush    = time.Second
	maxPending      = 1 << 20 // bytes that wait to be written; beyond that records are dropped
	writeAt         = 64 << 10
)

// Config configures a Log. Only Data is required.
type Config struct {
	// Data is the data directory; the files lie in Folder of it.
	Data string
	// Seed makes the log deterministic; empty for an ordinary one.
	Seed string
	// MaxFile is the size in bytes at which a file is followed by another,
	// MaxFiles the number of files that are kept, this one included.
	MaxFile  int64
	MaxFiles int
	// Flush is how long a record waits at most before it is written.
	Flush time.Duration
	// Lazy leaves folder and file to be made for the first record.
	Lazy bool
	// Now tells the time; nil for the system's clock.
	Now func() time.Time
	// Log is told what is wrong with the log itself; nil for nobody.
	Log *slog.Logger
}

// A Log is a log that is being written. It is safe for concurrent use.
type Log struct {
	cfg   Config
	now   func() time.Time
	newID func() string
	files *files // belongs to the writer; with a seed, to who holds mu

	mu      sync.Mutex
	clock   clock
	pending []byte
	dropped int64
	closed  bool

	began, full, stop chan struct{}
	writer            sync.WaitGroup

	failed, troubled sync.Once // each is told once
}

// epoch is the time that stands still in deterministic logs.
func epoch() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// Open opens a log in a data directory, making the folder if need be. Close
// must be called.
func Open(cfg Config) (*Log, error) {
	cfg.MaxFile = cmp.Or(cfg.MaxFile, DefaultMaxFile)
	cfg.MaxFiles = cmp.Or(cfg.MaxFiles, DefaultMaxFiles)
	cfg.Flush = cmp.Or(cfg.Flush, DefaultFlush)
	if cfg.MaxFile < 0 || cfg.MaxFiles < 0 || cfg.Flush < 0 {
		return nil, fmt.Errorf("validation log: sizes and times cannot be negative")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Log{
		cfg: cfg, now: cfg.Now, newID: jsonrpc.RandomID,
		began: make(chan struct{}, 1), full: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	if l.now == nil {
		l.now = time.Now
	}
	stem := l.now().UTC().Format("20060102T150405Z") + "-" + jsonrpc.RandomID()[:4]
	if cfg.Seed != "" {
		l.now, l.newID, stem = epoch, jsonrpc.SequentialIDs(cfg.Seed), deterministicStem
	}
	l.files = &files{dir: filepath.Join(cfg.Data, filepath.FromSlash(Folder)), stem: stem, maxFile: cfg.MaxFile, maxFiles: cfg.MaxFiles, symlink: symlink}
	if !cfg.Lazy {
		if err := l.files.next(); err != nil {
			return nil, fmt.Errorf("validation log: %w", err)
		}
	}
	if cfg.Seed == "" {
		l.writer.Go(l.write)
	}
	return l, nil
}

// Name returns the path of the file that the log began with.
func (l *Log) Name() string { return filepath.Join(l.files.dir, l.files.name(1)) }

// Append adds a record. It never waits for the disk, but where the log is
// deterministic; a record for which there is no room is dropped and counted.
func (l *Log) Append(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.pending) >= maxPending {
		l.dropped++
		return
	}
	first := len(l.pending) == 0
	l.pending = l.appendRecord(l.pending, &r)
	switch {
	case l.cfg.Seed != "":
		l.dropped += l.put(l.pending)
		l.pending = l.pending[:0]
	case len(l.pending) >= writeAt:
		wake(l.full)
	case first:
		wake(l.began)
	}
}

// wake leaves a word on a channel with room for one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write writes what gathers, until the log is closed.
func (l *Log) write() {
	var spare []byte
	flush := func() {
		l.mu.Lock()
		chunk := l.pending
		l.pending = spare[:0]
		l.mu.Unlock()
		lost := l.put(chunk)
		spare = chunk
		if lost > 0 {
			l.mu.Lock()
			l.dropped += lost
			l.mu.Unlock()
		}
	}
	defer flush()
	for {
		select {
		case <-l.full:
		case <-l.began:
			if !l.gather() {
				return
			}
		case <-l.stop:
			return
		}
		flush()
	}
}

// gather waits until it is time to write what has begun to gather. It reports
// whether the log goes on.
func (l *Log) gather() bool {
	timer := time.NewTimer(l.cfg.Flush)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.full:
	case <-l.stop:
		return false
	}
	return true
}

// put writes lines and returns how many of them were lost.
func (l *Log) put(lines []byte) int64 {
	for len(lines) > 0 {
		n, err := l.files.write(lines)
		if err != nil {
			l.failed.Do(func() {
				l.cfg.Log.Warn("the validation log cannot be written; its records are dropped until it can be", "error", err)
			})
			return int64(bytes.Count(lines, []byte{'\n'}))
		}
		l.look()
		lines = lines[n:]
	}
	return 0
}

// look tells what is wrong beside the writing itself.
func (l *Log) look() {
	if l.files.trouble != nil {
		l.troubled.Do(func() {
			l.cfg.Log.Warn("the folder of the validation log cannot be kept in order", "error", l.files.trouble)
		})
	}
}

// Dropped returns how many records were lost so far: there was no room for
// them, the disk would not take them, or they came after Close.
func (l *Log) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Close writes what is left and ends the log. What could not be written is said
// to Config.Log. Records that come later are dropped. It is called once.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	close(l.stop)
	l.writer.Wait()
	if err := l.files.close(); err != nil {
		l.cfg.Log.Warn("the validation log cannot be closed", "error", err)
	}
	if n := l.Dropped(); n > 0 {
		l.cfg.Log.Warn("records are missing from the validation log", "dropped", n, "folder", l.files.dir)
	}
}
