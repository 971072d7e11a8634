package wire

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// Peer is an agent to call, with what is known about the dialect that it
// understands. It is safe for concurrent use.
type Peer struct {
	URL     string
	Dialect *dialect.Dialect

	mu         sync.Mutex
	guess      bool                    // Dialect is a guess
	learned    *dialect.Dialect        // what the peer has shown that it speaks
	ways       map[protocol.Type]Way   // that worked, where they are not the dialect's own
	unheard    map[protocol.Type]error // notifications that it knows by no name
	understood bool                    // it has answered a message
	settled    []protocol.Type         // types for which no other names need to be tried
	at         string                  // where it takes messages, if not at URL
	header     http.Header             // of its session
	tools      discovery.Toolbox       // that it lists
	listed     bool                    // it was asked for them
	operations []discovery.Operation   // that it publishes
	climbed    bool                    // a ladder was climbed for it
	assignment string                  // method by which it accepts single assignments, if not by announcements
}

// NewPeer returns a peer that speaks a dialect.
func NewPeer(url string, d *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: d}
}

// GuessPeer returns a peer whose dialect is not known: calls try one dialect
// first, and others when the peer does not understand it.
func GuessPeer(url string, first *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: first, guess: true}
}

// TryNextAssignment changes how a referee is assigned its matches, for one that
// accepts announcements without playing.
func (p *Peer) TryNextAssignment() {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := slices.DeleteFunc(protocol.AssignmentNames(), func(name string) bool { return name == p.Dialect.Assignment })
	p.assignment = names[(slices.Index(names, p.assignment)+1)%len(names)]
}

// Speaks returns the dialect that the peer has shown to understand or, before
// that, the one that it was created with.
func (p *Peer) Speaks() *dialect.Dialect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.speaks()
}

func (p *Peer) speaks() *dialect.Dialect {
	if p.learned != nil {
		return p.learned
	}
	return p.Dialect
}

// guessed reports whether the dialect is a guess.
func (p *Peer) guessed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.guess
}

// Learn records the dialect that the peer understands.
func (p *Peer) Learn(d *dialect.Dialect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learned = d
}

// Way returns how a message of a type is put to the peer. The error is that of
// the attempt that has shown that it knows the notification by no name.
func (p *Peer) Way(t protocol.Type) (Way, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.unheard[t]; err != nil {
		return Way{}, err
	}
	if w, ok := p.ways[t]; ok {
		return w, nil
	}
	w := Way{URL: cmp.Or(p.at, p.URL), Dialect: p.speaks()}
	if w.Dialect.Request.Name != "" && len(p.tools) > 0 {
		tool, ok := p.tools.For(t)
		if !ok {
			return w, &dialect.Refusal{Code: protocol.CodeUnknownMessageType, Message: "none of the tools " + strings.Join(p.tools.Names(), ", ") + " takes " + string(t)}
		}
		w.Name, w.Input = tool.Name, &tool.Input
	}
	if op, ok := operationFor(p.operations, t); ok {
		return operationWay(p.URL, op), nil
	}
	return w, nil
}

// worked records the way in which the peer accepts a type.
func (p *Peer) worked(t protocol.Type, w Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ways == nil {
		p.ways = make(map[protocol.Type]Way)
	}
	p.ways[t] = w
}

// name records that the name of a type is settled: the peer has understood it, or
// fails under every name.
func (p *Peer) name(t protocol.Type, understood bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.understood = p.understood || understood
	if !slices.Contains(p.settled, t) {
		p.settled = append(p.settled, t)
	}
}

// climbs reports whether a ladder may be climbed for the peer: once, so that a peer
// that refuses everything gets no more.
func (p *Peer) climbs() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.climbed
	p.climbed = true
	return !was
}

// named reports whether the name of a type is settled.
func (p *Peer) named(t protocol.Type) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.settled, t)
}

// understands reports whether the peer has understood any message.
func (p *Peer) understands() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.understood
}

// ignores records that the peer knows a notification by no name.
func (p *Peer) ignores(t protocol.Type, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unheard == nil {
		p.unheard = make(map[protocol.Type]error)
	}
	p.unheard[t] = err
}

// Address returns where the peer takes messages.
func (p *Peer) Address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.at, p.URL)
}

// SessionHeader returns the header that requests to the peer bear, nil for none.
func (p *Peer) SessionHeader() http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.header
}

// listTools asks the peer for its tools, once. It reports whether it has listed
// any.
func (p *Peer) listTools(ctx context.Context, c *Caller) bool {
	p.mu.Lock()
	asked := p.listed
	p.listed = true
	p.mu.Unlock()
	if !asked {
		tools, _ := c.tools(ctx, p.Address(), p.SessionHeader(), p.Speaks())
		p.mu.Lock()
		p.tools = tools
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tools) > 0
}

// Lists are the tools that peers have listed just now, for several callers of one
// process that would ask the same peer at the same time. It is safe for concurrent
// use; the zero value is empty.
type Lists struct {
	mu     sync.Mutex
	listed map[string]*listed
}

// listed is what a peer lists, once done is closed.
type listed struct {
	done  chan struct{}
	at    time.Time
	tools discovery.Toolbox
	err   error
}

// tools asks a peer for its tools, unless another caller is doing that or has just
// done so.
func (c *Caller) tools(ctx context.Context, at string, header http.Header, d *dialect.Dialect) (discovery.Toolbox, error) {
	if c.Lists == nil || header != nil {
		return c.askForTools(ctx, at, header, d)
	}
	key := fmt.Sprint(at, d.NumericIDs)
	c.Lists.mu.Lock()
	if known := c.Lists.listed[key]; known != nil && time.Since(known.at) < describeTime {
		c.Lists.mu.Unlock()
		select {
		case <-known.done:
			return known.tools, known.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	own := &listed{done: make(chan struct{}), at: time.Now()}
	if c.Lists.listed == nil {
		c.Lists.listed = make(map[string]*listed)
	}
	maps.DeleteFunc(c.Lists.listed, func(_ string, old *listed) bool { return time.Since(old.at) >= describeTime })
	c.Lists.listed[key] = own
	c.Lists.mu.Unlock()
	defer close(own.done)
	own.tools, own.err = c.askForTools(ctx, at, header, d)
	return own.tools, own.err
}

func (c *Caller) askForTools(ctx context.Context, at string, header http.Header, d *dialect.Dialect) (discovery.Toolbox, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	got, err := c.send(ctx, at, header, dialect.Call{Method: "tools/list", Params: jsontext.Value("{}")}, c.idFor(d, ""))
	if err != nil {
		return nil, err
	}
	tools, ok := discovery.ReadTools(got.Result)
	if !ok {
		_, err = c.Codec.ReadAnswer(protocol.TypeLeagueQuery, dialect.Answer{Status: got.Status, Error: errorOf(got), Body: got.Raw})
	}
	return tools, err
}

// askedForTools reports whether the peer was asked for its tools.
func (p *Peer) askedForTools() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listed
}

// AssignedBy returns the method by which a referee is assigned its matches one by
// one; empty where it is sent announcements.
func (p *Peer) AssignedBy() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.assignment != "" {
		return p.assignment
	}
	return p.speaks().Assignment
}
