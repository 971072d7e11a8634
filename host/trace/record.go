package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Recorder writes the messages that pass its taps to a file. It is safe for concurrent
// use. An agent waits until its message is masked and written: a recording has no gaps. After the
// first error it records nothing more, so that no agent fails for a full disk.
type Recorder struct {
	next atomic.Int64
	now  func() time.Time

	mu     sync.Mutex
	file   *os.File
	closed bool
	masks  *masker
	err    error // the first of writing
}

// Create starts a recording, or appends a run to the recording in path. It
// fills in Schema and Began of head. Only the owner of the file can read it.
// The caller closes the recorder after the last use of its taps.
func Create(path string, head Head, now func() time.Time) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w", path, err)
	}
	if err := appendable(file); err != nil {
		return nil, errors.Join(fmt.Errorf("record to %s: %w", path, err), file.Close())
	}
	r := &Recorder{file: file, now: now, masks: newMasker()}
	head.Schema, head.Began = Schema, now().UTC()
	r.write(head)
	return r, nil
}

// appendable checks that a file is empty or a recording, and ends its last
// line, which a kill may have torn.
func appendable(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	first, last := make([]byte, len(beginning)), make([]byte, 1)
	if _, err := file.ReadAt(first, 0); err != nil && err != io.EOF {
		return err
	}
	if string(first) != beginning {
		return errors.New("the file exists and is not a recording; choose another name")
	}
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		_, err = file.Write([]byte("\n"))
	}
	return err
}

// Close closes the file. Later messages are not recorded. The error is the first that
// writing met.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("record to %s: %w", r.file.Name(), err)
	}
	return nil
}

// Tap returns a tap that records the messages of an agent under its name.
func (r *Recorder) Tap(agent string) jsonrpc.Tap {
	return func(opening jsonrpc.Event) func(jsonrpc.Event) {
		exchange, began := r.next.Add(1), r.now().UTC()
		say := func(part Part, at time.Time, e jsonrpc.Event) {
			failure := ""
			if e.Err != nil {
				failure = e.Err.Error()
			}
			r.put(Line{
				Time: at, Exchange: exchange, Part: part, Agent: agent, Direction: e.Direction, Peer: e.Peer,
				Status: e.Status, Latency: float64(e.Latency.Microseconds()) / 1000, Error: failure, Body: e.Body,
			})
		}
		say(Request, began, opening)
		return func(closing jsonrpc.Event) { say(Answer, began.Add(closing.Latency), closing) }
	}
}

// Remark records what the program knows about a match of an agent beside its messages.
func (r *Recorder) Remark(agent, match, text string) {
	r.put(Line{Time: r.now().UTC(), Part: Remarks, Agent: agent, Match: match, Error: text})
}

// put masks a line and writes it.
func (r *Recorder) put(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.err != nil {
		return
	}
	l.Error = string(r.masks.text([]byte(l.Error)))
	body := jsontext.Value(r.masks.mask(l.Body))
	// A message of several lines loses its line breaks: each takes one line.
	if l.Body = nil; body.Compact(jsontext.AllowDuplicateNames(true)) == nil {
		l.Body = body
	} else {
		l.Text = strings.ToValidUTF8(string(body), "\uFFFD")
	}
	r.write(l)
}

// write writes a line, which is out when it returns: a kill tears the last one at most.
func (r *Recorder) write(v any) {
	line, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	r.err = err
}
