package kit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Role is what the agent under test is.
type Role string

// The roles.
const (
	Player  Role = "player"
	Referee Role = "referee"
	Manager Role = "manager"
)

// Config says which agent is checked, and how. Role and URL are required. Package
// conformance replaces the zero values of other fields by their defaults.
type Config struct {
	Role Role
	URL  string   // of the agent
	Only []string // ids of checks; none means all
	// Timeout is how long the agent may take for one answer, and how long the
	// checks wait for what it must do unasked. It is also the deadline that
	// the agent is given.
	Timeout time.Duration
	// Wait is how long the checks wait for the agent to listen and to register.
	Wait time.Duration
	// Listen is the address at which the suite's manager listens. Its other
	// endpoints take free ports of the same host.
	Listen string
	// ID is the id of an agent that does not register.
	ID string
	// Busy refuses the first registration as a busy manager does, to see
	// whether the agent retries. An agent that does not must be restarted.
	Busy bool
	// Players is the number of players that register with a manager.
	Players int
	// AdminToken is the token that a manager asks for before it starts a league.
	AdminToken string
	// Listening is called with the URL of the suite's manager once it listens.
	Listening func(url string)
	// Began is called with the id of each check before it runs.
	Began func(id string)
	// Say is called with a sentence when the user has to do something or wait.
	Say func(string)
}

// UnreachableError reports that no agent is listening.
type UnreachableError struct {
	URL  string
	Wait time.Duration
	Err  error // of the last attempt
}

// Error says where no agent was found.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no agent is listening at %s (waited %v): %v", e.URL, e.Wait, e.Err)
}

// Unwrap returns why the agent could not be reached.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Session is one run of a suite against one agent.
type Session struct {
	Config
	transport jsonrpc.RoundTripper
	selected  []string
	lost      string  // the check during which the agent became unreachable
	base      Sample  // that AnyOf has chosen
	control   *Answer // the refusal of the base, if it is refused without any fault

	mu    sync.Mutex // guards what follows: checks may send at the same time
	plain *Evidence  // the first refusal that is only an HTTP status
}

// NewSession returns a session that runs the checks with the selected ids.
func NewSession(cfg Config, selected []string) *Session {
	return &Session{Config: cfg, transport: jsonrpc.OverHTTP(jsonrpc.HTTPConfig{}), selected: selected}
}

// Close closes the connections to the agent.
func (s *Session) Close() error { return s.transport.Close() }

// exchange sends a request. If a connection breaks that has served an earlier
// request, it sends the request again over a new one: some servers close theirs
// after an error without saying so, and that is no missing answer.
func (s *Session) exchange(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	reused := false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }})
	reply, err := s.transport.RoundTrip(traced, out)
	if err == nil || !reused || ctx.Err() != nil {
		return reply, err
	}
	fresh := jsonrpc.OverHTTP(jsonrpc.HTTPConfig{})
	reply, err = fresh.RoundTrip(ctx, out)
	return reply, errors.Join(err, fresh.Close())
}

// Selected reports whether the session runs a check.
func (s *Session) Selected(id string) bool { return slices.Contains(s.selected, id) }

const connectTimeout = 2 * time.Second

// Reach returns why no connection to a URL is possible, or nil.
func (s *Session) Reach(ctx context.Context, rawURL string) error {
	addr, err := address(rawURL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// ValidURL reports whether a text is the absolute URL of an agent.
func ValidURL(rawURL string) bool {
	_, err := address(rawURL)
	return err == nil
}

func address(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not the URL of an agent; use one like http://127.0.0.1:8101/mcp", rawURL)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// AwaitAgent waits until the agent accepts connections.
func (s *Session) AwaitAgent(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	for said := false; ; said = true {
		err := s.Reach(ctx, s.URL)
		if err == nil {
			return nil
		}
		if !said {
			s.Say(fmt.Sprintf("no agent is listening at %s yet; waiting for up to %v", s.URL, s.Wait))
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return &UnreachableError{URL: s.URL, Wait: s.Wait, Err: err}
		}
	}
}

// Get sends a GET request and returns the status and header of the response.
func (s *Session) Get(ctx context.Context, url string, timeout time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, min(timeout, s.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return nil, err
	}
	return resp, resp.Body.Close()
}
