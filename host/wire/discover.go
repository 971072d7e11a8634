package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// What a peer is given to describe itself.
const (
	describeTime  = 3 * time.Second
	describeBytes = 2 << 20
)

// mostNamed limits how many names that a peer mentions are tried.
const mostNamed = 4

// once reports whether something has not been done yet.
func (l *Ladder) once(what string) bool {
	if l.done[what] {
		return false
	}
	l.done[what] = true
	return true
}

// learn puts the ways in front that an answer makes likelier.
func (l *Ladder) learn(ctx context.Context, w Way, err error, t protocol.Type) {
	if blamesID(err) && l.once("ids") {
		l.otherIDs(w)
		return
	}
	if l.Wrappings != nil {
		return
	}
	if needsSession(err) && l.once("session") {
		l.greet(ctx, w.URL)
		l.askTools(ctx, w.URL, t)
		return
	}
	if wrongPath(err) {
		l.leave(w.URL)
		if l.publishes(w.URL) && l.once(w.URL) {
			l.late = append(l.late, l.waysAt(w.URL, t)...)
		}
		l.lookAround(ctx, t)
		return
	}
	// The first finding may hide others, so that this comes before all else.
	if ways := l.mended(w, err, t); len(ways) > 0 {
		l.prefer(ways...)
		return
	}
	if l.once(w.URL) { // a path that takes something
		if w.Single && needsNothing(t) {
			l.prefer(smallest(w)...)
		} else {
			l.prefer(l.waysAt(w.URL, t)...)
		}
	}
	if !w.Single {
		l.askTools(ctx, w.URL, t)
	}
	text := Words(err)
	if w.Type == "" && w.Input == nil && !w.Plain() && protocol.Says(protocol.UnknownType, text) && l.once("types in "+w.Dialect.Without(dialect.TraitNumericIDs).Name) {
		for _, near := range protocol.Neighbours(t) { // after the ways in which others take its own
			l.queue = append(l.queue, w.as(t, near))
		}
	}
	if registers(t) && !w.Spread && w.Input == nil && protocol.Says(protocol.Lacks, text) {
		flat := w // the members may be wanted beside the object that holds them
		flat.Spread = true
		l.prefer(flat)
	}
	if d := w.Dialect; d.Request.Name != "" && w.Input == nil && w.Name == "" && strings.Contains(strings.ReplaceAll(text, d.Request.Method, ""), "tool") {
		for _, name := range slices.Backward(d.MethodsOf(t)[1:]) {
			l.prefer(Way{URL: w.URL, Dialect: d, Name: name})
		}
	}
	for _, name := range slices.Backward(protocol.NamesIn(text, t)) {
		// What repeats a name that was sent is no new one.
		echo := slices.ContainsFunc(append(w.Dialect.MethodsOf(t), l.named...), func(sent string) bool { return strings.Contains(name, sent) })
		if echo || len(l.named) >= mostNamed {
			continue
		}
		l.named = append(l.named, name)
		if d := w.Dialect; d.Request.Name != "" || d.Request.Method == "" && !d.Request.Bare {
			l.prefer(Way{URL: w.URL, Dialect: d, Name: name})
		}
	}
}

// mended returns the ways that send more or less of the message, by what the
// refusal forbids or misses.
func (l *Ladder) mended(w Way, err error, t protocol.Type) []Way {
	var ways []Way
	if needsNothing(t) && protocol.Says(protocol.TooMuch, Words(err)) && !w.Plain() {
		ways = smallest(w)
	}
	if narrower, is := w.narrower(l.message, err); is && len(narrower.Drop) <= mostDropped {
		ways = append(ways, narrower)
	}
	if wider, is := w.wider(l.message, err); is && (!registers(t) || w.Spread || w.Input != nil) {
		ways = append(ways, wider)
	}
	return ways
}

// as returns the way under another type of message. A registration repeats beside the
// header what the agent says of itself, for programs that look for it there.
func (w Way) as(t, near protocol.Type) Way {
	w.Spread = registers(t)
	switch w.Type = near; cmp.Or(w.Name, w.Dialect.MethodsOf(t)[0]) {
	case string(t):
		w.Name = string(near)
	case strings.ToLower(string(t)):
		w.Name = strings.ToLower(string(near))
	}
	return w
}

// prefer puts ways in front of the queue.
func (l *Ladder) prefer(ways ...Way) { l.queue = slices.Insert(l.queue, 0, ways...) }

