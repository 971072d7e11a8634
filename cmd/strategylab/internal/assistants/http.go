package assistants

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
)

type webServer struct {
	addr   string
	token  string // empty: every client that reaches the address may call
	config jsonrpc.Config
}

// newWeb reads the flags of HTTP; nil without --http.
func newWeb(p *command.Process, c *cli.Context, o *mcpOptions) (*webServer, error) {
	w := &webServer{addr: o.HTTP, token: o.Token}
	if !c.IsSet("http") {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(w.addr)
	if err != nil {
		return nil, command.Usagef("--http is %q, want HOST:PORT, for example 127.0.0.1:8765", w.addr)
	}
	if w.token == "" && !jsonrpc.IsLoopback(host) {
		return nil, command.WithHint(fmt.Errorf("--http %s: others can reach this address, but no token is set", w.addr),
			"set %s to a long random text, or listen on 127.0.0.1", command.Variable("token"))
	}
	if w.token != "" && len(w.token) < 16 {
		return nil, command.Usagef("--token has %d characters, want at least 16", len(w.token))
	}
	callers, err := o.Callers()
	// The server is that of the agents, for its limits and its checks of Host and Origin.
	w.config = jsonrpc.Config{
		Path: "/", Divert: func(*jsonrpc.Request) bool { return true }, Callers: callers, ReadTimeout: time.Minute,
		TLSCert: p.Path(o.TLSCert), TLSKey: p.Path(o.TLSKey),
	}
	return w, err
}

// serve serves until ctx ends, and then ends the running calls.
func (w *webServer) serve(ctx context.Context, server *mcptools.Server, started func(url string)) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", w.withToken(server.Handler()))
	w.config.Other = mux
	s, err := jsonrpc.Listen(ctx, w.addr, w.config)
	if err != nil {
		server.Close()
		return fmt.Errorf("mcp: %w", err)
	}
	started(s.URL() + "mcp")
	return closing(ctx, server, func() error { return s.Serve(ctx, nil) }) // everything else is diverted
}

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
