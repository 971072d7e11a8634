// Package playback replays a recording against an agent. It sends the agent the
// recorded requests in their order, and answers the agent's own requests as they
// were answered in the recording.
package playback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Playback is a network with one endpoint, the agent's. All calls of the agent
// are answered from the recording.
type Playback struct {
	// Timeout is the time the agent has for an answer or for an expected
	// request; New sets it to 10 s.
	Timeout time.Duration

	exchanges []*trace.Exchange
	strayed   bool // a request was missing
	loop      jsonrpc.Loopback
	url       chan string // of the agent, once it listens

	mu     sync.Mutex
	served map[*trace.Exchange]bool
	change chan struct{} // closed and replaced after each served call
}

// New returns a playback of the exchanges that one agent recorded.
func New(exchanges []*trace.Exchange) *Playback {
	return &Playback{
		Timeout: 10 * time.Second, exchanges: exchanges, url: make(chan string, 1),
		served: map[*trace.Exchange]bool{}, change: make(chan struct{}),
	}
}

// Listen implements host.Network.
func (p *Playback) Listen(_ context.Context, name string, cfg jsonrpc.Config) (host.Server, error) {
	srv, err := p.loop.Listen(name, cfg)
	if err == nil {
		p.url <- srv.URL()
	}
	return srv, err
}

// From implements host.Network.
func (p *Playback) From(string) jsonrpc.RoundTripper { return others{p} }

// Close implements host.Network.
func (p *Playback) Close() error { return nil }

// Step compares a recorded exchange with its replay. Replayed is nil if the
// agent no longer sends the request.
type Step struct{ Recorded, Replayed *trace.Exchange }

// Same reports whether both exchanges have the same outcome.
func (s Step) Same() bool {
	return s.Replayed != nil && s.Recorded.Outcome() == s.Replayed.Outcome()
}

// Run waits until the agent listens, sends it the recorded requests one after
// another and returns one step for each. Where the agent registered in the
// recording, Run waits until it registers again, and where a referee called a
// player, until it calls it again.
func (p *Playback) Run(ctx context.Context) ([]Step, error) {
	var url string
	select {
	case url = <-p.url:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var steps []Step
	caller := p.loop.From("recording")
	for _, x := range p.exchanges {
		if x.Sent {
			missing, err := p.expect(ctx, x)
			if err != nil {
				return steps, err
			}
			if missing {
				steps = append(steps, Step{Recorded: x})
			}
			continue
		}
		replayed, err := p.send(ctx, caller, url, x)
		if err != nil {
			return steps, err
		}
		steps = append(steps, Step{x, replayed})
	}
	return steps, nil
}

func (p *Playback) send(ctx context.Context, caller jsonrpc.RoundTripper, url string, x *trace.Exchange) (*trace.Exchange, error) {
	once, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	reply, err := caller.RoundTrip(once, &jsonrpc.Outgoing{URL: url, Body: x.Raw, MaxAnswer: 16 << 20})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		replayed := x.WithAnswer(0, nil)
		replayed.Failure = err.Error()
		return replayed, nil
	}
	return x.WithAnswer(reply.Status, reply.Body), nil
}

// expect waits for a request of the agent where the others depend on it.
func (p *Playback) expect(ctx context.Context, x *trace.Exchange) (missing bool, err error) {
	conducts := x.Match != "" && x.Type != protocol.TypeGameError
	if !usable(x) || !registers(x) && !conducts {
		return false, nil
	}
	err = p.await(ctx, x)
	if errors.Is(err, errMissing) && !registers(x) {
		p.strayed = true
		return true, nil
	}
	return false, err
}

func registers(x *trace.Exchange) bool {
	return x.Type == protocol.TypeLeagueRegisterRequest || x.Type == protocol.TypeRefereeRegisterRequest
}

// query is what a query of the league asks for; empty for other messages.
func query(x *trace.Exchange) string {
	if q, ok := x.Request.(*protocol.LeagueQuery); ok {
		return q.QueryType
	}
	return ""
}

// usable reports whether an exchange has an answer to replay. Failed calls are
// not replayed: the agent would only wait.
func usable(x *trace.Exchange) bool {
	return x.Answered && (len(x.RawAnswer) > 0 || x.Status >= 200 && x.Status < 300)
}

