package trace

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
)

// message is what could be made of the body of one message.
type message struct {
	body    []byte
	typ     protocol.Type
	dialect string
	method  string
	sender  string
	match   string
	decoded protocol.Message // nil where the message does not keep the rules
	problem error            // why; of an answer it may be a *protocol.Refusal
}

// tolerant reads what agents send each other, in whatever wrapping.
var tolerant = protocol.NewCodec(protocol.Tolerant, protocol.KnownDialects()...)

// readRequest takes a request apart. It never fails: what it cannot read stays
// empty, and problem says why.
func readRequest(body []byte) message {
	m := message{body: body}
	var call struct {
		Version jsontext.Value `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  jsontext.Value `json:"params"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		m.problem = err
		return m
	}
	var req *protocol.Request
	if call.Version == nil && call.Method == "" {
		req, m.problem = tolerant.OpenBare(body)
	} else {
		m.method = call.Method
		req, m.problem = tolerant.Open(call.Method, call.Params)
	}
	m.typ, m.sender, m.match = req.Type, req.Header.Sender, req.Header.MatchID
	if req.Dialect != nil {
		m.dialect = req.Dialect.Name
	}
	if m.problem == nil {
		m.decoded, m.problem = req.Decode()
	}
	return m
}

// readAnswer takes the answer to a request apart, likewise.
func readAnswer(req message, status int, body []byte) message {
	m := message{body: body, dialect: req.dialect, match: req.match}
	if len(body) == 0 {
		return m
	}
	a, err := protocol.ParseAnswer(status, body)
	if err != nil {
		m.problem = err
		return m
	}
	m.decoded, m.problem = tolerant.ReadAnswer(req.typ, a)
	var refusal *protocol.Refusal
	switch {
	case m.decoded != nil && m.problem == nil:
		h := m.decoded.Head()
		m.typ, m.sender = h.MessageType, h.Sender
		if h.MatchID != "" {
			m.match = h.MatchID
		}
	case errors.As(m.problem, &refusal):
		var h protocol.Header
		// The shape of a refusal is the peer's own; what is not there stays empty.
		_ = json.Unmarshal(refusal.Data, &h)
		m.typ, m.sender = h.MessageType, h.Sender
		if h.MatchID != "" {
			m.match = h.MatchID
		}
	}
	return m
}
