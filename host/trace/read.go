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

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// maxLine is the longest line that [Read] accepts, in bytes: the longest answer
// that agents accept, and its description.
const maxLine = 17 << 20

// Recording is the content of a recording file.
type Recording struct {
	Heads     []Head      // one for each run, at least one
	Exchanges []*Exchange // in the order of their requests
	Remarks   []Remark    // in the order of the file
	// Torn reports that a run ends within a line, as after a kill. The message
	// in that line is lost.
	Torn bool
}

// Exchange is a request and its answer as one agent saw them: what they say, and how they were on
// the wire.
type Exchange struct {
	Run   int    // of the recorder, from 0
	Agent string // who recorded
	Sent  bool   // the agent sent the request; else it received it
	Peer  string // the URL that was called, or the address that called
	At    time.Time
	Raw   []byte // the request, tokens masked

	// What follows comes from the request; empty where it does not show it.
	Dialect, Method string
	Type            protocol.Type
	Sender, Match   string
	// Assignment reports that the request assigned a single match, which stands for an
	// announcement of it.
	Assignment bool
	Request    protocol.Message
	// Invalid is why Request is nil: the rules of tolerant mode that the request breaks.
	Invalid error

	// Answered reports whether the recording has the end of the exchange. What comes
	// from the answer is zero if not.
	Answered  bool
	Status    int           // HTTP status of the answer; 0 if none came
	Latency   time.Duration // from the request to its end
	Failure   string        // why no usable answer came, as the agent saw it
	RawAnswer []byte
	Answer    protocol.Message // nil if it cannot be decoded
	Refused   error            // why the answer is a refusal, or not valid
	// Strict reports that a strict reader takes the answer. It is known of choices only.
	Strict bool
}

// Read reads a recording. It fails at the first line that does not belong to
// one. A line that a kill has torn, at the end or before the head of the next
// run, is left out.
func Read(r io.Reader) (*Recording, error) {
	rec := &Recording{}
	open := map[int64]*Exchange{} // by number, in the run
	in := lines(r)
	var torn error // of the line before, which is no JSON
	number := 1
	for ; in.Scan(); number++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		heads := len(rec.Heads)
		err := rec.add(line, open)
		if torn != nil && len(rec.Heads) == heads {
			return nil, torn
		}
		rec.Torn, torn = rec.Torn || torn != nil, nil
		if err != nil {
			err = fmt.Errorf("line %d: %w", number, err)
			if !errors.As(err, new(*jsontext.SyntacticError)) {
				return nil, err
			}
			torn = err
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number, err)
	}
	if len(rec.Heads) == 0 {
		return nil, errors.New("the file holds no recording; --record FILE of a live command makes one")
	}
	rec.Torn = rec.Torn || torn != nil
	return rec, nil
}

// ReadRemarks returns the remarks of a recording and skips its exchanges, which takes a
// fraction of the time of [Read]. A line that a kill has torn is left out.
func ReadRemarks(r io.Reader) ([]Remark, error) {
	var remarks []Remark
	in := lines(r)
	for first := true; in.Scan(); first = false {
		if first && !bytes.HasPrefix(in.Bytes(), []byte(beginning)) {
			return nil, errors.New("the file is not a recording")
		}
		var l Line
		if bytes.Contains(in.Bytes(), []byte(`"part":"`+Remarks+`"`)) && json.Unmarshal(in.Bytes(), &l) == nil && l.Part == Remarks {
			remarks = append(remarks, Remark{l.Time, l.Agent, l.Match, l.Error})
		}
	}
	return remarks, in.Err()
}

func lines(r io.Reader) *bufio.Scanner {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), maxLine)
	return in
}

func (rec *Recording) add(line []byte, open map[int64]*Exchange) error {
	var l struct {
		Head
		Line
	}
	err := json.Unmarshal(line, &l, jsontext.AllowDuplicateNames(true))
	switch {
	case err == nil && l.Schema == Schema:
		rec.Heads = append(rec.Heads, l.Head)
		clear(open)
		return nil
	case err == nil && l.Schema != "":
		return fmt.Errorf("the recording has schema %q, want %q", l.Schema, Schema)
	case len(rec.Heads) == 0:
		return errors.New("the file does not begin like a recording; --record FILE of a live command makes one")
	case err != nil:
		return fmt.Errorf("not a line of a recording: %w", err)
	}
	body := []byte(l.Body)
	if l.Text != "" {
		body = []byte(l.Text)
	}
	switch x := open[l.Exchange]; {
	case l.Part == Remarks:
		rec.Remarks = append(rec.Remarks, Remark{l.Time, l.Agent, l.Match, l.Error})
	case l.Part == Request && x == nil:
		x = ReadRequest(body)
		x.Agent, x.Sent, x.Peer, x.At, x.Run = l.Agent, l.Direction == jsonrpc.Out, l.Peer, l.Time, len(rec.Heads)-1
		open[l.Exchange] = x
		rec.Exchanges = append(rec.Exchanges, x)
	case l.Part == Answer && x != nil && !x.Answered:
		x.Failure, x.Latency = l.Error, time.Duration(l.Latency*float64(time.Millisecond))
		x.setAnswer(l.Status, body)
	default:
		return fmt.Errorf("the %s of exchange %d is out of place", l.Part, l.Exchange)
	}
	return nil
}

// tolerant decodes what agents send each other, in any dialect; strict decodes answers
// that nobody may refuse for their form.
var (
	tolerant = dialect.NewCodec(protocol.Tolerant)
	strict   = dialect.NewCodec(protocol.Strict)
)

// ReadRequest decodes a request in any dialect. It never fails: fields that it
// cannot read stay empty, and Invalid says why. The fields that describe the
// connection and the answer stay zero.
func ReadRequest(body []byte) *Exchange {
	req, err := tolerant.OpenBody(body)
	x := &Exchange{Raw: body, Invalid: err}
	if req == nil {
		return x
	}
	if x.Invalid != nil && req.Type == "" && req.Infer(protocol.Types()) { // as the agents have read it
		x.Invalid = nil
	}
	x.Method, x.Type, x.Sender, x.Match = req.Method, req.Type, req.Header.Sender, req.Header.MatchID
	x.Assignment = req.Assignment != ""
	if req.Dialect != nil {
		x.Dialect = req.Dialect.Name
	}
	if x.Invalid == nil {
		x.Request, x.Invalid = req.Decode()
	}
	return x
}

// End returns when the answer was there, or known to be missing.
func (x *Exchange) End() time.Time { return x.At.Add(x.Latency) }

// WithAnswer returns a copy of the exchange with another answer.
func (x *Exchange) WithAnswer(status int, body []byte) *Exchange {
	other := *x
	other.Latency, other.Failure, other.Answer, other.Refused, other.Strict = 0, "", nil, nil, false
	other.setAnswer(status, body)
	return &other
}

func (x *Exchange) setAnswer(status int, body []byte) {
	x.Answered, x.Status, x.RawAnswer = true, status, body
	if len(body) == 0 {
		return
	}
	a, err := dialect.ParseAnswer(status, body)
	if err != nil {
		x.Refused = err
		return
	}
	x.Answer, x.Refused = tolerant.ReadAnswer(x.Type, a)
	if _, choice := x.Answer.(*protocol.ChooseParityResponse); choice && rawjson.Split(body).Get("result") != nil {
		_, err = strict.ReadAnswer(x.Type, a)
		x.Strict = err == nil
	}
}