var errMissing = errors.New("expected request is missing")

// await waits until the agent has sent a request again.
func (p *Playback) await(ctx context.Context, x *trace.Exchange) error {
	patience := p.Timeout
	if p.strayed { // the agent goes other ways than the recorded one, and may send none of the rest
		patience /= 100
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		served, change := p.served[x], p.change
		p.mu.Unlock()
		if served {
			return nil
		}
		select {
		case <-change:
		case <-late.C:
			return fmt.Errorf("replay: the agent sent no %s within %v, but the recording has one: %w", x.Type, p.Timeout, errMissing)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// others answers all calls of the agent.
type others struct{ p *Playback }

// Transport implements jsonrpc.RoundTripper.
func (others) Transport() jsonrpc.Transport { return jsonrpc.TransportLoopback }

// Close implements jsonrpc.RoundTripper.
func (others) Close() error { return nil }

var errUnrecorded = errors.New("the recording has no answer to this call")

// RoundTrip answers a message from the recording: with the answer to the next
// message of the same type, match and query to the same peer, or the last one again.
func (o others) RoundTrip(_ context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	asked := trace.ReadRequest(out.Body)
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	var chosen *trace.Exchange
	for _, x := range p.exchanges {
		if !x.Sent || !usable(x) || x.Peer != out.URL || x.Type != asked.Type || x.Match != asked.Match || query(x) != query(asked) {
			continue
		}
		chosen = x
		if !p.served[x] {
			break
		}
	}
	if chosen == nil {
		return nil, &jsonrpc.CallError{Kind: jsonrpc.ErrConnect, Err: errUnrecorded}
	}
	p.served[chosen] = true
	for _, x := range p.exchanges {
		if x == chosen {
			break
		}
		if registers(chosen) && x.Sent {
			p.served[x] = true // what a player asked before it registered says nothing to a registered one
		}
	}
	close(p.change)
	p.change = make(chan struct{})
	return &jsonrpc.Reply{Status: chosen.Status, Header: http.Header{}, Body: slices.Clone(chosen.RawAnswer)}, nil
}

var _ host.Network = (*Playback)(nil)

// Part returns the exchanges of one agent, and the names of all that were sent requests. For an
// empty name it is the only one; without such an agent it is nil.
func Part(rec *trace.Recording, agent string) (part []*trace.Exchange, agents []string) {
	for _, x := range rec.Exchanges {
		if (!x.Sent || x.Match != "") && !slices.Contains(agents, x.Agent) {
			agents = append(agents, x.Agent)
		}
	}
	slices.Sort(agents)
	if agent == "" && len(agents) == 1 {
		agent = agents[0]
	}
	if slices.Contains(agents, agent) {
		part = slices.DeleteFunc(slices.Clone(rec.Exchanges), func(x *trace.Exchange) bool { return x.Agent != agent })
	}
	return part, agents
}

// Manager returns the URL at which the agent registered.
func Manager(part []*trace.Exchange) string {
	for _, x := range part {
		if x.Sent && registers(x) {
			return x.Peer
		}
	}
	return "http://manager/mcp"
}

// WriteSteps writes the answers that differ and how many do.
func WriteSteps(w io.Writer, steps []Step, all bool) error {
	differ := 0
	for _, s := range steps {
		if !s.Same() {
			differ++
		} else if !all {
			continue
		}
		name := strings.TrimSpace(string(s.Recorded.Type) + " " + s.Recorded.Match)
		switch {
		case s.Replayed == nil:
			fmt.Fprintf(w, "%s: was sent, but is not any more\n", name)
		case s.Same():
			fmt.Fprintf(w, "%s: %s, as recorded\n", name, s.Replayed.Outcome())
		default:
			fmt.Fprintf(w, "%s: %s; recorded: %s\n", name, s.Replayed.Outcome(), s.Recorded.Outcome())
		}
	}
	_, err := fmt.Fprintf(w, "%s, %d with the recorded answer, %d with another\n", words.Plain.Plural(int64(len(steps)), "request"), len(steps)-differ, differ)
	return err
}
