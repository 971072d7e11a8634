package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Exchange is a request on its way in: unwrapped, not yet decoded.
type Exchange struct {
	*protocol.Request
	// RPC is the JSON-RPC request that carried it: its id, its peer, its HTTP
	// header.
	RPC *jsonrpc.Request

	judge func() error // of the Exchange, if there is one
}

// Decode holds the message to its field rules, and before them to those of an
// [Exchange]. The error is a *protocol.Error.
func (in *Exchange) Decode() (protocol.Message, error) {
	if in.judge != nil {
		if err := in.judge(); err != nil {
			return nil, err
		}
	}
	return in.Request.Decode()
}

// Decode holds the message to its field rules and returns it. T is the pointer
// type that belongs to the message type, such as *protocol.GameInvitation. The
// error is a *protocol.Error, fit to be returned by a Handler.
func Decode[T protocol.Message](in *Exchange) (T, error) {
	m, err := in.Decode()
	if err != nil {
		var none T
		return none, err
	}
	t, ok := m.(T)
	if !ok {
		return t, fmt.Errorf("wire: a %s is a %T", in.Type, m)
	}
	return t, nil
}

// Handler answers one type of message. The header of the answer needs only
// what the handler wants to add to the echo of the request's; a nil message
// without an error acknowledges by the type's own acknowledgement, and refuses
// a type that wants more of an answer. An error
// that is a *protocol.Error goes to the peer as it is; any other is logged and
// told as INTERNAL_ERROR.
type Handler func(ctx context.Context, in *Exchange) (protocol.Message, error)

// Endpoint answers the requests of one agent. It is a jsonrpc.Handler and safe
// for concurrent use as far as its functions are. Its fields must not change
// once it serves.
type Endpoint struct {
	// Codec decides what is accepted and which dialects are recognised.
	Codec *protocol.Codec
	// Sender returns the sender field of answers, "player:P01".
	Sender func() string
	// Now tells the time for the timestamps of answers.
	Now func() time.Time
	// Authenticate, if set, judges who speaks before anything else about the
	// message is judged.
	Authenticate func(ctx context.Context, in *Exchange) error
	// Handlers answer the messages by type. A type that is known to the
	// protocol and has no handler is answered by Default, or refused if that
	// is nil.
	Handlers map[protocol.Type]Handler
	Default  Handler
	// Manner, if set, returns the dialect in which a request is answered where
	// that is not the one it came in: its sender may have shown that it reads
	// no answer in kind.
	Manner func(in *Exchange) *protocol.Dialect
	// Refusing, if set, is told of every request that is about to be refused,
	// and returns what is answered: why, or more than that.
	Refusing func(ctx context.Context, in *Exchange, why *protocol.Error) *protocol.Error
	// Log gets errors that are no refusals.
	Log *slog.Logger
}

// Takes returns the message types that have a handler of their own, in no
// particular order, and how much is asked of them.
func (e *Endpoint) Takes() (protocol.Mode, []protocol.Type) {
	return e.Codec.Mode(), slices.Collect(maps.Keys(e.Handlers))
}

// Handle implements jsonrpc.Handler.
func (e *Endpoint) Handle(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	in := &Exchange{RPC: rpc}
	x := exchangeOf(ctx)
	if x != nil {
		in.judge = x.Judge
	}
	var err error
	if rpc.Kind == jsonrpc.KindObject {
		in.Request, err = e.Codec.OpenBare(rpc.Raw)
	} else {
		in.Request, err = e.Codec.OpenRead(rpc.Method, rpc.Params)
	}
	if done, ok := e.withoutID(in); ok {
		x.learn(in, nil)
		return done
	}
	if in.Type == protocol.TypeLeagueError && err == nil {
		x.learn(in, nil)
		// Nothing answers an error report. One that wants an answer is given an
		// empty one, lest two agents refuse each other's refusals for ever.
		return taken(in)
	}
	var answer protocol.Message
	if err == nil {
		answer, err = e.serve(ctx, in)
	}
	if e.Manner != nil && in.Type != "" {
		in.Dialect = e.Manner(in)
	}
	var reply protocol.Reply
	if err == nil {
		reply, err = in.Reply(answer)
	}
	var refusal *protocol.Error
	if err != nil {
		refusal = e.refusing(ctx, in, err)
		reply = in.Refuse(in.Header.Answer("", e.Sender(), protocol.Timestamp(e.Now())), refusal)
	}
	x.learn(in, refusal)
	return response(reply, rpc.ID)
}

