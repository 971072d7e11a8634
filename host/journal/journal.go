// Package journal is an append-only log of events that a process recovers from. An event is on disk
// before Append returns, so that nothing is acknowledged to anybody which a crash could take back.
//
// The file is text, a line an event:
//
//	<CRC-32C of the rest, 8 hex digits> <sequence number> <type> <JSON data>
//
// Sequence numbers count from 1 without gaps. A last line that is cut short, which is what a crash
// in the middle of a write leaves, is cut off with a warning when the journal is opened. Any other
// damage refuses to open.
package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"github.com/strategylab/strategylab/host/disk"
)

// ErrDamaged is the cause when a journal holds something other than whole
// events followed by at most one torn line.
var ErrDamaged = errors.New("journal is damaged")

// ErrClosed is returned by Append after Close.
var ErrClosed = errors.New("journal is closed")

// Event is one entry.
type Event struct {
	Seq  uint64
	Type string          // without spaces
	Data json.RawMessage // one JSON value
}

// Config say how careful a journal is. The zero value is the careful one.
type Config struct {
	// NoSync leaves it to the operating system when events reach the disk: a
	// crash of the machine, though not of the process, may lose the last ones.
	NoSync bool
}

// Journal appends events. It is safe for concurrent use: events that arrive
// while one write is running go to disk together in the next (group commit).
type Journal struct {
	lock    *disk.Lock
	file    *os.File
	sync    bool
	appends chan *request
	quit    chan struct{}
	done    chan struct{} // closed when the writer has ended
}

// Opened is what was found when a journal was opened.
type Opened struct {
	Events   []Event
	Repaired string // what was cut off, for a warning; empty if nothing was
}

// Open opens the named journal, making it and its folder if need be, and
// returns the events it holds. Only one process can have it open. An error
// wraps ErrDamaged or disk.ErrLocked where those are the cause.
func Open(name string, opts Config) (*Journal, Opened, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, Opened{}, fmt.Errorf("open journal: %w", err)
	}
	lock, err := disk.Acquire(name + ".lock")
	if err != nil {
		return nil, Opened{}, fmt.Errorf("open journal: %w", err)
	}
	file, found, err := open(name)
	if err != nil {
		return nil, Opened{}, errors.Join(fmt.Errorf("open journal %s: %w", name, err), lock.Release())
	}
	j := &Journal{
		lock: lock, file: file, sync: !opts.NoSync,
		appends: make(chan *request), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go j.write(uint64(len(found.Events)))
	return j, found, nil
}

// Recover opens the named journal and applies the events it holds, in order. An
// event that cannot be applied is damage. A repair is logged as a warning.
func Recover(name string, opts Config, log *slog.Logger, apply func(Event) error) (*Journal, error) {
	j, found, err := Open(name, opts)
	if err != nil {
		return nil, err
	}
	if found.Repaired != "" {
		log.Warn("journal repaired", "file", name, "repair", found.Repaired)
	}
	for _, e := range found.Events {
		if err := apply(e); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w: event %d (%s): %w; restore the file from a copy, or move it away to start over",
				name, ErrDamaged, e.Seq, e.Type, err), j.Close())
		}
	}
	return j, nil
}

func open(name string) (*os.File, Opened, error) {
	// 0600: the journal holds what tokens are compared with.
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Opened{}, err
	}
	found, size, err := read(file)
	if err == nil && found.Repaired != "" {
		err = errors.Join(file.Truncate(size), file.Sync())
	}
	if err == nil {
		_, err = file.Seek(size, 0)
	}
	if err != nil {
		return nil, Opened{}, errors.Join(err, file.Close())
	}
	return file, found, nil
}

// request is one Append that waits for its events to be on disk.
type request struct {
	kind   string
	data   []byte
	result chan error
}

