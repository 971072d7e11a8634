package wire

import (
	"context"

	"github.com/strategylab/strategylab/host/protocol"
)

// An Exchange is what somebody between a server and an Endpoint shares with the
// Endpoint about one request, through the context: it says what else is to be
// judged, and learns what the Endpoint found out. It belongs to one request at
// a time.
type Notes struct {
	// Judge, if set, is asked by Decode before the field rules are: once it is
	// known who speaks. Its error is returned by Decode.
	Judge func() error

	// What the Endpoint fills in: the type and conversation of the message as
	// far as they are known, the dialect in which it was answered, and the
	// refusal, if it was refused.
	Type         protocol.Type
	Conversation string
	Dialect      *protocol.Dialect
	Refusal      *protocol.Error
}

type exchangeKey struct{}

// WithExchange returns a context whose request shares x.
func WithExchange(ctx context.Context, x *Notes) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf returns the exchange of a context, nil without one.
func exchangeOf(ctx context.Context) *Notes {
	x, _ := ctx.Value(exchangeKey{}).(*Notes)
	return x
}

// learn takes down what is known of a request that has been answered.
func (x *Notes) learn(in *Exchange, refusal *protocol.Error) {
	if x == nil {
		return
	}
	x.Type, x.Conversation, x.Dialect, x.Refusal = in.Type, in.Header.ConversationID, in.Dialect, refusal
}
