package jsonrpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Server serves one endpoint over HTTP. Its methods are safe for concurrent
// use; Serve may be called once.
type Server struct {
	endpoint httpHandler // without a handler until Serve is called
	ln       net.Listener
	url      url.URL
}

// Listen opens addr ("host:port"; port 0 picks a free one). A port in use or an
// unreadable certificate is an error here, and the address is known before the
// handler exists. Peers that connect wait until Serve is called.
func Listen(ctx context.Context, addr string, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if host, _, err := net.SplitHostPort(addr); err == nil {
		cfg.Callers.Hosts = append([]string{host}, cfg.Callers.Hosts...)
	}
	guard, err := cfg.Callers.Guard()
	if err != nil {
		return nil, fmt.Errorf("jsonrpc: %w", err)
	}
	s := &Server{
		endpoint: httpHandler{responder: responder{cfg: cfg}, guard: guard},
		url:      url.URL{Scheme: "http", Path: cfg.Path},
	}
	var certificates []tls.Certificate
	if cfg.TLSCert != "" || cfg.TLSKey != "" {
		cert, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("jsonrpc: TLS needs a certificate and its key as PEM files: %w", err)
		}
		certificates, s.url.Scheme = []tls.Certificate{cert}, "https"
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // Go's default doubles the cost of listening, and agents have one path
	if s.ln, err = lc.Listen(ctx, "tcp", addr); err != nil {
		return nil, fmt.Errorf("jsonrpc: cannot listen on %q: %w", addr, err)
	}
	s.url.Host = s.Addr().String()
	if tcp, ok := s.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		s.url.Host = fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	if certificates != nil {
		s.ln = tls.NewListener(s.ln, &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12})
	}
	return s, nil
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.ln.Addr() }

// URL returns the URL of the endpoint. Where the server listens on all interfaces it names the
// loopback one, which only reaches it from the same machine.
func (s *Server) URL() string { return s.url.String() }

// Close stops listening. It is needed only if Serve is never called.
func (s *Server) Close() error { return s.ln.Close() }

// Serve answers requests with h until ctx ends. It then accepts no more, gives those in flight the
// drain period to finish, cancels the rest and returns when every handler has returned: nil, or an
// error that says how many requests were cut off. It also returns if accepting connections fails.
func (s *Server) Serve(ctx context.Context, h Handler) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	e := &s.endpoint
	e.handler, e.draining = h, ctx
	hs := &http.Server{
		Handler:        e,
		BaseContext:    func(net.Listener) context.Context { return base },
		ReadTimeout:    e.cfg.ReadTimeout,
		WriteTimeout:   e.cfg.WriteTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(e.cfg.Logger.Handler(), slog.LevelWarn),
	}
	closeUnused := LimitConnections(hs, maxConns, connsPerPeer)
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(s.ln) }()

	var err error
	select {
	case <-ctx.Done():
		closeUnused()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.cfg.Drain)
		defer cancel()
		if errors.Is(hs.Shutdown(ctx), context.DeadlineExceeded) {
			err = e.gate.cutOff(s.URL(), e.cfg.Drain) // or nil for connections that came too late to be closed, or whose answer is out
		}
		<-failed
	case err = <-failed:
		err = fmt.Errorf("jsonrpc: serving %s: %w", s.URL(), err)
	}
	// Connections first, so that no peer reads the answer of a cancelled handler.
	// What fails to close is gone already.
	_ = hs.Close()
	cut()
	<-e.gate.close()
	return err
}

const (
	jsonMedia  = "application/json"
	retryAfter = "1" // seconds, as the Retry-After of a busy server
)

// allocateAtOnce is the longest body for which a peer's Content-Length is
// believed before the bytes have come.
const allocateAtOnce = 64 << 10

// httpHandler is the responder as an http.Handler, with what only HTTP has:
// verbs, media types, and other routes.
type httpHandler struct {
	responder
	gate     gate
	guard    func(*http.Request) (refused string)
	draining context.Context // ends when the server begins to drain
}

func (e *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var foreign *Refusal
	if why := e.guard(r); why != "" {
		foreign = refusal(ReasonForeign, why)
	}
	here := r.URL.Path == e.cfg.Path || e.cfg.Lenient && strings.HasPrefix(r.URL.Path+"/", strings.TrimRight(e.cfg.Path, "/")+"/")
	post := r.Method == http.MethodPost
	switch {
	case foreign != nil && !(here && post):
		http.Error(w, "forbidden: "+foreign.Detail, foreign.Status)
	case !here && e.cfg.Other == nil:
		http.Error(w, "not found: the JSON-RPC endpoint is "+e.cfg.Path, http.StatusNotFound)
	case !here || e.cfg.Divert != nil && !post:
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(e.draining, cancel)()
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			clearReadDeadline(w)
		}
		e.other(w, r.WithContext(ctx))
	default:
		req := &Request{Transport: TransportHTTP, Route: r.URL.Path, RemoteAddr: r.RemoteAddr, Host: r.Host, Header: r.Header}
		if e.diverted(w, r, req, foreign) {
			clearReadDeadline(w)
			r = r.WithContext(r.Context())
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(req.Raw)), int64(len(req.Raw))
			e.other(w, r)
		}
	}
}

