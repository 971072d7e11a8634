package jsonrpc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"time"
)

const (
	dialTimeout = 5 * time.Second // for connecting, and for the TLS handshake
	// keptIdle is how long a connection is kept for the next call. It is shorter than
	// what servers take, or calls would use connections that are just being closed;
	// common Python servers close theirs after 5 s.
	keptIdle = 4 * time.Second
	// maxIdle is the number of connections kept for one peer. Each concurrent call
	// above it needs a new connection.
	maxIdle = 256
)

// OverHTTP returns a round tripper for http and https URLs that keeps
// connections alive. It uses no proxy, whatever the environment says, and
// follows no redirect, so that a call reaches only the host that its URL names.
func OverHTTP() RoundTripper { return overHTTP(nil) }

// OverNewConnections is OverHTTP with a connection for each call. A server that writes the
// head and the body of an answer apart, as Python's http.server does, answers on a kept one
// 40 ms late, and a server without threads none but the kept one.
func OverNewConnections() RoundTripper {
	c := overHTTP(nil)
	c.transport.DisableKeepAlives = true
	return c
}

func overHTTP(cfg *tls.Config) *httpCaller {
	return &httpCaller{&http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		TLSClientConfig:        cfg,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        keptIdle,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}}
}

// httpCaller uses an http.Transport, since an http.Client would only add redirects and cookies.
type httpCaller struct {
	transport *http.Transport
}

// Close closes the connections that are not in use.
func (c *httpCaller) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// RoundTrip implements RoundTripper.
func (c *httpCaller) RoundTrip(ctx context.Context, out *Outgoing) (*Reply, error) {
	req, err := newHTTPRequest(ctx, out)
	if err != nil {
		return nil, err
	}
	connected := false
	trace := &httptrace.ClientTrace{ // one attempt may need several connections
		GetConn: func(string) { connected = false },
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	}
	res, err := c.transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	kind := ErrConnect
	switch {
	case err == nil:
	case connected:
		kind = httpErrorKind(err)
	case req.URL.Scheme == "https":
		err = fmt.Errorf("TLS: %w", err)
	}
	if err != nil {
		return nil, &CallError{Kind: kind, Err: err}
	}
	defer res.Body.Close()
	body, err := readBody(res.Body, res.Header, res.ContentLength, out.MaxAnswer)
	switch {
	case errors.Is(err, errTooLong):
		return nil, errAnswerTooLarge(out.MaxAnswer, res.StatusCode)
	case err != nil:
		return nil, &CallError{Kind: ErrClosed, Status: res.StatusCode, Body: body, Err: err}
	}
	return &Reply{Status: res.StatusCode, Header: res.Header, Body: body}, nil
}

func newHTTPRequest(ctx context.Context, out *Outgoing) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, cmp.Or(out.Method, http.MethodPost), out.URL, bytes.NewReader(out.Body))
	if err != nil {
		return nil, err
	}
	if u := req.URL; u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the URL must be http:// or https:// with a host")
	}
	req.Header["Content-Type"] = []string{jsonMedia}
	req.Header["Accept"] = []string{jsonMedia}
	for name, values := range out.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return req, nil
}

// httpErrorKind classifies an error of an http.Transport that was connected: an
// answer that is not HTTP, or else the end of the connection.
func httpErrorKind(err error) error {
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok {
		return ErrMalformed
	}
	// net/http has no types for these.
	if text := err.Error(); strings.Contains(text, "malformed HTTP") || strings.Contains(text, "headers exceeded") {
		return ErrMalformed
	}
	return ErrClosed
}
