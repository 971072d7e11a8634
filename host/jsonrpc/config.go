package jsonrpc

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// DefaultPath is the path of an endpoint that is not configured otherwise.
const DefaultPath = "/mcp"

// Config configures a server on any transport. The zero value of a field means the default
// named with it. Fields that do not apply to a transport (times over STDIO, say) are ignored there.
type Config struct {
	// Path is the path of the endpoint, by default DefaultPath.
	Path string
	// Other serves what is not for the endpoint: requests for other paths and, with Divert, those on
	// Path that are not POST or that Divert picks. Without it they are answered 404 and 405. The
	// contexts of its requests end when the server begins to drain, so that streams do not delay it;
	// WriteTimeout does not apply. Requests that Divert picks may use the drain period. Tap sees none
	// of them.
	Other http.Handler
	// Divert reports whether a POST on Path goes to Other, which it needs and which then reads the
	// original body. It is called when the body has been read, over HTTP only.
	// Where the body is not a request (KindCall without a Method: bad JSON, a batch, a response),
	// only Raw and what does not come from the body are filled in.
	Divert func(*Request) bool
	// Beside, if set, returns the Side of a stream that ServeStdio serves. It writes its
	// lines with send, which is safe for concurrent use.
	Beside func(send func(line []byte) error) Side

	// Callers says which web pages may call, and by which names. Requests that it
	// keeps out are answered 403 on every path, before they are read.
	Callers Callers
	// Lenient takes what RFC 8259, RFC 9110 and JSON-RPC 2.0 allow a peer to send and
	// others refuse: a byte order mark, a body without a Content-Type, with one that ends
	// in +json, or compressed by gzip, and a path below the endpoint's; and JSON objects
	// without a "jsonrpc" member, which the handler receives as KindObject. Batches are
	// refused all the same: league.v2 does not have them.
	Lenient bool
	// Refuse, if set, replaces the error objects of refusals.
	Refuse RefuseFunc
	// Tap, if set, sees every message in and out.
	Tap Tap
	// Logger receives panics of handlers and what net/http reports about single
	// connections, at level Warn or Error. By default nothing is logged.
	Logger *slog.Logger

	// MaxBody is the longest body or line that is read, in bytes: 1 MiB.
	MaxBody int64
	// MaxConcurrent is the number of requests in flight over STDIO: 1024. At the limit it stops
	// reading; with 1, it answers strictly in order. Over HTTP connections are the limit.
	MaxConcurrent int

	// ReadTimeout is the time for reading a request, header and body: 10 s.
	ReadTimeout time.Duration
	// WriteTimeout is the time from the end of the header until the answer is
	// written, the handler's time included: 60 s.
	WriteTimeout time.Duration
	// Drain is the time that requests in flight have to finish when the server
	// ends: 3 s. After it their contexts are cancelled and connections closed.
	Drain time.Duration

	// TLSCert and TLSKey are PEM files; both or neither. With them the server
	// speaks HTTPS (TLS 1.2 or later, HTTP/1.1).
	TLSCert, TLSKey string
}

func (c Config) withDefaults() Config {
	c.Path = cmp.Or(c.Path, DefaultPath)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxConcurrent = cmp.Or(c.MaxConcurrent, 1024)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 10*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 60*time.Second)
	c.Drain = cmp.Or(c.Drain, 3*time.Second)
	return c
}

// What no league needs otherwise.
const (
	maxHeader    = 16 << 10          // bytes of an HTTP header
	maxConns     = 1024              // open connections, see LimitConnections
	connsPerPeer = 256               // of them of one remote address
	idleTimeout  = 120 * time.Second // of a connection between requests
)
