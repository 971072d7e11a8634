package workers

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// Kinds of frames. A reply has the kind of its request unless noted.
const (
	frameLoad  = 'l' // plugins.Script; loadReply
	frameOpen  = 'o' // openRequest; nothing
	framePlay  = 'p' // chunk.Request; a frameLeagues for each unit
	frameClose = 'c' // nothing: closes the field; []plugins.Usage by strategy
	frameTask  = 't' // taskRequest; what the task returns

	// Replies only:
	frameLeagues = 'r' // the records of a unit
	frameFailed  = 'e' // text: the request failed, but the worker is fine
	frameAlive   = 'h' // nothing: the worker works
	frameLog     = 'w' // logLine
	frameStuck   = 's' // text: a call ignores its interrupt, and the worker ends
)

// mostFrame is the largest frame, in bytes: more than the sources of the largest
// field.
const mostFrame = 1 << 29

type taskRequest struct {
	Name  string
	Input json.RawMessage
}

// openRequest is the plan to play, with the code of its field.
type openRequest struct {
	Plan       results.Plan
	Strategies []strategy
	Players    []int // by field index, in Strategies
	Unit       int   // leagues from one answer to the next, played in lockstep with plugins
}

// strategy is the code of one strategy.
type strategy struct {
	Builtin string         `json:",omitempty"` // name
	Place   *plugins.Place `json:",omitempty"` // of a plugin or a script
	Alone   bool           `json:",omitempty"` // the script gets a process of its own
}

type loadReply struct {
	Info    strategies.Info
	Failure *failure `json:",omitempty"`
}

// failure is a *strategies.Error.
type failure struct {
	Source string
	Line   int
	Op     strategies.Op
	Text   string
	Hint   string
	Fault  game.Fault
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Op: strategies.OpLoad, Text: err.Error(), Fault: strategies.FaultOf(err)}
	var typed *strategies.Error
	if errors.As(err, &typed) {
		f.Source, f.Line, f.Op, f.Text, f.Hint = typed.Source, typed.Line, typed.Op, typed.Err.Error(), typed.Hint
	}
	return f
}

func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return &strategies.Error{Source: f.Source, Line: f.Line, Op: f.Op, Err: cause{f.Text, f.Fault}, Hint: f.Hint}
}

// cause is why a script failed in another process.
type cause struct {
	text  string
	fault game.Fault
}

func (c cause) Error() string { return c.text }

// Unwrap returns the error that the fault stands for, for strategies.FaultOf.
func (c cause) Unwrap() error {
	switch c.fault {
	case game.FaultTimeout:
		return strategies.ErrTimeout
	case game.FaultBudget:
		return strategies.ErrBudget
	case game.FaultInvalid:
		return strategies.ErrInvalidChoice
	case game.FaultCrash:
		return strategies.ErrCrashed
	}
	return nil
}

// frameWriter writes frames. It is safe for concurrent use.
type frameWriter struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

func (w *frameWriter) write(kind byte, body []byte) error {
	if len(body) >= mostFrame {
		return fmt.Errorf("frame of %d bytes, want less than %d", len(body), mostFrame)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = binary.LittleEndian.AppendUint32(w.buf[:0], uint32(len(body)))
	w.buf = append(append(w.buf, kind), body...)
	_, err := w.w.Write(w.buf)
	return err
}

// frameReader reads frames.
type frameReader struct {
	r   *bufio.Reader
	buf []byte
}

// read returns the next frame, whose body is valid until the next call. The error at
// the end of the stream is io.EOF.
func (r *frameReader) read() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n >= mostFrame {
		return 0, nil, fmt.Errorf("frame of %d bytes, want less than %d", n, mostFrame)
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	_, err = io.ReadFull(r.r, r.buf)
	return head[4], r.buf, err
}
