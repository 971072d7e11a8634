package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// stdio is the route and the peer's address over STDIO.
const stdio = "stdio"

// ServeStdio answers requests from r, one JSON document per line, with one line each on w, and
// writes nothing else there. Requests are handled concurrently, up to Config.MaxConcurrent, and
// answered in the order in which they finish; every answer is a single Write. Blank lines are
// skipped. A line longer than Config.MaxBody is refused, and reading continues after it.
//
// At the end of r, ServeStdio answers what has been read and returns nil. When ctx ends it stops
// reading, gives the requests in flight the drain period, cancels the rest, and returns nil or an
// error that says how many were cut off. It then closes r, if that is an io.Closer, to end a
// blocked Read, and w if the drain period ended. A reader that cannot be interrupted (the standard
// input of a process) keeps one goroutine until it returns. ServeStdio also returns if r or w
// fails.
func ServeStdio(ctx context.Context, r io.Reader, w io.Writer, h Handler, cfg Config) error {
	cfg = cfg.withDefaults()
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	s := &stdioServer{
		responder: responder{cfg: cfg, handler: h}, tokens: make(chan struct{}, cfg.MaxConcurrent), w: w, cut: cut,
	}
	s.reading, s.stop = context.WithCancel(ctx)
	defer s.stop()
	if cfg.Beside != nil {
		s.side = cfg.Beside(s.send)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.read(work, r) }()
	var err error
	select {
	case err = <-ended:
		s.stop()
	case <-s.reading.Done():
		closeIf(r)
	}
	cutOff := s.gate.drain(ctx, cfg.Drain, stdio, func() {
		cut()
		closeIf(w)
	})
	if cutOff != nil {
		return errors.Join(err, cutOff)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.writeErr)
}

type stdioServer struct {
	responder
	gate    gate            // for waiting only: the limit is tokens
	tokens  chan struct{}   // one per request in flight
	reading context.Context // ends when no more may be read
	stop    context.CancelFunc
	cut     context.CancelFunc // ends the contexts of the handlers
	side    Side               // nil for none

	mu       sync.Mutex // held while writing
	w        io.Writer
	writeErr error
}

func (s *stdioServer) read(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, int(s.cfg.MaxBody)+len("\r\n"))
	for {
		line, tooLong, err := readLine(in, s.cfg.MaxBody)
		switch {
		case s.reading.Err() != nil, err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("jsonrpc: reading requests: %w", err)
		}
		req := &Request{Transport: TransportSTDIO, Route: stdio, RemoteAddr: stdio}
		var refused *Refusal
		var serve func()
		if tooLong {
			refused = bodyTooLarge(s.cfg.MaxBody)
		} else {
			req.Raw = bytes.Clone(bytes.TrimSpace(line))
			if len(req.Raw) == 0 {
				continue
			}
			if s.side != nil {
				serve = s.side(ctx, req, req.parse(s.cfg.Lenient))
			}
		}
		if serve == nil {
			select {
			case s.tokens <- struct{}{}:
			case <-s.reading.Done():
				return nil
			}
			serve = func() {
				s.write(s.serve(ctx, req, refused))
				<-s.tokens
			}
		}
		leave, ended := s.gate.enter()
		if ended != nil {
			return nil
		}
		go func() { // waited for by drain, through the gate
			defer leave()
			serve()
		}()
	}
}

func (s *stdioServer) write(rep Reply) {
	if len(rep.Body) == 0 {
		return
	}
	line, err := singleLine(rep.Body)
	if err != nil {
		r := refusal(ReasonInternal, "the answer is not JSON")
		line = encodeError(nil, r.Error())
	}
	_ = s.send(line) // ServeStdio reports a failure to write
}

// send writes a line, in one Write.
func (s *stdioServer) send(line []byte) error {
	// The capacity is cut so that the memory of the handler is not overwritten.
	line = append(line[:len(line):len(line)], '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writeErr != nil {
		return s.writeErr
	}
	if _, err := s.w.Write(line); err != nil {
		s.writeErr = fmt.Errorf("jsonrpc: writing an answer: %w", err)
		s.stop()
		s.cut()
	}
	return s.writeErr
}

// closeIf closes v if it can be closed, to end a blocked Read or Write; a
// failure to close is ignored.
func closeIf(v any) {
	if c, ok := v.(io.Closer); ok {
		_ = c.Close()
	}
}

// readLine returns the next line without its end; the last one needs none. A line that is
// longer than max, less than the size of r, is read past.
func readLine(r *bufio.Reader, max int64) (line []byte, tooLong bool, err error) {
	line, more, err := r.ReadLine()
	tooLong = more || int64(len(line)) > max
	for more {
		if _, more, err = r.ReadLine(); err != nil {
			return nil, true, nil // which the next call meets again
		}
	}
	return line, tooLong, err
}