// withoutID answers what bears no id. An error report and a notification of
// the MCP standard may; every other request of the league is refused with a
// null id, since its sender could not tell the answer from another.
func (e *Endpoint) withoutID(in *Exchange) (jsonrpc.Response, bool) {
	if in.RPC.Kind == jsonrpc.KindObject || (in.RPC.Kind == jsonrpc.KindCall && string(in.RPC.ID) != "null") {
		return jsonrpc.Response{}, false
	}
	if in.RPC.Kind == jsonrpc.KindNotification &&
		(in.Type == protocol.TypeLeagueError || strings.HasPrefix(in.RPC.Method, "notifications/")) {
		return jsonrpc.Response{}, true
	}
	refusal := &protocol.Error{
		RPC: protocol.RPCInvalidRequest, Original: in.Type,
		Detail: "the request has no id; give it a string or a number",
	}
	return response(in.Refuse(in.Header.Answer("", e.Sender(), protocol.Timestamp(e.Now())), refusal), jsontext.Value("null")), true
}

func taken(in *Exchange) jsonrpc.Response {
	if in.RPC.Kind == jsonrpc.KindObject {
		return jsonrpc.Response{}
	}
	return jsonrpc.Response{Result: jsontext.Value(`{"status":"` + protocol.StatusAcknowledged + `"}`)}
}

func (e *Endpoint) serve(ctx context.Context, in *Exchange) (protocol.Message, error) {
	if e.Authenticate != nil {
		if err := e.Authenticate(ctx, in); err != nil {
			return nil, err
		}
	}
	h := e.Handlers[in.Type]
	if h == nil {
		h = e.Default
	}
	if h == nil {
		return nil, untaken(in)
	}
	answer, err := h(ctx, in)
	if err != nil {
		return nil, err
	}
	if answer == nil {
		about, _ := protocol.Describe(in.Type)
		ack, ok := protocol.New(about.Answer).(*protocol.Ack)
		if !ok { // nothing stands for an answer that has something to say
			return nil, untaken(in)
		}
		ack.Status = protocol.StatusAcknowledged
		answer = ack
	}
	e.address(in, answer)
	return answer, nil
}

func untaken(in *Exchange) error {
	return protocol.Refuse(protocol.CodeUnknownMessageType, in.Type, fmt.Sprintf("this agent does not take %s", in.Type))
}

// address fills in what every answer echoes, where the handler left it out.
func (e *Endpoint) address(in *Exchange, answer protocol.Message) {
	h := answer.Head()
	echo := in.Header.Answer(h.MessageType, e.Sender(), protocol.Timestamp(e.Now()))
	h.Protocol = echo.Protocol
	h.Sender = echo.Sender
	h.Timestamp = echo.Timestamp
	for _, f := range []struct{ to, from *string }{
		{&h.ConversationID, &echo.ConversationID}, {&h.LeagueID, &echo.LeagueID},
		{&h.MatchID, &echo.MatchID}, {&h.GameType, &echo.GameType},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if h.RoundID.IsAbsent() {
		h.RoundID = echo.RoundID
	}
}

// refusing returns what the peer is told of an error, and lets Refusing know.
func (e *Endpoint) refusing(ctx context.Context, in *Exchange, err error) *protocol.Error {
	refusal := e.refusal(ctx, in, err)
	if e.Refusing == nil {
		return refusal
	}
	return e.Refusing(ctx, in, refusal)
}

// refusal turns an error into what the peer is told.
func (e *Endpoint) refusal(ctx context.Context, in *Exchange, err error) *protocol.Error {
	var refusal *protocol.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	if ctx.Err() == nil && e.Log != nil {
		e.Log.Error("a request could not be served", "type", string(in.Type), "peer", in.RPC.RemoteAddr, "error", err)
	}
	return protocol.Refuse(protocol.CodeInternalError, in.Type, "the agent could not serve the request")
}

func response(r protocol.Reply, id jsontext.Value) jsonrpc.Response {
	switch {
	case r.Body != nil:
		return jsonrpc.Response{Status: r.Status, Body: r.Body}
	case r.Error != nil:
		return jsonrpc.Response{Status: r.Status, Error: &jsonrpc.Error{Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}}
	case r.Method != "":
		body, err := r.Document(id, jsontext.Value(`"`+jsonrpc.RandomID()+`"`))
		if err != nil {
			return jsonrpc.Response{Status: 500, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}}
		}
		return jsonrpc.Response{Status: r.Status, Body: body}
	default:
		return jsonrpc.Response{Status: r.Status, Result: r.Result}
	}
}

// Refuse is a jsonrpc.RefuseFunc: it gives what a server refuses by itself
// (an oversize body, a busy server) the error shape of the league.
func (e *Endpoint) Refuse(_ context.Context, _ *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	if r.Reason != jsonrpc.ReasonBusy {
		return nil // an error of JSON-RPC, which has its own shape
	}
	refusal := protocol.RefuseHTTP(r.Status, r.Detail)
	codec := &protocol.Request{Dialect: protocol.Contracts}
	reply := codec.Refuse(protocol.NewHeader("", e.Sender(), protocol.Timestamp(e.Now()), ""), refusal)
	if reply.Error == nil {
		return nil
	}
	return &jsonrpc.Error{Code: reply.Error.Code, Message: reply.Error.Message, Data: reply.Error.Data}
}