// otherIDs puts the ways with the other kind of request id in front, the one
// that was just tried first.
func (l *Ladder) otherIDs(w Way) {
	first := l.text == !w.Dialect.NumericIDs
	slices.SortStableFunc(l.queue, func(a, b Way) int {
		rank := func(x Way) int {
			if !x.Dialect.Request.Bare && x.Dialect.NumericIDs == w.Dialect.NumericIDs {
				return 1
			}
			return 0
		}
		return rank(a) - rank(b)
	})
	sibling := w
	if w.Dialect.NumericIDs {
		sibling.Dialect = w.Dialect.Without(dialect.TraitNumericIDs)
	} else {
		sibling.Dialect = w.Dialect.With(dialect.TraitNumericIDs)
	}
	l.prefer(sibling)
	if first {
		l.text = !l.text
	}
}

// leave puts the ways at a URL last.
func (l *Ladder) leave(at string) {
	if !l.once("left " + at) {
		return
	}
	away := func(w Way) bool { return w.URL == at }
	for _, w := range l.queue {
		if away(w) {
			l.late = append(l.late, w)
		}
	}
	l.queue = slices.DeleteFunc(l.queue, away)
}

// askTools asks for the peer's tools, once for each path, and puts the tool that
// takes the message in front.
func (l *Ladder) askTools(ctx context.Context, at string, t protocol.Type) {
	if !l.once("tools at " + at) {
		return
	}
	d := l.ofKind(dialect.Tool, l.text)
	l.requests++
	tools, err := l.Caller.tools(ctx, at, l.header, d)
	if err != nil && needsSession(err) && l.once("session") {
		l.greet(ctx, at)
		l.requests++
		tools, _ = l.Caller.tools(ctx, at, l.header, d)
	}
	if len(tools) == 0 {
		return
	}
	l.tools = tools
	if tool, ok := tools.For(t); ok {
		ways := []Way{{URL: at, Dialect: d, Name: tool.Name, Input: &tool.Input}, {URL: at, Dialect: d, Name: tool.Name}}
		if other := l.ofKind(dialect.Tool, !l.text); other != nil { // a list may be for everybody, and a call not
			ways = slices.Insert(ways, 1, Way{URL: at, Dialect: other, Name: tool.Name, Input: &tool.Input})
		}
		l.prefer(ways...)
	}
}

// errorOf returns the error of an answer as it came, nil where there is none.
func errorOf(got *jsonrpc.Answer) jsontext.Value {
	doc, err := rawjson.Split(got.Raw)
	if err != nil {
		return nil
	}
	return doc.Get("error")
}

// greet opens a session with an MCP server, for those that want one.
func (l *Ladder) greet(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	l.header = http.Header{"Accept": {"application/json, text/event-stream"}}
	l.requests += 2
	params := jsontext.Value(`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"strategylab","version":"1"}}`)
	got, err := l.Caller.send(ctx, at, l.header, dialect.Call{Method: "initialize", Params: params}, l.Caller.idFor(l.ofKind(dialect.Tool, false), ""))
	if err != nil {
		return
	}
	if got.Session != "" {
		l.header.Set(jsonrpc.SessionHeader, got.Session)
	}
	_, _ = l.Caller.Client.Call(ctx, at, jsonrpc.Message{Method: "notifications/initialized", Notify: true, Header: l.header}) // servers that want it answer nothing
}

// failure is the error when no way is left.
func (l *Ladder) failure(t protocol.Type) *UnspokenError {
	return &UnspokenError{Type: t, URL: l.Peer.URL, Looks: l.looks(t), Tried: l.tried, Requests: l.requests}
}

// looks says what the peer seems to be.
func (l *Ladder) looks(t protocol.Type) string {
	var paths []string
	for _, op := range l.operations {
		paths = append(paths, "POST "+op.Path)
	}
	notJSON, elsewhere := 0, 0
	for _, tried := range l.tried {
		if text := Words(tried.Err); strings.HasPrefix(text, "<") || text != "" && !strings.ContainsAny(text[:1], "{[") && isCallError(tried.Err) {
			notJSON++
		}
		if protocol.Says(protocol.OtherGame, Words(tried.Err)) {
			elsewhere++
		}
	}
	_, fits := l.tools.For(t)
	switch {
	case len(l.tools) > 0 && !fits:
		return "it looks like an MCP server without a tool for that; its tools are " + list(l.tools.Names())
	case len(paths) > 0:
		return "it looks like a server with a protocol of its own: " + list(paths)
	case notJSON == len(l.tried):
		return "it does not answer with JSON; it looks like another kind of server than a league manager"
	case elsewhere > 0:
		return "it looks like a server of another game or protocol version"
	}
	return "it answers, but takes no message of league.v2 at any usual path; check the URL"
}

// registers reports whether a message is a registration.
func registers(t protocol.Type) bool {
	return t == protocol.TypeLeagueRegisterRequest || t == protocol.TypeRefereeRegisterRequest
}

func isCallError(err error) bool {
	_, ok := errors.AsType[*jsonrpc.CallError](err)
	return ok
}

func list(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
