package jsonrpc

import "context"

// A Side shares a stream with an endpoint: it takes the messages of another
// protocol. Its messages reach neither the handler nor Config.Tap.
type Side interface {
	// Take is handed every line in the order in which they came, and reports
	// whether the message is the side's. Where the line is no request of
	// JSON-RPC, refused says why the endpoint would refuse it. The context lives
	// as long as the stream is served. Take holds up the reading of the stream,
	// so it must not wait for the answer.
	Take(ctx context.Context, req *Request, refused *Refusal) bool
	// End is called when no more will be taken. It returns when what was taken
	// has been answered, or, soon after the context has ended, when it has been
	// given up.
	End(ctx context.Context)
}
