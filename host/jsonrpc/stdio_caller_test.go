package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// OverStdio returns a way to call the one peer at the other end of a pair of
// streams, such as a child process: messages go to w and answers come from r,
// one JSON document a line. The URL of a call is not looked at.
//
// Answers find their call by id; so a message without one (a notification, or
// a foreign body) is answered by AnswerNone as soon as it is written, and two
// calls with the same id cannot be in progress together. An error whose id is
// null, or a line longer than maxAnswer bytes (0 for 16 MiB), belongs to the only
// call in progress, if there is just one. Everything else that comes is dropped:
// late answers, requests by the peer, and what a careless peer prints.
//
// Close closes w and r, as far as they are io.Closers, and waits for the
// goroutines that use them; r must be one whose Close ends its Read.
func OverStdio(r io.Reader, w io.Writer, maxAnswer int64) RoundTripper {
	c := &stdioCaller{
		r:       r,
		w:       w,
		max:     limit(maxAnswer, 16<<20),
		lines:   make(chan outgoingLine),
		gone:    make(chan struct{}),
		pending: make(map[string]chan stdioAnswer),
	}
	c.wg.Go(c.write)
	c.wg.Go(func() { c.read(newLineReader(r, c.max)) })
	return c
}

type stdioCaller struct {
	r     io.Reader
	w     io.Writer
	max   int64
	wg    sync.WaitGroup
	lines chan outgoingLine

	mu      sync.Mutex
	pending map[string]chan stdioAnswer // by the key of the id
	err     error                       // why the connection is gone
	gone    chan struct{}               // closed when err is set
}

// stdioAnswer is what the reading goroutine hands to a call.
type stdioAnswer struct {
	body    []byte
	tooLong bool
}

// outgoingLine is a line to write; the result goes to written.
type outgoingLine struct {
	text    []byte
	written chan error
}

var errStdioClosed = errors.New("the connection was closed")

// Close implements RoundTripper.
func (c *stdioCaller) Close() error {
	c.fail(errStdioClosed)
	closeIf(c.w)
	closeIf(c.r)
	c.wg.Wait()
	return nil
}

// Transport implements RoundTripper.
func (c *stdioCaller) Transport() Transport { return TransportSTDIO }

// RoundTrip implements RoundTripper.
func (c *stdioCaller) RoundTrip(ctx context.Context, out *Outgoing) (*Reply, error) {
	line, err := singleLine(out.Body)
	if err != nil {
		return nil, fmt.Errorf("a body over STDIO must be JSON: %w", err)
	}
	var answer chan stdioAnswer
	if key := idKey(out.Body); key != "" {
		answer = make(chan stdioAnswer, 1)
		if err := c.expect(key, answer); err != nil {
			return nil, err
		}
		defer c.forget(key, answer)
	}
	if err := c.send(ctx, append(line[:len(line):len(line)], '\n')); err != nil {
		return nil, err
	}
	if answer == nil {
		return &Reply{Status: http.StatusAccepted}, nil
	}
	select {
	case a := <-answer:
		if a.tooLong || int64(len(a.body)) > out.MaxAnswer {
			return nil, errAnswerTooLarge(min(out.MaxAnswer, c.max), 0)
		}
		return &Reply{Status: http.StatusOK, Body: a.body}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.gone:
		return nil, &CallError{Kind: ErrClosed, Err: c.failure()}
	}
}

// send has a line written.
func (c *stdioCaller) send(ctx context.Context, text []byte) error {
	line := outgoingLine{text: text, written: make(chan error, 1)}
	select {
	case c.lines <- line:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.gone:
		return &CallError{Kind: ErrConnect, Err: c.failure()}
	}
	select {
	case err := <-line.written:
		if err != nil {
			return &CallError{Kind: ErrClosed, Err: err}
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.gone:
		return &CallError{Kind: ErrClosed, Err: c.failure()}
	}
}

// write is the only goroutine that writes to w, since a Write that blocks
// cannot be left, but the caller can leave it.
func (c *stdioCaller) write() {
	for {
		select {
		case line := <-c.lines:
			_, err := c.w.Write(line.text)
			line.written <- err
			if err != nil {
				c.fail(err)
				return
			}
		case <-c.gone:
			return
		}
	}
}

// read hands answers to their calls until r ends.
func (c *stdioCaller) read(lines *lineReader) {
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, errTooLong):
			c.deliver("", stdioAnswer{tooLong: true})
		case errors.Is(err, io.EOF):
			c.fail(errors.New("the peer ended"))
			return
		case err != nil:
			c.fail(err)
			return
		default:
			key := idKey(line)
			if key != "" || isAnonymousError(line) {
				c.deliver(key, stdioAnswer{body: line})
			}
		}
	}
}

// deliver gives an answer to the call with the key, or, without a key, to the
// only call in progress.
func (c *stdioCaller) deliver(key string, a stdioAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key == "" && len(c.pending) == 1 {
		for only := range c.pending {
			key = only
		}
	}
	if answer, ok := c.pending[key]; ok {
		answer <- a // never blocks: it has room for one, and is removed now
		delete(c.pending, key)
	}
}

func (c *stdioCaller) expect(key string, answer chan stdioAnswer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.pending[key]; taken {
		return errors.New("a call with the same id is in progress")
	}
	c.pending[key] = answer
	return nil
}

// forget ends the waiting for an answer; the key may be another call's by now.
func (c *stdioCaller) forget(key string, answer chan stdioAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[key] == answer {
		delete(c.pending, key)
	}
}

// fail marks the connection as gone; the first reason stays.
func (c *stdioCaller) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.gone)
	}
}

func (c *stdioCaller) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// idKey returns what identifies the id of a message, "" for none or null. A
// line that is not JSON has none.
func idKey(doc []byte) string {
	var id jsontext.Value
	_, err := parseDocument(doc, func(name, value jsontext.Value) {
		if stringIs(name, "id") {
			id = value
		}
	})
	switch {
	case err != nil || id == nil || id.Kind() == 'n':
		return ""
	case id.Kind() == '"':
		return `"` + unquote(id)
	}
	return string(id)
}

// isAnonymousError reports whether a line is an error that could not be given
// an id.
func isAnonymousError(line []byte) bool {
	var m members
	_, err := parseDocument(line, m.set)
	return err == nil && m.err != nil && m.id.Kind() == 'n'
}
