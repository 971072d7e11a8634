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

// Folder is the folder of the logs below a data directory.
const Folder = "runs/mcp_server/envelope_validation"

// The defaults of Config.
const (
	DefaultMaxFile  = 8 << 20
	DefaultMaxFiles = 8
	DefaultFlush    = time.Second
	maxPending      = 1 << 20 // pending bytes; beyond that records are dropped
	writeAt         = 64 << 10
)

// Config configures a Log. Only Data is required.
type Config struct {
	// Data is the data directory.
	Data string
	// Seed makes the log deterministic; empty for an ordinary one.
	Seed string
	// MaxFile is the size of a full file in bytes, MaxFiles the number of files
	// that are kept, including the open one.
	MaxFile  int64
	MaxFiles int
	// Flush is the longest time that a record waits before it is written.
	Flush time.Duration
	// Lazy creates folder and file only for the first record.
	Lazy bool
	// Now returns the time; nil for the system clock.
	Now func() time.Time
	// Log receives problems of the log itself; nil discards them.
	Log *slog.Logger
}

// A Log is an open log. It is safe for concurrent use.
type Log struct {
	cfg   Config
	now   func() time.Time
	newID func() string
	files *files // used by the writer only; with a seed, guarded by mu

	mu      sync.Mutex
	pending []byte
	dropped int64
	closed  bool

	full, stop chan struct{}
	writer     sync.WaitGroup

	failed, troubled sync.Once // for the warnings
}

// epoch is the time of every record in deterministic logs.
func epoch() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// Open opens a log in a data directory, which it creates if needed. Close must be called.
func Open(cfg Config) (*Log, error) {
	cfg.MaxFile = cmp.Or(cfg.MaxFile, DefaultMaxFile)
	cfg.MaxFiles = cmp.Or(cfg.MaxFiles, DefaultMaxFiles)
	cfg.Flush = cmp.Or(cfg.Flush, DefaultFlush)
	if cfg.MaxFile < 0 || cfg.MaxFiles < 0 || cfg.Flush < 0 {
		return nil, fmt.Errorf("validation log: open: MaxFile, MaxFiles and Flush cannot be negative")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Log{
		cfg: cfg, now: cfg.Now, newID: jsonrpc.RandomID,
		full: make(chan struct{}, 1), stop: make(chan struct{}),
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

// Name returns the path of the first file of the log.
func (l *Log) Name() string { return filepath.Join(l.files.dir, l.files.name(1)) }

// Append adds a record. It never waits for the disk, unless the log is
// deterministic; a record for which there is no room is dropped and counted.
func (l *Log) Append(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.pending) >= maxPending {
		l.dropped++
		return
	}
	l.pending = l.appendRecord(l.pending, &r)
	if l.cfg.Seed != "" {
		l.dropped += l.put(l.pending)
		l.pending = l.pending[:0]
	} else if len(l.pending) >= writeAt {
		select {
		case l.full <- struct{}{}:
		default: // the writer knows
		}
	}
}

// write writes pending records until the log is closed.
func (l *Log) write() {
	ticker := time.NewTicker(l.cfg.Flush)
	defer ticker.Stop()
	var spare []byte
	for open := true; open; {
		select {
		case <-l.full:
		case <-ticker.C:
		case <-l.stop:
			open = false
		}
		l.mu.Lock()
		chunk := l.pending
		l.pending = spare[:0]
		l.mu.Unlock()
		lost := l.put(chunk)
		spare = chunk
		l.mu.Lock()
		l.dropped += lost
		l.mu.Unlock()
	}
}

func (l *Log) put(lines []byte) int64 {
	for len(lines) > 0 {
		n, err := l.files.write(lines)
		if err != nil {
			l.failed.Do(func() {
				l.cfg.Log.Warn("validation log cannot be written; records are dropped until it can", "error", err)
			})
			return int64(bytes.Count(lines, []byte{'\n'}))
		}
		if l.files.trouble != nil {
			l.troubled.Do(func() {
				l.cfg.Log.Warn("old files or .latest of the validation log cannot be updated", "error", l.files.trouble)
			})
		}
		lines = lines[n:]
	}
	return 0
}

// Dropped returns the number of records lost so far: because there was no room,
// because the disk failed, or because they came after Close.
func (l *Log) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Close writes the pending records and closes the log. It reports lost records to
// Config.Log. Later records are dropped. It must be called once; a nil Log has nothing to close.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	close(l.stop)
	l.writer.Wait()
	if err := l.files.close(); err != nil {
		l.cfg.Log.Warn("validation log cannot be closed", "error", err)
	}
	if n := l.Dropped(); n > 0 {
		l.cfg.Log.Warn("validation log is incomplete: records were dropped", "dropped", n, "folder", l.files.dir)
	}
}
