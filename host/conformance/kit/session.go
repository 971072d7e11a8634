package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
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
	// Timeout is how long the agent may take for one answer, and how long the checks wait for what
	// it must do unasked. It is also the deadline that the agent is given.
	Timeout time.Duration
	// Wait is how long the checks wait for the agent to listen and to register.
	Wait time.Duration
	// Pause is the longest pause between two attempts of an agent that follows the protocol.
	Pause time.Duration
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

// ErrUnreachable says that no agent is listening.
var ErrUnreachable = errors.New("no agent is listening")

func (s *Session) unreachable(err error) error {
	return fmt.Errorf("%w at %s (waited %v): %w", ErrUnreachable, s.URL, s.Wait, err)
}

// Session is one run of a suite against one agent.
type Session struct {
	Config
	Registrar *Registrar // with which the agent registers; nil for a manager
	Peer      *wire.Peer // the agent, as far as it is known how it takes messages

	transport jsonrpc.RoundTripper
	lost      string                   // the check during which the agent became unreachable
	numbers   atomic.Int64             // the last request id that is a number
	plain     atomic.Pointer[Evidence] // of the first refusal that is only an HTTP status
	base      Sample                   // that AnyOf has chosen
	control   *Answer                  // the refusal of the base, if it is refused without any fault

	mu      sync.Mutex    // guards what follows: checks may send at the same time
	slowest time.Duration // that an answer took
}

// NewSession returns a session that runs those checks that its config names one by one.
func NewSession(cfg Config) *Session {
	return &Session{Config: cfg, transport: jsonrpc.OverNewConnections(), Peer: wire.NewPeer(cfg.URL, dialect.Contracts)}
}

// Patience is how long the suite waits for what an agent must do unasked, after a pause
// that the protocol allows: longer for one that takes its time for answers, too.
func (s *Session) Patience() time.Duration {
	const answers = 3
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.Timeout, answers*s.slowest) + s.Pause
}

// Selected reports whether the session runs a check.
func (s *Session) Selected(id string) bool { return slices.Contains(s.Only, id) }

const connectTimeout = 2 * time.Second

// Reach returns why no connection to a URL is possible, or nil.
func Reach(ctx context.Context, rawURL string) error {
	conn, err := dial(ctx, rawURL)
	if err == nil {
		err = conn.Close()
	}
	return err
}

// dial connects to the agent at a URL.
func dial(ctx context.Context, rawURL string) (net.Conn, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not the URL of an agent; use one like http://127.0.0.1:8101/mcp", rawURL)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), u.Scheme)))
}

// AwaitAgent waits until the agent accepts connections.
func (s *Session) AwaitAgent(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	for said := false; ; said = true {
		err := Reach(ctx, s.URL)
		if err == nil {
			return nil
		}
		if !said {
			s.Say(fmt.Sprintf("no agent is listening at %s yet; waiting for up to %v", s.URL, s.Wait))
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return s.unreachable(err)
		}
	}
}

// speaking are the HTTP statuses that say why by themselves.
var speaking = []int{
	http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// Accepted ends the check unless an answer accepts the request with a message
// of a type. An empty type stands for any; an answer without a type passes.
func (t *T) Accepted(a *Answer, want protocol.Type) {
	if r := t.Session.Registrar; r != nil && a.Refused && !r.Registered() { // it knows another manager, or none
		t.Skip("the agent is not registered with this manager and answers with %s; start it with the manager %s, so that it knows the sender", a, r.Endpoint.URL)
	}
	given := protocol.Type(a.Message.Text("message_type"))
	switch {
	case a.Err != nil, a.Refused, a.Document == nil:
		t.Fail("answered by %s", a)
	case !a.OK():
		t.Fail("answered with HTTP %d; callers treat that as a failure before they read the body", a.Status)
	case a.Message == nil:
		t.Fail("the answer holds no message, neither in result nor elsewhere")
	case want != "" && given != "" && given != want:
		t.Fail("answered by a %s instead of a %s", given, want)
	}
}

// Refused ends the check unless an answer refuses what the agent understands. An agent that does
// not know the message at all would have refused it anyway: then the check is skipped.
func (t *T) Refused(a *Answer) {
	if a.UnknownMessage() {
		t.Skip("it does not know the message with which this is tested: %s", a)
	}
	t.TurnedDown(a)
}

// TurnedDown ends the check unless an answer is a refusal, in any form. A refusal that would have
// come for the message without its fault as well tells nothing: then the check is skipped.
func (t *T) TurnedDown(a *Answer) {
	switch {
	case a.Err != nil:
		t.Fail("it was not answered: %v", a.Err)
	case a.Refused:
		if t.Control(a) {
			t.Skip("it refuses such a message without the fault in the same words (%s)", a)
		}
	case len(a.Body) == 0 && a.Status >= http.StatusBadRequest:
		t.Fail("answered with HTTP %d and an empty body; a caller cannot tell why", a.Status)
	default:
		t.Fail("it was accepted: answered by %s", a)
	}
}

// Equal ends the check unless an answer has a member with a value.
func (t *T) Equal(a *Answer, name, want string) { t.Says(a.Message, map[string]string{name: want}) }

// Says ends the check unless a message has members with these values.
func (t *T) Says(m Fields, want map[string]string) {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if cmp.Or(m.Text(name), string(m.Get(name))) != want[name] {
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %q", name, m.Shown(name), want[name]))
		}
	}
	if len(wrong) > 0 {
		t.Fail("%s", strings.Join(wrong, "; "))
	}
}

// Agrees is Says of those members that the message has.
func (t *T) Agrees(m Fields, want map[string]string) {
	maps.DeleteFunc(want, func(name, _ string) bool { return !m.Has(name) })
	t.Says(m, want)
}

// Sample makes a request that an agent of a role accepts.
type Sample func(t *T) Request

// AnyOf returns the first of the samples that the agent accepts: not every agent knows every
// message. If it accepts none, the sample is the first one, and a refusal in the same words no
// longer counts as a finding about anything else. The choice is made once in a session.
func AnyOf(samples ...Sample) Sample {
	return func(t *T) Request {
		s := t.Session
		if s.base == nil {
			s.base = samples[0]
			for i, sample := range samples {
				a := &Answer{} // of a sample that cannot be made
				aside := t.Aside()
				aside.Catch(func() { a = aside.Send(sample(aside)) })
				if a.Taken() {
					s.base, s.control = sample, nil
					break
				}
				if i == 0 && a.Refused {
					s.control = a
				}
			}
		}
		return s.base(t)
	}
}

// Control reports whether an answer is the refusal that the agent gives to the
// base of the session without any fault.
func (t *T) Control(a *Answer) bool {
	c := t.Session.control
	return c != nil && a.Refused && c.Status == a.Status && c.Code == a.Code && c.Reason == a.Reason
}

// AcceptsNone reports whether the agent accepts none of the samples.
func (t *T) AcceptsNone() bool { return t.Session.control != nil }

// NeedsAccepted skips a check if the agent accepts no sample.
func (t *T) NeedsAccepted() {
	if c := t.Session.control; c != nil {
		t.Skip("it accepts none of the messages with which this is tested: %s", c)
	}
}
