// Package playback confronts an agent with the other side of a recording: it
// gets the requests that were recorded, in their order, and the answers that
// were recorded to its own.
package playback

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Patience is how long the agent may take for what is awaited of it.
const Patience = 10 * time.Second

// Playback is the other side. It is a network with one endpoint, the agent's;
// everybody whom the agent calls answers from the recording.
type Playback struct {
	exchanges []*trace.Exchange
	loop      jsonrpc.Loopback
	url       chan string // of the agent, once it listens

	mu     sync.Mutex
	served map[*trace.Exchange]bool
	change chan struct{} // closed and replaced when something was served
}

// New returns the other side of exchanges that one agent recorded.
func New(exchanges []*trace.Exchange) *Playback {
	return &Playback{
		exchanges: exchanges, url: make(chan string, 1),
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

// Step is a recorded request to the agent, and how it is answered now; or a
// request that the agent made then and does not make now, of which Is is nil.
type Step struct{ Was, Is *trace.Exchange }

// Same reports whether all is as it was, as far as it matters.
func (s Step) Same() bool { return s.Is != nil && s.Was.Outcome() == s.Is.Outcome() }

// Drive sends the agent the recorded requests one after another and returns its
// answers. Where the agent registered, it is waited for until it does; a
// referee also until it has made each call of its matches. Drive begins when
// the agent listens.
func (p *Playback) Drive(ctx context.Context) ([]Step, error) {
	var url string
	select {
	case url = <-p.url:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var steps []Step
	caller := p.loop.From("recording")
	for _, x := range p.exchanges {
		if x.Direction == jsonrpc.Out {
			missing, err := p.expect(ctx, x)
			if err != nil {
				return steps, err
			}
			if missing {
				steps = append(steps, Step{Was: x})
			}
			continue
		}
		is, err := p.ask(ctx, caller, url, x)
		if err != nil {
			return steps, err
		}
		steps = append(steps, Step{x, is})
	}
	return steps, nil
}

func (p *Playback) ask(ctx context.Context, caller jsonrpc.RoundTripper, url string, x *trace.Exchange) (*trace.Exchange, error) {
	once, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	reply, err := caller.RoundTrip(once, &jsonrpc.Outgoing{URL: url, Body: x.Raw, MaxAnswer: 16 << 20})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		is := x.WithAnswer(0, nil)
		is.Failure = err.Error()
		return is, nil
	}
	return x.WithAnswer(reply.Status, reply.Body), nil
}

// expect waits for a request of the agent's own, where it has to come.
func (p *Playback) expect(ctx context.Context, x *trace.Exchange) (missing bool, err error) {
	conducts := x.Match != "" && x.Type != protocol.TypeGameError
	if !usable(x) || !registers(x) && !conducts {
		return false, nil
	}
	err = p.await(ctx, x)
	if errors.Is(err, errMissing) && !registers(x) {
		return true, nil
	}
	return false, err
}

func registers(x *trace.Exchange) bool {
	return x.Type == protocol.TypeLeagueRegisterRequest || x.Type == protocol.TypeRefereeRegisterRequest
}

// usable reports whether an exchange has an answer that can be given again.
// Calls that failed are not failed again: the agent would only wait.
func usable(x *trace.Exchange) bool {
	return x.Answered && (len(x.RawAnswer) > 0 || x.Status >= 200 && x.Status < 300)
}

// errMissing says that the agent does not do what it did.
var errMissing = errors.New("as it did when it was recorded")

// await waits until an answer has been given to the agent.
func (p *Playback) await(ctx context.Context, x *trace.Exchange) error {
	late := time.NewTimer(Patience)
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
			return fmt.Errorf("the agent has sent no %s within %v, %w", x.Type, Patience, errMissing)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// others is everybody whom the agent calls.
type others struct{ p *Playback }

// Transport implements jsonrpc.RoundTripper.
func (others) Transport() jsonrpc.Transport { return jsonrpc.TransportLoopback }

// Close implements jsonrpc.RoundTripper.
func (others) Close() error { return nil }

// errUnrecorded is what a call meets that nobody made when it was recorded.
var errUnrecorded = errors.New("the recording has no answer to it")

// RoundTrip answers a message as it was answered when it was recorded: the next
// of the same type and match to the same peer, or the last again.
func (o others) RoundTrip(_ context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	asked := trace.ReadRequest(out.Body)
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	var chosen *trace.Exchange
	for _, x := range p.exchanges {
		if x.Direction != jsonrpc.Out || !usable(x) || x.Peer != out.URL || x.Type != asked.Type || x.Match != asked.Match {
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
	close(p.change)
	p.change = make(chan struct{})
	return &jsonrpc.Reply{Status: chosen.Status, Header: http.Header{}, Body: slices.Clone(chosen.RawAnswer)}, nil
}

var _ host.Network = (*Playback)(nil)
