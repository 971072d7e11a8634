package conformance

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/trace"
)

// station is an endpoint of the counterpart: a manager, a referee or a player
// that the agent under test speaks to.
type station struct {
	name string
	url  string

	server *http.Server
	served sync.WaitGroup

	mu     sync.Mutex
	answer func(in *trace.Exchange) Said // what is answered; nil for an empty body
	header func(in *trace.Exchange, h http.Header)
}

// Said is an answer of a station.
type Said struct {
	Status int // 0 means 200
	Header http.Header
	Body   []byte
	Delay  time.Duration
	Hangup bool // break the connection off instead
}

// maxAsked bounds what a station reads of one message.
const maxAsked = 16 << 20

// open begins to listen; addr may be "127.0.0.1:0".
func open(ctx context.Context, name, addr string) (*station, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &station{name: name, url: "http://" + l.Addr().String() + "/mcp"}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.served.Go(func() {
		// Serve ends when the station is closed; there is nobody to tell.
		_ = s.server.Serve(l)
	})
	return s, nil
}

// close stops listening and waits for what is under way.
func (s *station) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	s.served.Wait()
	return err
}

// ServeHTTP takes in a message and answers it.
func (s *station) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAsked))
	if err != nil {
		return
	}
	in := trace.ReadRequest(body)
	in.Peer, in.At = r.RemoteAddr, time.Now()
	s.mu.Lock()
	answer, header := s.answer, s.header
	s.mu.Unlock()
	if header != nil {
		header(in, r.Header)
	}
	said := Said{}
	if answer != nil {
		said = answer(in)
	}
	if said.Delay > 0 {
		select {
		case <-time.After(said.Delay):
		case <-r.Context().Done():
			return
		}
	}
	if said.Hangup {
		panic(http.ErrAbortHandler)
	}
	for name, values := range said.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	if said.Status == 0 {
		said.Status = http.StatusOK
	}
	w.WriteHeader(said.Status)
	_, _ = w.Write(said.Body) // the agent may have gone
}

// onMessage sets what is answered from now on.
func (s *station) onMessage(answer func(in *trace.Exchange) Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// onHeader sets what is told of the header of each message, before it is
// answered.
func (s *station) onHeader(tell func(in *trace.Exchange, h http.Header)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = tell
}
