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
	host.Memory // in which the agent listens

	// Timeout is the time the agent has for an answer or for an expected
	// request; New sets it to 10 s.
	Timeout time.Duration

	exchanges []*trace.Exchange
	strayed   bool        // a request was missing
	url       chan string // of the agent, once it listens

	mu     sync.Mutex
	unsent map[*trace.Exchange]chan struct{} // requests that the agent has not sent again; closed when it does
}

// New returns a playback of the exchanges that one agent recorded.
func New(exchanges []*trace.Exchange) *Playback {
	p := &Playback{Timeout: 10 * time.Second, exchanges: exchanges, url: make(chan string, 1), unsent: map[*trace.Exchange]chan struct{}{}}
	for _, x := range exchanges {
		if x.Sent {
			p.unsent[x] = make(chan struct{})
		}
	}
	return p
}

// Listen implements host.Network.
func (p *Playback) Listen(ctx context.Context, name string, cfg jsonrpc.Config) (host.Server, error) {
	srv, err := p.Memory.Listen(ctx, name, cfg)
	if err == nil {
		p.url <- srv.URL()
	}
	return srv, err
}

// From implements host.Network: all others are the recording.
func (p *Playback) From(string) jsonrpc.RoundTripper { return p }

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
	caller := p.Memory.From("recording")
	for _, x := range p.exchanges {
		step, missing, err := Step{Recorded: x}, false, error(nil)
		if x.Sent {
			missing, err = p.expect(ctx, x)
		} else {
			step.Replayed, err = p.send(ctx, caller, url, x)
		}
		if err != nil {
			return steps, err
		}
		if missing || !x.Sent {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

func (p *Playback) send(ctx context.Context, caller jsonrpc.RoundTripper, url string, x *trace.Exchange) (*trace.Exchange, error) {
	once, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	reply, err := caller.RoundTrip(once, &jsonrpc.Outgoing{URL: url, Body: x.Raw, MaxAnswer: 16 << 20})
	if err == nil {
		return x.WithAnswer(reply.Status, reply.Body), context.Cause(ctx)
	}
	replayed := x.WithAnswer(0, nil)
	replayed.Failure = err.Error()
	return replayed, context.Cause(ctx)
}

// expect waits for a request of the agent where the others depend on it.
func (p *Playback) expect(ctx context.Context, x *trace.Exchange) (missing bool, err error) {
	conducts := x.Match != "" && x.Type != protocol.TypeGameError
	p.mu.Lock()
	sent := p.unsent[x]
	p.mu.Unlock()
	if sent == nil || !usable(x) || !registers(x) && !conducts {
		return false, nil
	}
	patience := p.Timeout
	if p.strayed { // the agent goes other ways than the recorded one, and may send none of the rest
		patience /= 100
	}
	select {
	case <-sent:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-time.After(patience):
	}
	if registers(x) {
		return false, fmt.Errorf("replay: the agent sent no %s within %v, but the recording has one", x.Type, p.Timeout)
	}
	p.strayed = true
	return true, nil
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

// RoundTrip answers a message from the recording: with the answer to the next
// message of the same type, match and query to the same peer, or the last one again.
func (p *Playback) RoundTrip(_ context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	asked := trace.ReadRequest(out.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	chosen := -1
	for i, x := range p.exchanges {
		if !x.Sent || !usable(x) || x.Peer != out.URL || x.Type != asked.Type || x.Match != asked.Match || query(x) != query(asked) {
			continue
		}
		chosen = i
		if p.unsent[x] != nil {
			break
		}
	}
	if chosen < 0 {
		return nil, &jsonrpc.CallError{Kind: jsonrpc.ErrConnect, Err: errors.New("the recording has no answer to this call")}
	}
	first, x := chosen, p.exchanges[chosen]
	if registers(x) {
		first = 0 // what a player asked before it registered says nothing to a registered one
	}
	for _, x := range p.exchanges[first : chosen+1] {
		if sent := p.unsent[x]; sent != nil {
			close(sent)
			delete(p.unsent, x)
		}
	}
	return &jsonrpc.Reply{Status: x.Status, Header: http.Header{}, Body: slices.Clone(x.RawAnswer)}, nil
}

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
	if i := slices.IndexFunc(part, func(x *trace.Exchange) bool { return x.Sent && registers(x) }); i >= 0 {
		return part[i].Peer
	}
	return "http://manager/mcp"
}

// WriteSteps writes the answers that differ and how many do.
func WriteSteps(w io.Writer, steps []Step, all bool) error {
	same := 0
	for _, s := range steps {
		text := "was sent, but is not any more"
		switch {
		case s.Same():
			same++
			if !all {
				continue
			}
			text = s.Replayed.Outcome() + ", as recorded"
		case s.Replayed != nil:
			text = s.Replayed.Outcome() + "; recorded: " + s.Recorded.Outcome()
		}
		fmt.Fprintf(w, "%s: %s\n", strings.TrimSpace(string(s.Recorded.Type)+" "+s.Recorded.Match), text)
	}
	_, err := fmt.Fprintf(w, "%s, %d with the recorded answer, %d with another\n", words.Plain.Plural(int64(len(steps)), "request"), same, len(steps)-same)
	return err
}
