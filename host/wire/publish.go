package wire

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// What a peer is given to describe itself.
const (
	describeTime  = 3 * time.Second
	describeBytes = 2 << 20
)

// proposePaths proposes the paths that the peer publishes, and those that conventions
// suggest, each with the commonest form at first.
func (c *Conversation) proposePaths(ctx context.Context, t protocol.Type) {
	base, err := url.Parse(c.Peer.URL)
	if err != nil || !c.once(Paths, "") {
		return
	}
	own, guesses := operations(c.Peer.URL, t), []Form(nil)
	for _, path := range conventions(base.Path) {
		guesses = append(guesses, c.probe(resolve(c.Peer.URL, path)))
	}
	if needsNothing(t) { // those that have a path for it have no method
		guesses = slices.Concat(own, guesses)
	} else {
		guesses = append(guesses, own...)
	}
	c.propose(Paths, append(c.publishedForms(ctx, t), guesses...)...)
}

// Plainly makes the next Send go on with the forms that send nothing of the message,
// for a peer that has refused the message itself.
func (c *Conversation) Plainly(ctx context.Context, t protocol.Type) {
	f := c.probe(c.Peer.URL)
	if c.settled != nil && !c.settled.Dialect.Request.Bare {
		f = *c.settled
	}
	c.settled, c.agenda, c.evidence, c.requests, c.stay = nil, nil, nil, 0, true
	c.propose(Members, f.smallest()...)
	if c.once(Paths, "") {
		for _, f := range c.publishedForms(ctx, t) {
			if f.Single {
				c.propose(Paths, f)
			}
		}
	}
	for _, f := range operations(c.Peer.URL, t) {
		c.propose(Paths, f.smallest()...)
	}
}

// publishedForms fetches the peer's OpenAPI description, and returns its forms.
func (c *Conversation) publishedForms(ctx context.Context, t protocol.Type) []Form {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	c.requests++
	reply, err := c.Caller.Client.Get(ctx, resolve(c.Peer.URL, "/openapi.json"), describeBytes)
	if err != nil || reply.Status != http.StatusOK {
		return nil
	}
	c.operations, _ = discovery.ReadOpenAPI(reply.Body)
	var forms []Form
	for _, op := range c.operations {
		at := resolve(c.Peer.URL, op.Path)
		switch {
		case op.General():
			forms = append(forms, c.probe(at))
		case op.Fit(t) > 0:
			forms = append(forms, operationForm(c.Peer.URL, op), Form{URL: at, Dialect: dialect.Bare, Spread: true, Single: true})
		}
	}
	return forms
}

// probe is the commonest form at a path of which nothing is known.
func (c *Conversation) probe(at string) Form {
	return Form{URL: at, Dialect: c.ofKind(dialect.Contracts, c.text)}
}

// publishes reports whether the peer describes a URL as its own.
func (c *Conversation) publishes(at string) bool {
	u, err := url.Parse(at)
	return err == nil && slices.ContainsFunc(c.operations, func(op discovery.Operation) bool { return op.Path == u.Path })
}

// askTools asks for the peer's tools, once for each path, and puts the tool that takes
// the message in front.
func (c *Conversation) askTools(ctx context.Context, at string, t protocol.Type) {
	if !c.once(Tools, at) {
		return
	}
	d := c.ofKind(dialect.Tool, c.text)
	c.requests++
	tools, err := c.Caller.tools(ctx, at, c.header, d)
	if err != nil && needsSession(err) && c.once(Session, "") {
		c.greet(ctx, at)
		c.requests++
		tools, _ = c.Caller.tools(ctx, at, c.header, d)
	}
	if len(tools) == 0 {
		return
	}
	c.tools = tools
	if tool, ok := tools.For(t); ok {
		declared := Form{URL: at, Dialect: d, Name: tool.Name, Input: &tool.Input}
		forms := []Form{declared}
		if other := c.ofKind(dialect.Tool, !c.text); other != nil { // a list may be for everybody, and a call not
			forms = append(forms, Form{URL: at, Dialect: other, Name: tool.Name, Input: &tool.Input})
		}
		c.prefer(Tools, append(forms, Form{URL: at, Dialect: d, Name: tool.Name})...)
	}
}