// diverted serves a request, or reports that it has been
// read and belongs to Other.
func (e *httpHandler) diverted(w http.ResponseWriter, r *http.Request, req *Request, refused *Refusal) bool {
	if refused == nil {
		refused = e.checkHeader(r)
	}
	if refused == nil {
		var leave func()
		if leave, refused = e.gate.enter(); refused == nil {
			defer leave()
			req.Raw, refused = readRequest(w, r, e.cfg.MaxBody)
			Answering(r.Context())
		}
	}
	if refused == nil && e.cfg.Divert != nil {
		req.parse(e.cfg.Lenient)
		if e.cfg.Divert(req) {
			return true
		}
	}
	write(w, e.serve(r.Context(), req, refused))
	return false
}

// other has Other serve a request, which has no deadline for the answer.
func (e *httpHandler) other(w http.ResponseWriter, r *http.Request) {
	leave, refused := e.gate.enter()
	if refused != nil {
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, refused.Detail, refused.Status)
		return
	}
	defer leave()
	Answering(r.Context())
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a writer that cannot lift it has none
	e.cfg.Other.ServeHTTP(w, r)
}

// clearReadDeadline lifts the deadline of a request that has been read, since
// net/http would take its passing for a disconnect.
func clearReadDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

func (e *httpHandler) checkHeader(r *http.Request) *Refusal {
	if r.Method != http.MethodPost {
		return refusal(ReasonVerb, "the endpoint takes POST only")
	}
	if !isJSON(r.Header.Get("Content-Type"), e.cfg.Lenient) {
		return refusal(ReasonMediaType, "Content-Type must be application/json, in UTF-8")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" && !(isGzip(r.Header) && e.cfg.Lenient) {
		return refusal(ReasonMediaType, "this Content-Encoding is not supported: send the body as it is")
	}
	return nil
}

// isJSON reports whether a Content-Type says JSON in UTF-8. A lenient reader looks at a body that
// has none (RFC 9110, section 8.3), and takes a media type that is JSON by its suffix (RFC 6839) or
// by its name, such as application/json-rpc; a web page may send none of these unasked.
func isJSON(contentType string, lenient bool) bool {
	if contentType == jsonMedia || lenient && contentType == "" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && (media == jsonMedia || lenient && (strings.HasSuffix(media, "+json") || strings.HasPrefix(media, jsonMedia+"-") || media == "text/json")) && (!given || strings.EqualFold(charset, "utf-8"))
}

// readRequest reads at most max bytes. On failure it returns what there was.
func readRequest(w http.ResponseWriter, r *http.Request, max int64) (jsontext.Value, *Refusal) {
	body, err := readBody(r.Body, r.Header, r.ContentLength, max)
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, errTooLong):
		discard(w, r, max)
		return nil, bodyTooLarge(max)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return body, refusal(ReasonTimeout, "the body did not arrive in time")
	case isGzip(r.Header):
		return body, refusal(ReasonBadJSON, detail("the body is not what its Content-Encoding says: "+err.Error()))
	}
	return body, refusal(ReasonBadJSON, "the body ended before its announced length")
}

// discard reads past a body that is too long, up to 16 times the limit: a simple peer reads its
// answer only after it has sent everything, and would see a reset if the connection were closed
// before. A peer that asks first (Expect) sends nothing.
func discard(w http.ResponseWriter, r *http.Request, max int64) {
	if r.Header.Get("Expect") != "" {
		return
	}
	const reason = 16
	if _, err := io.CopyN(io.Discard, r.Body, reason*max); err == nil {
		// There is more. Overrunning a MaxBytesReader has net/http close the
		// connection after a pause.
		_, _ = http.MaxBytesReader(w, r.Body, 0).Read(make([]byte, 1))
	}
}

var errTooLong = errors.New("too long")

// readBody reads a body to its end, decompressed where its header says gzip, whether that was asked
// for or not. Its length is size if that is not negative. It fails with errTooLong where there is
// more than max.
func readBody(r io.Reader, h http.Header, size, max int64) ([]byte, error) {
	if size > max {
		return nil, errTooLong
	}
	if isGzip(h) {
		plain, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r, size = plain, -1
	}
	if size >= 0 && size <= allocateAtOnce {
		buf := make([]byte, size)
		n, err := io.ReadFull(r, buf)
		return buf[:n], err
	}
	body, err := io.ReadAll(io.LimitReader(r, max+1))
	if err == nil && int64(len(body)) > max {
		return nil, errTooLong
	}
	return body, err
}

// write sends an answer. A peer that is gone is no error.
func write(w http.ResponseWriter, rep Reply) {
	h := w.Header()
	maps.Copy(h, rep.Header)
	if len(rep.Body) > 0 {
		h.Set("Content-Type", jsonMedia)
		h.Set("Content-Length", strconv.Itoa(len(rep.Body)))
	}
	w.WriteHeader(rep.Status)
	_, _ = w.Write(rep.Body)
}
