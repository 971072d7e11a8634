package trace

import (
	"bufio"
	"cmp"
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

// queued is the number of messages that may wait to be written before agents
// wait for the recorder: enough for the bursts of a large round.
const queued = 4096

// Recorder writes the messages that pass its taps to a file. It is safe for
// concurrent use; it decodes, masks and writes on a goroutine of its own. An
// agent that is faster than the disk waits: a recording has no gaps.
type Recorder struct {
	file  *os.File
	lines chan Line
	next  atomic.Int64
	now   func() time.Time

	mu     sync.RWMutex // held for reading while a line is handed over
	closed bool
	done   sync.WaitGroup
	err    error // of the writing goroutine; read it after done
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
	r := &Recorder{file: file, lines: make(chan Line, queued), now: now}
	head.Schema, head.Began = Schema, now().UTC()
	r.done.Go(func() { r.err = r.write(head) })
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

// Close writes the waiting messages and closes the file. Later messages are not
// recorded. The error is the first that writing met.
func (r *Recorder) Close() error {
	r.mu.Lock()
	already := r.closed
	r.closed = true
	r.mu.Unlock()
	if already {
		return nil
	}
	close(r.lines)
	r.done.Wait()
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("record to %s: %w", r.file.Name(), err)
	}
	return nil
}

// Tap returns a tap that records the messages of an agent under its name.
func (r *Recorder) Tap(agent string) jsonrpc.Tap {
	return func(opening jsonrpc.Event) func(jsonrpc.Event) {
		exchange, began := r.next.Add(1), r.now().UTC()
		r.put(lineOf(agent, exchange, Request, began, opening))
		return func(closing jsonrpc.Event) {
			r.put(lineOf(agent, exchange, Answer, began.Add(closing.Latency), closing))
		}
	}
}

// Remark records what the program knows about a match of an agent beside its messages.
func (r *Recorder) Remark(agent, match, text string) {
	r.put(Line{Time: r.now().UTC(), Part: Remarks, Agent: agent, Match: match, Error: text})
}

func lineOf(agent string, exchange int64, part Part, at time.Time, e jsonrpc.Event) Line {
	l := Line{
		Time: at, Exchange: exchange, Part: part, Agent: agent, Direction: e.Direction, Transport: e.Transport,
		Peer: e.Peer, Route: e.Route, Status: e.Status, Latency: float64(e.Latency.Microseconds()) / 1000, Body: e.Body,
	}
	if e.Err != nil {
		l.Error = e.Err.Error()
	}
	return l
}

func (r *Recorder) put(l Line) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.closed {
		r.lines <- l
	}
}

// write writes the lines until there are no more. After an error it still
// receives them, so that no agent waits for a full disk.
func (r *Recorder) write(head Head) error {
	out := bufio.NewWriterSize(r.file, 1<<16)
	err := writeLine(out, head)
	d := describer{masks: newMasker(), open: map[int64]*Exchange{}}
	for l := range r.lines {
		if err != nil {
			continue
		}
		d.describe(&l)
		if err = writeLine(out, l); err == nil && len(r.lines) == 0 {
			err = out.Flush()
		}
	}
	return errors.Join(err, out.Flush())
}

func writeLine(out *bufio.Writer, v any) error {
	if err := json.MarshalWrite(out, v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return err
	}
	return out.WriteByte('\n')
}

// describer masks the message of a line and fills in the fields that describe
// it. It decodes an answer by the request that it closes.
type describer struct {
	masks *masker
	open  map[int64]*Exchange
}

func (d *describer) describe(l *Line) {
	l.Error = string(d.masks.text([]byte(l.Error)))
	if l.Part == Remarks {
		return
	}
	if l.Part == Request {
		x := ReadRequest(l.Body)
		d.open[l.Exchange] = x
		l.Wrapping, l.Type, l.Sender, l.Match = x.Dialect, string(x.Type), x.Sender, x.Match
	} else {
		x := cmp.Or(d.open[l.Exchange], &Exchange{})
		delete(d.open, l.Exchange)
		x.setAnswer(l.Status, l.Body)
		h := x.answerHeader()
		l.Wrapping, l.Type, l.Sender, l.Match = x.Dialect, string(h.MessageType), h.Sender, cmp.Or(h.MatchID, x.Match)
	}
	l.Sender = string(d.masks.text([]byte(l.Sender)))
	body := d.masks.mask(l.Body)
	l.Body = nil
	if len(body) == 0 {
		return
	}
	// A message of several lines loses its line breaks: each takes one line.
	if v := jsontext.Value(body).Clone(); v.Compact(jsontext.AllowDuplicateNames(true)) == nil {
		l.Body = v
		return
	}
	l.Text = strings.ToValidUTF8(string(body), "\uFFFD")
}
