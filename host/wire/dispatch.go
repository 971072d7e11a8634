package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Handler answers one type of message, which has been checked against its field table: [Decode]
// returns it, or the rules that it breaks. The header of the answer needs only what the handler
// adds to the echo of the request's. A nil message without an error is an acknowledgement, if the
// type has one, and otherwise a refusal. The peer sees an error that is a *protocol.Error
// unchanged; any other is logged and sent as INTERNAL_ERROR.
type Handler func(ctx context.Context, x *Exchange) (protocol.Message, error)

// Dispatcher is the agent's part of the chain: the messages that it accepts, and how it answers. It
// is a jsonrpc.Handler by itself; a [Chain] of its own adds envelopes, tools and the log. It is as
// safe for concurrent use as its functions are. Its fields must not change once it serves.
type Dispatcher struct {
	Codec  *dialect.Codec   // which messages are accepted and which dialects recognised
	Sender func() string    // returns the sender field of answers, "player:P01"
	Now    func() time.Time // for the timestamps of answers
	// Received, if set, is called for every request before it is read, and
	// Answered when its answer is known.
	Received, Answered func()
	// Authenticate, if set, checks the sender before anything else about the
	// message is checked. It may store what it finds in Exchange.From.
	Authenticate func(ctx context.Context, x *Exchange) error
	// Handlers answer the messages by type. Default answers the other types of the protocol,
	// without a check of their fields; if it is nil, they are refused.
	Handlers map[protocol.Type]Handler
	Default  Handler
	// AcknowledgeUnknown acknowledges messages of types that league.v2 does not have: foreign
	// leagues send some, and take a refusal for a failure. A call without a message type is still
	// refused, so that the caller tries other names of the method. A type or a name that says in
	// words of its own which of the handled messages it is for is taken for that.
	AcknowledgeUnknown bool
	// AnswerDialect, if set, returns the dialect of the answer, for senders that have shown that
	// they do not understand answers in the dialect of their requests.
	AnswerDialect func(x *Exchange) *dialect.Dialect
	// Refusing, if set, is called for every request that is about to be refused,
	// and returns the refusal to send: why, or why with more detail.
	Refusing func(ctx context.Context, x *Exchange, why *protocol.Error) *protocol.Error
	// ServerRefused, if set, is called for every request that the server refuses
	// by itself, and may replace the error that is sent.
	ServerRefused func(rpc *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error
	Log           *slog.Logger // receives errors that are not refusals
}

// Takes returns the message types that have a handler, in no particular order,
// and the mode in which they are checked.
func (d *Dispatcher) Takes() (protocol.Mode, []protocol.Type) {
	return d.Codec.Mode(), slices.Collect(maps.Keys(d.Handlers))
}

// Handle implements jsonrpc.Handler by the agent's stages of the chain alone.
func (d *Dispatcher) Handle(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	return New(Config{Agent: d}).Handle(ctx, rpc)
}

// errAnswered ends the chain for a request that already has its answer.
var errAnswered = errors.New("the request has been answered")

// open unwraps the message and determines its type. It answers error reports and
// requests without an id.
func (d *Dispatcher) open(x *Exchange) error {
	if d.Received != nil {
		d.Received()
	}
	x.Request, x.unopened = d.Codec.Open(x.RPC)
	if d.Codec.Mode() == protocol.Tolerant && x.unopened != nil && x.Type == "" && x.Infer(slices.Sorted(maps.Keys(d.Handlers))) {
		x.unopened = nil
	}
	if d.answeredWithoutID(x) {
		return errAnswered
	}
	if x.Type == protocol.TypeLeagueError && x.unopened == nil {
		// An error report is only acknowledged, or two agents could refuse each
		// other's refusals for ever.
		if x.RPC.Kind != jsonrpc.KindObject {
			x.response = acknowledged()
		}
		return errAnswered
	}
	return x.unopened
}

// answeredWithoutID answers a request without an id. Error reports and
// notifications of the MCP standard need none. A tolerant agent acts on any other,
// and answers a notification only where it refuses it; a strict one refuses it with
// a null id, since its sender could not tell the answer from another.
func (d *Dispatcher) answeredWithoutID(x *Exchange) bool {
	rpc := x.RPC
	if rpc.Kind == jsonrpc.KindObject || (rpc.Kind == jsonrpc.KindCall && string(rpc.ID) != "null") {
		return false
	}
	if rpc.Kind == jsonrpc.KindNotification &&
		(x.Type == protocol.TypeLeagueError || strings.HasPrefix(rpc.Method, "notifications/")) {
		return true
	}
	if d.Codec.Mode() == protocol.Tolerant {
		return false
	}
	refusal := &protocol.Error{
		RPC: protocol.RPCInvalidRequest, Original: x.Type,
		Detail: "the request has no id, or null; give it a string or a number",
	}
	x.response = x.Refuse(d.header(x), refusal)
	return true
}

// acknowledged is the answer to a message that is not read.
func acknowledged() jsonrpc.Response {
	return jsonrpc.Response{Result: jsontext.Value(`{"status":"` + protocol.StatusAcknowledged + `"}`)}
}

func (d *Dispatcher) dispatch(ctx context.Context, x *Exchange) error {
	h := d.Handlers[x.Type]
	if h == nil {
		h = d.Default
	}
	if h == nil {
		return errUnsupported(x)
	}
	var err error
	if x.answer, err = h(ctx, x); err != nil {
		return err
	}
	if x.answer == nil {
		ack := x.Type.Acknowledgement()
		if ack == nil { // the answer to this type has content
			return errUnsupported(x)
		}
		x.answer = ack
	}
	d.address(x)
	return nil
}

func errUnsupported(x *Exchange) error {
	return protocol.Refuse(protocol.CodeUnknownMessageType, x.Type, fmt.Sprintf("this agent does not take %s", x.Type))
}

func (d *Dispatcher) header(x *Exchange) protocol.Header {
	return x.Header.Answer("", d.Sender(), protocol.Timestamp(d.Now()))
}

// address fills in the header fields that every answer echoes, unless the handler has set them.
func (d *Dispatcher) address(x *Exchange) {
	h, echo := x.answer.Head(), d.header(x)
	h.Protocol, h.Sender, h.Timestamp = echo.Protocol, echo.Sender, echo.Timestamp
	h.ConversationID, h.LeagueID = cmp.Or(h.ConversationID, echo.ConversationID), cmp.Or(h.LeagueID, echo.LeagueID)
	h.MatchID, h.RoundID, h.GameType = cmp.Or(h.MatchID, echo.MatchID), cmp.Or(h.RoundID, echo.RoundID), cmp.Or(h.GameType, echo.GameType)
}

// respond wraps the answer, or the refusal for an error of a stage, in the dialect of the peer.
func (d *Dispatcher) respond(ctx context.Context, x *Exchange, err error) {
	if d.Answered != nil {
		defer d.Answered()
	}
	if err == errAnswered {
		return
	}
	if d.AnswerDialect != nil && x.Type != "" {
		x.Dialect = d.AnswerDialect(x)
	}
	if err == nil {
		x.response, err = x.Reply(x.answer)
	}
	if err != nil {
		x.refusal = d.refusing(ctx, x, err)
		x.response = x.Refuse(d.header(x), x.refusal)
	}
	if x.RPC.Kind == jsonrpc.KindNotification && x.response.Error == nil {
		x.response = jsonrpc.Response{} // 202, without a body
	}
	if d.AcknowledgeUnknown && d.unknown(x) {
		x.response = acknowledged()
	}
}

// unknown reports whether a request was refused only because league.v2 does not
// have its message type.
func (d *Dispatcher) unknown(x *Exchange) bool {
	if x.response.Error == nil || x.response.Error.Code != jsonrpc.CodeMethodNotFound || x.unopened == nil {
		return false
	}
	_, known := protocol.Describe(x.Type)
	return !known && bytes.Contains(x.RPC.Raw, []byte(`"message_type"`))
}

func (d *Dispatcher) refusing(ctx context.Context, x *Exchange, err error) *protocol.Error {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) {
		if ctx.Err() == nil && d.Log != nil {
			d.Log.Error("request not served", "type", string(x.Type), "peer", x.RPC.RemoteAddr, "error", err)
		}
		refusal = protocol.Refuse(protocol.CodeInternalError, x.Type, "the agent could not serve the request")
	}
	if d.Refusing == nil {
		return refusal
	}
	return d.Refusing(ctx, x, refusal)
}

// serverRefused returns the error for a request that the server refuses by itself, nil for the
// server's own. That of a busy server has the shape of the league.
func (d *Dispatcher) serverRefused(rpc *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	if d.ServerRefused != nil {
		if sent := d.ServerRefused(rpc, r); sent != nil {
			return sent
		}
	}
	if r.Reason != jsonrpc.ReasonBusy {
		return nil
	}
	refusal := protocol.Refuse(protocol.CodeRateLimited, "", r.Detail)
	codec := &dialect.Request{Dialect: dialect.Contracts}
	return codec.Refuse(protocol.NewHeader("", d.Sender(), protocol.Timestamp(d.Now()), ""), refusal).Error
}