// Append writes one event and returns when it is on disk. v becomes JSON. If
// ctx ends first the event may or may not have been written.
func (j *Journal) Append(ctx context.Context, kind string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal %s event: %w", kind, err)
	}
	r := &request{kind: kind, data: data, result: make(chan error, 1)}
	select {
	case j.appends <- r:
	case <-j.done:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("journal %s event: %w", kind, context.Cause(ctx))
	}
	select {
	case err := <-r.result:
		if err != nil {
			return fmt.Errorf("journal %s event: %w", kind, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("journal %s event: %w", kind, context.Cause(ctx))
	}
}

// Close waits for the events that have been taken, and gives the file up. It must be called once.
func (j *Journal) Close() error {
	close(j.quit)
	<-j.done
	return errors.Join(j.file.Close(), j.lock.Release())
}

// write is the one goroutine that touches the file. After a failed write it fails everything that
// follows: what is on disk is then unknown, and must be read again by a new process.
func (j *Journal) write(seq uint64) {
	defer close(j.done)
	var broken error
	w := bufio.NewWriterSize(j.file, 64<<10)
	var group []*request
	for {
		select {
		case r := <-j.appends:
			group = j.collect(append(group[:0], r))
		case <-j.quit:
			return
		}
		if broken == nil {
			for _, r := range group {
				seq++
				writeLine(w, Event{Seq: seq, Type: r.kind, Data: r.data})
			}
			broken = w.Flush()
			if broken == nil && j.sync {
				broken = j.file.Sync()
			}
		}
		for _, r := range group {
			r.result <- broken
		}
	}
}

// collect adds whatever else is waiting already.
func (j *Journal) collect(group []*request) []*request {
	const most = 1024
	for len(group) < most {
		select {
		case r := <-j.appends:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// maxLine bounds a line, so that a damaged file cannot ask for all memory. A
// league's largest event, the schedule of a thousand players, is far below.
const maxLine = 64 << 20

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func writeLine(w *bufio.Writer, e Event) {
	body := fmt.Appendf(nil, "%d %s %s", e.Seq, e.Type, e.Data)
	fmt.Fprintf(w, "%08x %s\n", castagnoli(body), body) // errors stay with w until Flush
}

// read returns the whole events of a journal and the size they take up.
func read(r io.Reader) (found Opened, size int64, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	for {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				found.Repaired = fmt.Sprintf("cut off a torn last line of %d bytes after event %d", len(line), len(found.Events))
			}
			return found, size, nil
		case err != nil:
			return Opened{}, 0, err
		case len(line) > maxLine:
			return Opened{}, 0, fmt.Errorf("%w: line %d is %d bytes long", ErrDamaged, len(found.Events)+1, len(line))
		}
		e, err := parseLine(line[:len(line)-1])
		if err == nil && e.Seq != uint64(len(found.Events))+1 {
			err = fmt.Errorf("event %d stands where %d belongs", e.Seq, len(found.Events)+1)
		}
		if err != nil {
			return Opened{}, 0, fmt.Errorf("%w: line %d (byte %d): %w; restore the file from a copy, or cut it off before that line to lose what follows",
				ErrDamaged, len(found.Events)+1, size, err)
		}
		found.Events = append(found.Events, e)
		size += int64(len(line))
	}
}

func parseLine(line []byte) (Event, error) {
	sum, body, ok := bytes.Cut(line, []byte(" "))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || len(sum) != 8 || err != nil {
		return Event{}, errors.New("it does not begin with a checksum")
	}
	if castagnoli(body) != uint32(want) {
		return Event{}, errors.New("its checksum does not match")
	}
	number, rest, _ := bytes.Cut(body, []byte(" "))
	kind, data, ok := bytes.Cut(rest, []byte(" "))
	seq, err := strconv.ParseUint(string(number), 10, 64)
	if !ok || err != nil || len(kind) == 0 || !json.Valid(data) {
		return Event{}, errors.New("it is not a sequence number, a type and a JSON value")
	}
	return Event{Seq: seq, Type: string(kind), Data: bytes.Clone(data)}, nil
}
