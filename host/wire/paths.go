package wire

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// lookAround adds the paths that the peer publishes, and those that conventions
// suggest, each with the commonest way at first.
func (l *Ladder) lookAround(ctx context.Context, t protocol.Type) {
	if !l.once("paths") {
		return
	}
	base, err := url.Parse(l.Peer.URL)
	if err != nil {
		return
	}
	own, guesses := operations(base, t), []Way(nil)
	for _, path := range conventions(base.Path) {
		guesses = append(guesses, l.probe(base.ResolveReference(&url.URL{Path: path}).String()))
	}
	if needsNothing(t) { // those that have a path for it have no method
		guesses = slices.Concat(own, guesses)
	} else {
		guesses = append(guesses, own...)
	}
	l.queue = slices.Concat(l.queue, l.publishedWays(ctx, base, t), guesses)
}

// publishedWays are the ways that the peer publishes.
func (l *Ladder) publishedWays(ctx context.Context, base *url.URL, t protocol.Type) []Way {
	var ways []Way
	for _, op := range l.published(ctx, base) {
		at := base.ResolveReference(&url.URL{Path: op.Path}).String()
		switch {
		case op.JSONRPC(), op.Anything():
			ways = append(ways, l.probe(at))
		case op.Fit(t) > 0:
			ways = append(ways, operationWay(l.Peer.URL, op), Way{URL: at, Dialect: dialect.Bare, Spread: true, Single: true})
		}
	}
	return ways
}

// Plainly makes the next Climb go on with the ways that send nothing of the
// message, for a peer that has refused the message itself.
func (l *Ladder) Plainly(ctx context.Context, t protocol.Type) {
	w := Way{URL: l.Peer.URL, Dialect: l.ofKind(dialect.Contracts, l.text)}
	if l.settled != nil && !l.settled.Dialect.Request.Bare {
		w = *l.settled
	}
	l.settled, l.requests, l.tried, l.stay = nil, 0, nil, true
	l.queue = smallest(w)
	base, err := url.Parse(l.Peer.URL)
	if err != nil {
		return
	}
	if l.once("paths") {
		for _, w := range l.publishedWays(ctx, base, t) {
			if w.Single {
				l.queue = append(l.queue, w)
			}
		}
	}
	for _, w := range operations(base, t) {
		l.queue = append(l.queue, smallest(w)...)
	}
}

// probe is the commonest way at a path of which nothing is known.
func (l *Ladder) probe(at string) Way {
	return Way{URL: at, Dialect: l.ofKind(dialect.Contracts, l.text)}
}

// published fetches the peer's OpenAPI description. The operations that fit best
// come first.
func (l *Ladder) published(ctx context.Context, base *url.URL) []discovery.Operation {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	l.requests++
	reply, err := l.Caller.Client.Get(ctx, base.ResolveReference(&url.URL{Path: "/openapi.json"}).String(), describeBytes)
	if err != nil || reply.Status != http.StatusOK {
		return nil
	}
	l.operations, _ = discovery.ReadOpenAPI(reply.Body)
	return l.operations
}

// publishes reports whether the peer describes a URL as its own.
func (l *Ladder) publishes(at string) bool {
	u, err := url.Parse(at)
	return err == nil && slices.ContainsFunc(l.operations, func(op discovery.Operation) bool { return op.Path == u.Path })
}

// operationFor returns the operation that takes a type of message.
func operationFor(all []discovery.Operation, t protocol.Type) (discovery.Operation, bool) {
	best, most := -1, 0
	for i, op := range all {
		if fit := op.Fit(t); fit > most && !op.JSONRPC() {
			best, most = i, fit
		}
	}
	if best < 0 {
		return discovery.Operation{}, false
	}
	return all[best], true
}

// operationWay is the way to an operation: what its schemas declare, without
// JSON-RPC.
func operationWay(peer string, op discovery.Operation) Way {
	w := Way{Dialect: dialect.Bare, Single: true, Input: &op.Body}
	if base, err := url.Parse(peer); err == nil {
		w.URL = base.ResolveReference(&url.URL{Path: op.Path}).String()
	}
	if !op.Query.Empty() {
		w.Query = &op.Query
	}
	return w
}

// conventions are the other paths at which servers take JSON-RPC.
func conventions(path string) []string {
	var paths []string
	for _, p := range []string{
		"/mcp", strings.ToLower(path), strings.ToUpper(path), toggleSlash(path), "/", "/MCP", "/mcp/", "/rpc", "/jsonrpc", "/api", "/api/mcp", "/message",
	} {
		if p != path && p != "" && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func toggleSlash(path string) string {
	if strings.HasSuffix(path, "/") {
		return strings.TrimSuffix(path, "/")
	}
	return path + "/"
}

// operations are the ways at the paths that servers have for one type of message.
func operations(base *url.URL, t protocol.Type) []Way {
	var ways []Way
	for _, path := range operationPaths(t) {
		ways = append(ways, Way{URL: base.ResolveReference(&url.URL{Path: path}).String(), Dialect: dialect.Bare, Spread: registers(t), Single: true})
	}
	return ways
}

// operationPaths are the paths at which servers take one type of message.
func operationPaths(t protocol.Type) []string {
	about, _ := protocol.Describe(t)
	verb, object, _ := strings.Cut(about.Method, "_")
	return []string{"/" + verb, "/" + about.Method, "/api/" + verb, "/api/" + about.Method, "/" + verb + "/" + object, "/league/" + verb, "/" + object + "s/" + verb}
}