// greet opens a session with an MCP server, for those that want one.
func (c *Conversation) greet(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	c.header = http.Header{"Accept": {"application/json, text/event-stream"}}
	c.requests += 2
	params := jsontext.Value(`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"strategylab","version":"1"}}`)
	got, err := c.Caller.send(ctx, at, c.header, jsonrpc.Message{Method: "initialize", Params: params}, c.Caller.idFor(c.ofKind(dialect.Tool, false), ""))
	if err != nil {
		return
	}
	if got.Session != "" {
		c.header.Set(jsonrpc.SessionHeader, got.Session)
	}
	_, _ = c.Caller.Client.Call(ctx, at, jsonrpc.Message{Method: "notifications/initialized", Notify: true, Header: c.header}) // servers that want it answer nothing
}

// looks says what the peer seems to be.
func (c *Conversation) looks(t protocol.Type) string {
	var paths []string
	for _, op := range c.operations {
		paths = append(paths, "POST "+op.Path)
	}
	notJSON, elsewhere := 0, 0
	for _, a := range c.evidence {
		text := Words(a.Err)
		if strings.HasPrefix(text, "<") || text != "" && !strings.ContainsAny(text[:1], "{[") && callError(a.Err) != nil {
			notJSON++
		}
		if protocol.Says(protocol.OtherGame, text) {
			elsewhere++
		}
	}
	_, fits := c.tools.For(t)
	switch {
	case len(c.tools) > 0 && !fits:
		return "it looks like an MCP server without a tool for that; its tools are " + list(c.tools.Names())
	case len(paths) > 0:
		return "it looks like a server with a protocol of its own: " + list(paths)
	case notJSON == len(c.evidence):
		return "it does not answer with JSON; it looks like another kind of server than a league manager"
	case elsewhere > 0:
		return "it looks like a server of another game or protocol version"
	}
	return "it answers, but takes no message of league.v2 at any usual path; check the URL"
}

func list(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// resolve returns the URL of a path at a peer, "" where the peer's own is none.
func resolve(peer, path string) string {
	base, err := url.Parse(peer)
	if err != nil {
		return ""
	}
	return base.ResolveReference(&url.URL{Path: path}).String()
}

// operationForm is the form for an operation: what its schemas declare, without JSON-RPC.
func operationForm(peer string, op discovery.Operation) Form {
	f := Form{URL: resolve(peer, op.Path), Dialect: dialect.Bare, Single: true, Input: &op.Body}
	if !op.Query.Empty() {
		f.Query = &op.Query
	}
	return f
}

// conventions are the other paths at which servers take JSON-RPC.
func conventions(path string) (paths []string) {
	bare := strings.TrimSuffix(path, "/")
	for _, p := range []string{
		"/mcp", strings.ToLower(path), strings.ToUpper(path), bare, bare + "/", "/", "/MCP", "/mcp/", "/rpc", "/jsonrpc", "/api", "/api/mcp", "/message",
	} {
		if p != path && p != "" && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// operations are the forms at the paths that servers have for one type of message.
func operations(peer string, t protocol.Type) (forms []Form) {
	about, _ := protocol.Describe(t)
	verb, object, _ := strings.Cut(about.Method, "_")
	for _, path := range []string{"/" + verb, "/" + about.Method, "/api/" + verb, "/api/" + about.Method, "/" + verb + "/" + object, "/league/" + verb, "/" + object + "s/" + verb} {
		forms = append(forms, Form{URL: resolve(peer, path), Dialect: dialect.Bare, Spread: registers(t), Single: true})
	}
	return forms
}
