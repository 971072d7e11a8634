package conformance

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"
)

// reachWithin is how long a connection may take that says whether somebody is
// there.
const reachWithin = 2 * time.Second

// reach reports why nobody can be connected to at a URL, or nil.
func (c *counterpart) reach(ctx context.Context, rawURL string) error {
	addr, err := address(rawURL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// address returns host and port of a URL.
func address(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("%q is no URL of an agent, such as http://127.0.0.1:8101/mcp", rawURL)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// awaitAgent waits until the agent can be connected to.
func (c *counterpart) awaitAgent(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Wait)
	defer cancel()
	for told := false; ; told = true {
		err := c.reach(ctx, c.opts.URL)
		if err == nil {
			return nil
		}
		if !told {
			c.opts.Say(fmt.Sprintf("nobody listens at %s yet; waiting for up to %v", c.opts.URL, c.opts.Wait))
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return &NobodyError{URL: c.opts.URL, Wait: c.opts.Wait, Err: err}
		}
	}
}

// awaitRegistration waits until an agent has registered, of which it is told by
// arrived, and can be reached. It reports false for an agent that is there and
// has not registered; where nobody is there, the error is a *NobodyError.
func (c *counterpart) awaitRegistration(ctx context.Context, arrived <-chan struct{}, registered func() bool) (bool, error) {
	late := time.NewTimer(c.opts.Wait)
	defer late.Stop()
	for waiting := true; waiting && !registered(); {
		select {
		case <-arrived:
		case <-late.C:
			waiting = false
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	if registered() {
		return true, c.awaitAgent(ctx)
	}
	if err := c.reach(ctx, c.opts.URL); err != nil {
		return false, &NobodyError{URL: c.opts.URL, Wait: c.opts.Wait, Err: err}
	}
	return false, nil
}
