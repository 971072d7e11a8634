package trace

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// queued is how many messages may wait to be written before agents wait for
// the recorder: enough for the bursts of a large round.
const queued = 4096

// Recorder writes what its taps see to a file. It is safe for concurrent use,
// and reading, masking and writing happen on a goroutine of its own. An agent
// that is quicker than the file waits: a recording has no gaps.
type Recorder struct {
	file  *os.File
	lines chan Line
	next  atomic.Int64
	now   func() time.Time

	mu     sync.RWMutex // held for reading while a line is handed over
	closed bool
	done   sync.WaitGroup
	err    error // of the writing goroutine, to be read after done
}

// Create begins a recording, or a new run in a file that holds one already. Of
// head, Schema and Began are filled in. The file can be read by its owner only.
// The caller closes the recorder when its taps are not called any more.
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

// appendable makes sure that what a file holds is a recording whose last line
// is whole: a line may be torn where an earlier run was killed.
func appendable(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	first := make([]byte, min(info.Size(), int64(len(`{"trace":"`+Schema))))
	if _, err := file.ReadAt(first, 0); err != nil {
		return err
	}
	if string(first) != `{"trace":"`+Schema {
		return errors.New("the file is there and holds something else; name another")
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		_, err = file.Write([]byte("\n"))
	}
	return err
}

// Close writes what is still waiting and closes the file. Messages that taps
// see after it are not recorded. The error is the first that writing met.
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

// Tap returns the tap of an agent, for its endpoint and its client.
func (r *Recorder) Tap(agent string) jsonrpc.Tap { return tap{r, agent} }

type tap struct {
	r     *Recorder
	agent string
}

// Tap implements jsonrpc.Tap.
func (t tap) Tap(opening jsonrpc.Event) func(jsonrpc.Event) {
	exchange, began := t.r.next.Add(1), t.r.now().UTC()
	t.r.put(t.line(exchange, Request, began, opening))
	return func(closing jsonrpc.Event) {
		t.r.put(t.line(exchange, Answer, began.Add(closing.Latency), closing))
	}
}

func (t tap) line(exchange int64, part Part, at time.Time, e jsonrpc.Event) Line {
	l := Line{
		Time: at, Exchange: exchange, Part: part, Agent: t.agent, Direction: e.Direction, Transport: e.Transport,
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

// write writes the lines until there are no more. After an error it goes on
// taking them, so that no agent waits for a disk that is full.
func (r *Recorder) write(head Head) error {
	out := bufio.NewWriterSize(r.file, 1<<16)
	err := writeLine(out, head)
	p := newPencil()
	for l := range r.lines {
		if err != nil {
			continue
		}
		p.note(&l)
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

// pencil fills in what a line says of its message. Answers are understood by
// the requests that they close.
type pencil struct {
	masks *masker
	open  map[int64]message
}

func newPencil() *pencil { return &pencil{masks: newMasker(), open: map[int64]message{}} }

func (p *pencil) note(l *Line) {
	l.Error = string(p.masks.text([]byte(l.Error)))
	var m message
	if l.Part == Request {
		m = readRequest(l.Body)
		p.open[l.Exchange] = m
	} else {
		m = readAnswer(p.open[l.Exchange], l.Status, l.Body)
		delete(p.open, l.Exchange)
	}
	l.Wrapping, l.Type, l.Sender, l.Match = m.dialect, string(m.typ), string(p.masks.text([]byte(m.sender))), m.match
	body := p.masks.mask(l.Body)
	l.Body = nil
	if len(body) == 0 {
		return
	}
	// A line is a line: what is written in several loses its line breaks.
	if v := jsontext.Value(body).Clone(); v.Compact(jsontext.AllowDuplicateNames(true)) == nil {
		l.Body = v
		return
	}
	l.Text = strings.ToValidUTF8(string(body), "\uFFFD")
}
