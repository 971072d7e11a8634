package jsonrpc

import "time"

// A Tap watches the messages of servers and clients, for recordings and
// measurements. It is called on the path of the message, from many goroutines,
// so it must be quick and safe for concurrent use. A nil Tap costs nothing.
type Tap interface {
	// Tap is told of the message that opens an exchange. The function that it
	// returns, if not nil, is called once with the message that closes it:
	// the answer, also an empty one, or the reason why none came.
	Tap(opening Event) (closing func(Event))
}

// A Direction is seen from the side that has the tap.
type Direction string

// The directions: a server's requests come in and its answers go out, a
// client's the other way round.
const (
	In  Direction = "in"
	Out Direction = "out"
)

// An Event is one message that passed.
type Event struct {
	Direction Direction
	Transport Transport
	// Peer is the remote address at a server (see Request.RemoteAddr) and the
	// URL that was called at a client.
	Peer string
	// Route is the path at a server ("stdio" over STDIO), empty at a client.
	Route string
	// Body is the message as it stands on the wire, nil if there is none or it
	// was not read. It may be kept but not changed. It may hold secrets.
	Body []byte
	// Status is the HTTP status of an answer; 0 in an opening event and where no
	// answer came.
	Status int
	// Latency is the time since the opening event, 0 in that one. At a server
	// it ends before the answer is written.
	Latency time.Duration
	// Err is a client's reason why no usable answer came (a *CallError).
	Err error
}

// open reports the opening event of an exchange and returns what reports its
// closing event, in the opposite direction.
func open(tap Tap, e Event) func(status int, body []byte, err error) {
	start := time.Now()
	closing := tap.Tap(e)
	if closing == nil {
		return func(int, []byte, error) {}
	}
	back := In
	if e.Direction == In {
		back = Out
	}
	return func(status int, body []byte, err error) {
		e.Direction = back
		e.Body, e.Status, e.Err, e.Latency = body, status, err, time.Since(start)
		closing(e)
	}
}
