package jsonrpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Server serves one endpoint over HTTP. Its methods are safe for concurrent
// use; Serve may be called once.
type Server struct {
	cfg   Config
	conns *connections
	gate  *gate
	tls   *tls.Config
}

// Listen opens addr ("host:port"; port 0 takes a free one), so that a taken
// port or an unreadable certificate is an error here and the address is known
// before the handler is made. Peers that connect wait until Serve is called.
func Listen(ctx context.Context, addr string, cfg Config) (*Server, error) {
	s := &Server{cfg: cfg.withDefaults()}
	s.gate = newGate(s.cfg.MaxConcurrent, s.cfg.MaxPerPeer)
	if cfg.TLSCert != "" || cfg.TLSKey != "" {
		cert, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("jsonrpc: TLS needs a certificate and its key as PEM files: %w", err)
		}
		s.tls = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // Go's default; it doubles what listening costs, and agents have one path
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("jsonrpc: cannot listen on %q: %w", addr, err)
	}
	s.conns = newConnections(ln, s.cfg.MaxConns)
	return s, nil
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.conns.Addr() }

// URL returns the URL of the endpoint. Where the server listens on all
// interfaces it names the loopback one, which only reaches it from the same
// machine.
func (s *Server) URL() string {
	u := url.URL{Scheme: "http", Host: s.Addr().String(), Path: s.cfg.Path}
	if s.tls != nil {
		u.Scheme = "https"
	}
	if tcp, ok := s.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		u.Host = fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return u.String()
}

// Close stops listening. It is needed only if Serve is never called.
func (s *Server) Close() error { return s.conns.Close() }

// Serve answers requests with h until ctx ends. It then takes no more, gives
// those in hand the drain period to finish, cancels what is left and returns
// when every handler has returned: nil, or an error that says how many requests
// were cut off. It also returns if accepting connections fails.
func (s *Server) Serve(ctx context.Context, h Handler) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	hs := &http.Server{
		Handler: &httpEndpoint{
			endpoint: endpoint{cfg: s.cfg, handler: h},
			gate:     s.gate,
			draining: ctx,
		},
		BaseContext:    func(net.Listener) context.Context { return base },
		ConnState:      s.conns.track,
		ReadTimeout:    s.cfg.ReadTimeout,
		WriteTimeout:   s.cfg.WriteTimeout,
		IdleTimeout:    s.cfg.IdleTimeout,
		MaxHeaderBytes: s.cfg.MaxHeader,
		ErrorLog:       slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
	}
	var ln net.Listener = s.conns
	if s.tls != nil {
		ln = tls.NewListener(ln, s.tls)
	}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(ln) }()

	var err error
	select {
	case <-ctx.Done():
		err = s.drain(ctx, hs)
		<-failed
	case err = <-failed:
		err = fmt.Errorf("jsonrpc: serving %s: %w", s.URL(), err)
	}
	// Connections first: a handler that is cancelled answers, and nobody should
	// take that for an answer. What fails in closing is gone already.
	_ = hs.Close()
	cut()
	<-s.gate.close()
	return err
}

// drain waits for the requests in hand, at most for the drain period.
func (s *Server) drain(ctx context.Context, hs *http.Server) error {
	s.conns.closeUnused()
	ctx, cancel := withDrain(ctx, s.cfg.Drain)
	defer cancel()
	err := hs.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("jsonrpc: draining %s: %d requests were cut off after %v", s.URL(), s.gate.inHand(), s.cfg.Drain)
	}
	return nil
}

// withDrain returns a context for the drain period after ctx has ended.
func withDrain(ctx context.Context, drain time.Duration) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if drain < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, drain)
}
