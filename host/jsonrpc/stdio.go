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
		responder: responder{cfg: cfg, handler: h},
		gate:      newGate(0, 0),
		tokens:    make(chan struct{}, cfg.MaxConcurrent),
		w:         w,
		broken:    make(chan struct{}),
		stop:      make(chan struct{}),
	}
	if cfg.Beside != nil {
		s.side = cfg.Beside(s.send)
		done := s.gate.follow()
		go func() { // waited for by finish, through the gate
			defer done()
			<-s.stop
			s.side.End(work)
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- s.read(work, newLineReader(r, cfg.MaxBody)) }()

	var err error
	select {
	case err = <-ended:
		close(s.stop)
	case <-s.broken:
		close(s.stop)
		closeIf(r)
		cut()
	case <-ctx.Done():
		close(s.stop)
		closeIf(r)
	}
	return errors.Join(err, s.finish(ctx, cut))
}

type stdioServer struct {
	responder
	gate   *gate         // for waiting only: the limit is tokens
	tokens chan struct{} // one per request in flight
	stop   chan struct{} // closed when no more may be read
	side   Side          // nil for none

	mu       sync.Mutex // held while writing
	w        io.Writer
	writeErr error
	broken   chan struct{} // closed when writeErr is set
}

func (s *stdioServer) read(ctx context.Context, lines *lineReader) error {
	for {
		line, err := lines.next()
		select {
		case <-s.stop:
			return nil
		default:
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		tooLong := errors.Is(err, errTooLong)
		if err != nil && !tooLong {
			return fmt.Errorf("jsonrpc: reading requests: %w", err)
		}
		req := &Request{Transport: TransportSTDIO, Route: stdio, RemoteAddr: stdio, Raw: line}
		if s.side != nil && !tooLong {
			flaw := req.parse(s.cfg.Lenient)
			if s.side.Take(ctx, req, flaw) {
				continue
			}
		}
		select {
		case s.tokens <- struct{}{}:
		case <-s.stop:
			return nil
		}
		done := s.gate.follow()
		if done == nil { // the server has ended
			return nil
		}
		go func() { // waited for by finish, through the gate
			defer done()
			if tooLong {
				s.write(s.refuse(ctx, req, bodyTooLarge(s.cfg.MaxBody)))
			} else {
				s.write(s.serve(ctx, req))
			}
			<-s.tokens
		}()
	}
}

func (s *stdioServer) write(rep reply) {
	if len(rep.body) == 0 {
		return
	}
	line, err := singleLine(rep.body)
	if err != nil {
		r := refusal(ReasonInternal, "the answer is not JSON")
		line = encodeError(nil, r.Error())
	}
	// finish reports a failure to write.
	_ = s.send(line)
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
		close(s.broken)
	}
	return s.writeErr
}

// finish waits for the requests in flight, after ctx has ended at most for the drain period.
func (s *stdioServer) finish(ctx context.Context, cut context.CancelFunc) error {
	empty := s.gate.close()
	select {
	case <-empty:
		return s.failure()
	case <-ctx.Done():
	}
	drain, cancel := withDrain(ctx, s.cfg.Drain)
	defer cancel()
	select {
	case <-empty:
	case <-drain.Done():
		err := fmt.Errorf("jsonrpc: draining stdio: %d requests were cut off after %v", s.gate.inFlight(), s.cfg.Drain)
		cut()
		closeIf(s.w)
		<-empty
		return err
	}
	return s.failure()
}

func (s *stdioServer) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}

// closeIf closes v if it can be closed, to end a blocked Read or Write; a
// failure to close is ignored.
func closeIf(v any) {
	if c, ok := v.(io.Closer); ok {
		_ = c.Close()
	}
}

type lineReader struct {
	br  *bufio.Reader
	max int64
}

func newLineReader(r io.Reader, max int64) *lineReader {
	return &lineReader{br: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns a copy of the next line that is not blank, without the line end. The last line needs
// no line end. A line longer than max gives errTooLong, and reading can continue after it.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if errors.Is(err, errTooLong) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil // the next call returns the error
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.br.ReadSlice('\n')
		if !tooLong {
			// The line end does not count, nor does the \r of a \r\n.
			tooLong = int64(len(line)+len(bytes.TrimRight(part, "\r\n"))) > l.max
			line = append(line, part...)
		}
		if tooLong {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong:
			return nil, errTooLong
		}
		return line, err
	}
}
