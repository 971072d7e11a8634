package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// maxLine is the longest line that is read, in bytes: the longest answer that
// agents read, and its description.
const maxLine = 17 << 20

// Recording is what a file holds.
type Recording struct {
	Heads     []Head      // one for each run, at least one
	Exchanges []*Exchange // in the order of their requests
	// Torn says that the last line of a run is not whole, as after a kill. What
	// it held is lost.
	Torn bool
}

// Exchange is a request and what became of it, as one agent saw it.
type Exchange struct {
	Run       int    // index of its head
	Agent     string // who recorded
	Direction jsonrpc.Direction
	Transport jsonrpc.Transport
	Peer      string
	At        time.Time // of the request

	// Type, Dialect, Sender, Method and Match are what could be made out of the
	// request, else empty.
	Type    protocol.Type
	Dialect string
	Sender  string
	Method  string
	Match   string
	// Request is the decoded request; nil if it does not keep the rules even of
	// tolerant mode, for which Invalid is the reason.
	Request protocol.Message
	Invalid error
	Raw     []byte // the request, tokens masked

	// Answered says that the recording has the end of the exchange, of which
	// the rest tells.
	Answered bool
	Status   int           // HTTP; 0 where no answer came
	Latency  time.Duration // from the request to its end
	Failure  string        // why no usable answer came, as the agent saw it
	// Answer is the decoded answer. It is nil where the answer was empty or a
	// refusal, or does not keep the rules; Refused is the reason then.
	Answer    protocol.Message
	Refused   error
	RawAnswer []byte
}

// Read reads a recording. It fails at the first line that is none. What a kill
// has torn, at the end or before the head of the next run, is passed over.
func Read(r io.Reader) (*Recording, error) {
	rec := &Recording{}
	open := map[[2]int64]*Exchange{}
	in := bufio.NewReaderSize(r, 1<<16)
	var torn error // of the line before
	for number := 1; ; number++ {
		line, err := readLine(in)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			heads := len(rec.Heads)
			bad := rec.add(line, open)
			switch {
			case torn != nil && len(rec.Heads) == heads:
				return nil, torn
			case torn != nil:
				rec.Torn, torn = true, nil
			case bad != nil && ended:
				rec.Torn = true
			case bad != nil:
				torn = fmt.Errorf("line %d: %w", number, bad)
			}
		}
		if ended {
			break
		}
	}
	switch {
	case torn != nil:
		return nil, torn
	case len(rec.Heads) == 0:
		return nil, errors.New("there is no recording in it; --record FILE of a live command makes one")
	}
	return rec, nil
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// add takes in one line.
func (rec *Recording) add(line []byte, open map[[2]int64]*Exchange) error {
	var head Head
	if json.Unmarshal(line, &head) == nil && head.Schema != "" {
		if head.Schema != Schema {
			return fmt.Errorf("the recording is of schema %q, want %q", head.Schema, Schema)
		}
		rec.Heads = append(rec.Heads, head)
		return nil
	}
	if len(rec.Heads) == 0 {
		return errors.New("it does not begin as a recording does; --record FILE of a live command makes one")
	}
	var l Line
	if err := json.Unmarshal(line, &l, jsontext.AllowDuplicateNames(true)); err != nil {
		return fmt.Errorf("not a line of a recording: %w", err)
	}
	body := []byte(l.Body)
	if l.Text != "" {
		body = []byte(l.Text)
	}
	key := [2]int64{int64(len(rec.Heads)), l.Exchange}
	switch x := open[key]; {
	case l.Part == Request && x == nil:
		x = l.opened(body)
		x.Run = len(rec.Heads) - 1
		open[key] = x
		rec.Exchanges = append(rec.Exchanges, x)
	case l.Part == Answer && x != nil && !x.Answered:
		x.close(l, body)
	default:
		return fmt.Errorf("the %s of exchange %d is out of place", l.Part, l.Exchange)
	}
	return nil
}

func (l *Line) opened(body []byte) *Exchange {
	x := ReadRequest(body)
	x.Agent, x.Direction, x.Transport, x.Peer, x.At = l.Agent, l.Direction, l.Transport, l.Peer, l.Time
	return x
}

// ReadRequest takes a request apart, in whatever wrapping it is. What cannot be
// made out stays empty. Of who sent it when, and of an answer, the exchange
// knows nothing.
func ReadRequest(body []byte) *Exchange {
	m := readRequest(body)
	return &Exchange{
		Type: m.typ, Dialect: m.dialect, Sender: m.sender, Method: m.method, Match: m.match,
		Request: m.decoded, Invalid: m.problem, Raw: body,
	}
}

// With returns the exchange as it would be with another answer.
func (x *Exchange) With(status int, body []byte) *Exchange {
	other := *x
	other.close(Line{Status: status}, body)
	return &other
}

func (x *Exchange) close(l Line, body []byte) {
	m := readAnswer(message{typ: x.Type, dialect: x.Dialect, match: x.Match}, l.Status, body)
	x.Answered, x.Status, x.Failure = true, l.Status, l.Error
	x.Latency = time.Duration(l.Latency * float64(time.Millisecond))
	x.Answer, x.Refused, x.RawAnswer = m.decoded, m.problem, body
}
