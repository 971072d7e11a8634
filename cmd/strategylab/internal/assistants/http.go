package assistants

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
)

// webServer serves the lab over HTTP.
type webServer struct {
	addr   string
	token  string                     // empty: every client that reaches the address may call
	tls    *tls.Config                // nil: plain HTTP
	refuse func(*http.Request) string // why a web page is kept out, or ""
	log    *slog.Logger
}

// newWeb reads the flags of HTTP; nil without --http.
func newWeb(p *command.Process, c *cli.Context, o *mcpOptions, log *slog.Logger) (*webServer, error) {
	w := &webServer{addr: o.HTTP, token: o.Token, log: log}
	if !c.IsSet("http") {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(w.addr)
	if err != nil {
		return nil, command.Usagef("--http is %q, want HOST:PORT, for example 127.0.0.1:8765", w.addr)
	}
	if w.token == "" && !jsonrpc.IsLoopback(host) {
		return nil, command.WithHint(fmt.Errorf("--http %s: others can reach this address, but no token is set", w.addr),
			"set %s to a long random text, or listen on 127.0.0.1", TokenVariable)
	}
	if w.token != "" && len(w.token) < 16 {
		return nil, command.Usagef("--token has %d characters, want at least 16", len(w.token))
	}
	if w.refuse, err = o.RefuseForeign(host); err != nil {
		return nil, err
	}
	w.tls, err = tlsOf(p, o.Certificate)
	return w, err
}

// tlsOf reads the certificate of HTTPS; nil without one.
func tlsOf(p *command.Process, c command.Certificate) (*tls.Config, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(p.Path(c.TLSCert), p.Path(c.TLSKey))
	if err != nil {
		return nil, command.Usagef("TLS needs a certificate and its key as PEM files: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// serve serves until ctx ends, and then ends the running calls.
func (w *webServer) serve(ctx context.Context, server *mcptools.Server, started func(url string)) error {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", w.addr)
	if err != nil {
		server.Close()
		return fmt.Errorf("mcp: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", w.withToken(server.Handler()))
	web := &http.Server{
		Handler: w.fromFriends(mux), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, TLSConfig: w.tls, ErrorLog: slog.NewLogLogger(w.log.Handler(), slog.LevelDebug),
	}
	conns := jsonrpc.NewConnections(maxConns, maxConns/4)
	conns.Attach(web)
	requests, cut := context.WithCancel(context.WithoutCancel(ctx)) // requests outlive ctx, so that they are answered
	defer cut()
	web.BaseContext = func(net.Listener) context.Context { return requests }
	ended := make(chan error, 1)
	scheme, serve := "http", web.Serve
	if w.tls != nil {
		scheme, serve = "https", func(l net.Listener) error { return web.ServeTLS(l, "", "") }
	}
	go func() { ended <- serve(l) }()
	started(scheme + "://" + l.Addr().String() + "/mcp")
	select {
	case err = <-ended:
		server.Close()
		return fmt.Errorf("mcp: %w", err)
	case <-ctx.Done():
	}
	server.Close() // ends the calls and their answers
	cut()
	conns.CloseUnused()
	late, done := context.WithTimeout(context.Background(), shutdownTime)
	defer done()
	if web.Shutdown(late) != nil {
		err = web.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// shutdownTime is how long connections may take to end with the server.
const shutdownTime = 3 * time.Second

// maxConns is the number of open connections; a quarter of them may be of one address.
const maxConns = 1024

// fromFriends keeps out foreign web pages.
func (w *webServer) fromFriends(next http.Handler) http.Handler {
	return http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		if why := w.refuse(req); why != "" {
			http.Error(res, "forbidden: "+why, http.StatusForbidden)
			return
		}
		jsonrpc.Answering(req.Context())
		next.ServeHTTP(res, req)
	})
}

// withToken requires the token.
func (w *webServer) withToken(next http.Handler) http.Handler {
	if w.token == "" {
		return next
	}
	want := sha256.Sum256([]byte(w.token))
	return http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		scheme, shown, _ := strings.Cut(req.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(shown)) // hashes make the comparison constant-time for any length
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			res.Header().Set("WWW-Authenticate", `Bearer realm="strategylab"`)
			http.Error(res, "this server requires its token: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(res, req)
	})
}
