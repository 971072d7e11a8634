package wire

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// Peer is an agent to call, with what is known about the forms that it understands.
// It is safe for concurrent use.
type Peer struct {
	URL     string
	Dialect *dialect.Dialect

	mu         sync.Mutex
	guess      bool                    // Dialect is a guess
	guessedAll bool                    // all forms were tried for a message that it should know
	learned    *dialect.Dialect        // what the peer has shown that it speaks
	forms      map[protocol.Type]Form  // that worked, where they are not the dialect's own
	understood bool                    // it has answered a message
	settled    map[protocol.Type]error // no names are left to try; why, if it knows none
	at         string                  // where it takes messages, if not at URL
	listed     bool                    // it was asked for its tools
	assignment string                  // method by which it accepts single assignments, if not by announcements
	published
}

// published is what a peer says of how it is called.
type published struct {
	header     http.Header           // of its session
	tools      discovery.Toolbox     // that it lists
	operations []discovery.Operation // that it publishes
}

// NewPeer returns a peer that speaks a dialect.
func NewPeer(url string, d *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: d, forms: make(map[protocol.Type]Form), settled: make(map[protocol.Type]error)}
}

// GuessPeer returns a peer whose dialect is not known: calls try one dialect
// first, and others when the peer does not understand it.
func GuessPeer(url string, first *dialect.Dialect) *Peer {
	p := NewPeer(url, first)
	p.guess = true
	return p
}

// note reads or changes what is known of the peer.
func (p *Peer) note(what func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what()
}

func get[T any](p *Peer, read func() T) (v T) {
	p.note(func() { v = read() })
	return v
}

// Speaks returns the dialect that the peer has shown to understand or, before
// that, the one that it was created with.
func (p *Peer) Speaks() *dialect.Dialect { return get(p, p.speaks) }

func (p *Peer) speaks() *dialect.Dialect { return cmp.Or(p.learned, p.Dialect) }

// Learn records the dialect that the peer understands.
func (p *Peer) Learn(d *dialect.Dialect) { p.note(func() { p.learned = d }) }

// Form returns the form of messages of a type for the peer. The error is that of the
// attempt that has shown that it knows the notification by no name.
func (p *Peer) Form(t protocol.Type) (Form, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.settled[t]; err != nil {
		return Form{}, err
	}
	if f, ok := p.forms[t]; ok {
		return f, nil
	}
	f := Form{URL: cmp.Or(p.at, p.URL), Dialect: p.speaks()}
	if f.Dialect.Request.Name != "" && len(p.tools) > 0 {
		tool, ok := p.tools.For(t)
		if !ok {
			return f, &dialect.Refusal{Code: protocol.CodeUnknownMessageType, Message: "none of the tools " + strings.Join(p.tools.Names(), ", ") + " takes " + string(t)}
		}
		f.Name, f.Input = tool.Name, &tool.Input
	}
	best := 0
	for _, op := range p.operations {
		if fit := op.Fit(t); fit > best && !op.General() {
			f, best = operationForm(p.URL, op), fit
		}
	}
	return f, nil
}

func (p *Peer) guessed() bool { return get(p, func() bool { return p.guess }) }

// Address returns where the peer takes messages.
func (p *Peer) Address() string { return get(p, func() string { return cmp.Or(p.at, p.URL) }) }

// SessionHeader returns the header that requests to the peer bear, nil for none.
func (p *Peer) SessionHeader() http.Header { return get(p, func() http.Header { return p.header }) }

// AssignedBy returns the method by which a referee is assigned its matches one by
// one; empty where it is sent announcements.
func (p *Peer) AssignedBy() string {
	return get(p, func() string { return cmp.Or(p.assignment, p.speaks().Assignment) })
}

// TryNextAssignment changes how a referee is assigned its matches, for one that
// accepts announcements without playing.
func (p *Peer) TryNextAssignment() {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := slices.DeleteFunc(slices.Clone(protocol.AssignmentNames), func(name string) bool { return name == p.Dialect.Assignment })
	p.assignment = names[(slices.Index(names, p.assignment)+1)%len(names)]
}

// tools asks a peer for its tools.
func (c *Caller) tools(ctx context.Context, at string, header http.Header, d *dialect.Dialect) (discovery.Toolbox, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	got, err := c.send(ctx, at, header, jsonrpc.Message{Method: "tools/list", Params: jsontext.Value("{}")}, c.idFor(d, ""))
	if err != nil {
		return nil, err
	}
	tools, ok := discovery.ReadTools(got.Members.Get("result"))
	if !ok {
		_, err = c.Codec.ReadAnswer(protocol.TypeLeagueQuery, dialect.AnswerOf(got.Status, got.Members, got.Raw))
	}
	return tools, err
}
