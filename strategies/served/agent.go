package served

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// By which names an agent meets us.
const (
	league    = "experiment"
	refereeID = "REF01"
	playerID  = "P01" // of the agent
)

// settle is the time between the registration of an agent and its first match.
const settle = 200 * time.Millisecond

// agent is one agent that plays: its process, if it has one of ours, and the conversation
// with it. It is safe for concurrent use.
type agent struct {
	factory *Factory
	process *process // nil at an address
	output  *tail
	server  *jsonrpc.Server // of its manager and its referee
	serving sync.WaitGroup
	stop    context.CancelFunc
	client  *jsonrpc.Client
	caller  *wire.Caller

	token    string // that registration gives it
	verifier credential.Verifier
	joined   chan struct{} // closed when it has registered

	mu      sync.Mutex
	peer    *wire.Peer
	id      string // that it signs with; empty until it has signed
	leagues int    // that it has begun
	met     bool   // it has been asked
	unread  map[protocol.Type]int
	waiting map[string]chan protocol.Message // for an answer that it posts, by match and type
}

// meet starts or reaches an agent and waits until it can be asked.
func meet(ctx context.Context, f *Factory) (*agent, error) {
	a := &agent{
		factory: f, output: new(tail), joined: make(chan struct{}),
		unread: make(map[protocol.Type]int), waiting: make(map[string]chan protocol.Message),
	}
	var err error
	if a.token, err = credential.NewToken(rand.Reader, playerID); err != nil {
		return nil, err
	}
	a.verifier = credential.NewVerifier(a.token)
	tap := f.cassette.tap(f.spec.Name)
	if a.server, err = jsonrpc.Listen(ctx, "127.0.0.1:0", jsonrpc.Config{Lenient: true, Tap: tap, Drain: time.Millisecond}); err != nil {
		return nil, err
	}
	connections := jsonrpc.OverNewConnections()
	if strings.HasPrefix(f.spec.URL, "https:") { // a handshake costs more than what a kept connection may
		connections = jsonrpc.OverHTTP()
	}
	a.client = jsonrpc.NewClient(connections, jsonrpc.ClientConfig{MaxAnswer: 1 << 20, Tap: tap})
	a.caller = &wire.Caller{Client: a.client, Codec: dialect.NewCodec(protocol.Tolerant)}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	a.serving.Go(func() { _ = a.server.Serve(serving, a.endpoint()) }) // a failure shows in what the agent does
	starting, cancel := context.WithTimeout(ctx, f.config.Start)
	defer cancel()
	if err = a.begin(starting); err == nil {
		return a, nil
	}
	a.close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// begin starts the process, and waits until the agent listens and, if it knows its
// manager, has registered.
func (a *agent) begin(ctx context.Context) error {
	at := a.factory.spec.URL
	if at == "" {
		port, err := freePort()
		if err != nil {
			return err
		}
		if a.factory.spec.has(portWord) {
			at = fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
		}
		if a.process, err = launch(a.factory.spec.fill(port, a.server.URL()), a.factory.config.Dir, a.output); err != nil {
			return err
		}
	}
	registers := a.factory.spec.has(managerWord)
	if registers {
		select {
		case <-a.joined:
			select { // it has to read the answer before it knows who it is
			case <-time.After(settle):
			case <-ctx.Done():
			}
		case <-a.ended():
			return a.process.died()
		case <-ctx.Done():
			if at == "" {
				return fmt.Errorf("it has not registered with %s within %v%s", a.server.URL(), a.factory.config.Start, a.words())
			}
		}
	}
	a.mu.Lock()
	if a.peer == nil {
		a.peer = wire.GuessPeer(at, dialect.Contracts)
	}
	at = a.peer.URL
	a.mu.Unlock()
	return a.reach(ctx, at)
}

// ended is closed when the process has ended.
func (a *agent) ended() <-chan struct{} {
	if a.process == nil {
		return nil
	}
	return a.process.done
}

// words are the last words of the agent, to follow a sentence.
func (a *agent) words() string {
	if last := a.output.lines(); len(last) > 0 {
		return "; its last words: " + last[len(last)-1]
	}
	return ""
}

// reach waits until somebody listens at a URL.
func (a *agent) reach(ctx context.Context, at string) error {
	u, err := url.Parse(at)
	if err != nil {
		return fmt.Errorf("reach the agent: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	const often, once = 20 * time.Millisecond, time.Second
	for {
		dialing, cancel := context.WithTimeout(context.WithoutCancel(ctx), once) // at least one attempt
		conn, err := new(net.Dialer).DialContext(dialing, "tcp", net.JoinHostPort(u.Hostname(), port))
		cancel()
		if err == nil {
			return conn.Close()
		}
		if a.process == nil {
			return fmt.Errorf("no agent is listening at %s: %w", at, err)
		}
		select {
		case <-time.After(often):
		case <-a.process.done:
			return a.process.died()
		case <-ctx.Done():
			return fmt.Errorf("nothing listens at %s within %v%s", at, a.factory.config.Start, a.words())
		}
	}
}

// close ends the agent, its process and the conversation.
func (a *agent) close() {
	a.process.kill()
	a.stop()
	a.serving.Wait()
	_ = a.client.Close() // nothing is sent any more
	if last := a.output.lines(); last != nil {
		a.factory.stats.count(func(u *Usage) { u.Log = last })
	}
}

// endpoint takes what the agent sends by itself: its registration, and answers that it
// posts instead of giving them.
func (a *agent) endpoint() *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec: dialect.NewCodec(protocol.Tolerant), Sender: func() string { return string(protocol.RoleManager) }, Now: time.Now,
		Log: a.factory.config.Log,
		Handlers: map[protocol.Type]wire.Handler{
			protocol.TypeLeagueRegisterRequest: a.register,
			protocol.TypeGameJoinAck:           a.posted,
			protocol.TypeChooseParityResponse:  a.posted,
		},
		Default: func(context.Context, *wire.Exchange) (protocol.Message, error) { return nil, nil },
	}
}

func (a *agent) register(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.LeagueRegisterRequest](in)
	if err != nil {
		return nil, err
	}
	at := m.Meta.ContactEndpoint
	if !IsURL(at) {
		return nil, protocol.Refuse(protocol.CodeInvalidEndpoint, in.Type, "The contact endpoint is no URL.").With("contact_endpoint", at)
	}
	if u, err := url.Parse(at); err == nil && u.Path == "" {
		at = u.JoinPath(jsonrpc.DefaultPath).String()
	}
	d := in.Dialect
	if in.RPC.ID.Kind() == '0' {
		d = d.With(dialect.TraitNumericIDs)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.peer == nil {
		a.peer, a.id = wire.NewPeer(at, d), playerID
		role, own, _ := protocol.ParseSender(in.Header.Sender)
		// It may keep the id that it signs with, whatever it is told. Opponents have longer ones.
		if _, is := protocol.IDNumber(protocol.RolePlayer, own); is && role == protocol.RolePlayer && len(own) <= len("P999") {
			a.id = own
		}
		close(a.joined)
	}
	return in.Type.Accepted(a.id, a.token, league), nil
}

func waitKey(match string, t protocol.Type) string { return match + " " + string(t) }

// posted takes an answer that is a request of its own, which counts only with the token.
func (a *agent) posted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := in.Decode()
	if err != nil {
		return nil, err
	}
	keys := a.verifier.MatchKeys(league, in.Header.MatchID, refereeID)
	if !keys.AcceptsPlayer(in.Header.AuthToken, league, in.Header.MatchID, refereeID) {
		return nil, wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s does not bear the token of %s", in.Type, playerID)
	}
	a.mu.Lock()
	to := a.waiting[waitKey(in.Header.MatchID, in.Type)]
	a.mu.Unlock()
	select {
	case to <- m:
	default: // late, or nobody has asked
	}
	return nil, nil
}

// ask sends a message of a match and returns the answer, which is of this match and signed
// by the agent.
func (a *agent) ask(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	h := m.Head()
	wants := h.MessageType.Answer()
	key, posts := waitKey(h.MatchID, wants), make(chan protocol.Message, 1)
	a.mu.Lock()
	a.waiting[key] = posts
	limit := a.factory.config.Deadline
	if !a.met { // it may have to be found out how it is addressed
		limit, a.met = max(limit, a.factory.config.Start), true
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		delete(a.waiting, key)
		a.mu.Unlock()
	}()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := a.call(limited, m)
	switch {
	case err == nil || !wire.OnlyReceived(err):
	case wants == protocol.TypeGameJoinAck: // it joins by answering the call
		answer, err = protocol.New(wants), nil
	case errors.Is(err, wire.ErrReceived):
		select {
		case answer = <-posts:
			err = nil
		case <-limited.Done():
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, a.explain(err, h.MessageType)
	}
	a.factory.deaths.Store(0)
	return answer, a.validate(h, answer)
}

// call sends a message until it is answered or retrying is useless.
func (a *agent) call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	for retry := 0; ; retry++ {
		a.factory.stats.count(func(u *Usage) {
			u.Messages++
			u.Retries += min(retry, 1)
		})
		answer, err := a.caller.Call(ctx, a.peer, m)
		// A server may close a connection just when it is used again.
		broken := errors.Is(err, jsonrpc.ErrClosed) && retry == 0
		if err == nil || ctx.Err() != nil || !broken && (retry >= a.factory.config.Retries || !wire.Retryable(err)) || a.process.dead() {
			return answer, err
		}
	}
}

// validate refuses an answer about another match, or one that another player signs. An
// agent that has not registered keeps the name that it signs first.
func (a *agent) validate(asked *protocol.Header, answer protocol.Message) error {
	h := answer.Head()
	if h.MatchID != "" && h.MatchID != asked.MatchID {
		return fmt.Errorf("it answered for match %s when it was asked about %s", h.MatchID, asked.MatchID)
	}
	signed := ""
	switch m := answer.(type) {
	case *protocol.GameJoinAck:
		signed = m.PlayerID
	case *protocol.ChooseParityResponse:
		signed = m.PlayerID
	}
	if role, id, err := protocol.ParseSender(h.Sender); signed == "" && err == nil && role == protocol.RolePlayer {
		signed = id
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.id == "" {
		a.id = signed
	}
	if signed != "" && signed != a.id {
		return fmt.Errorf("it signed as %s, but it is %s", signed, a.id)
	}
	return nil
}

// mostUnread is how many notifications of a type in a row an agent may leave without an
// acknowledgement before it receives no more of them.
const mostUnread = 2

// notify sends a message that nothing depends on.
func (a *agent) notify(ctx context.Context, m protocol.Message) {
	t := m.Head().MessageType
	a.mu.Lock()
	skip := a.unread[t] >= mostUnread
	a.mu.Unlock()
	if skip || a.process.dead() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.factory.config.Deadline)
	defer cancel()
	_, err := a.call(ctx, m)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unread[t]++; err == nil {
		a.unread[t] = 0
	}
}

// newLeague counts a league of the agent.
func (a *agent) newLeague() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leagues++
	return a.leagues
}

// name returns the id of the agent.
func (a *agent) name() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.id == "" {
		return playerID
	}
	return a.id
}

// fault is a failure in words, with the kind that it counts as.
type fault struct {
	kind error // one of the causes of package strategies
	text string
}

func (e *fault) Error() string { return e.text }

func (e *fault) Unwrap() error { return e.kind }

// explain says what the agent did instead of answering a message.
func (a *agent) explain(err error, t protocol.Type) error {
	var unusable *protocol.Error
	switch {
	case errors.Is(err, jsonrpc.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, wire.ErrReceived):
		return &fault{strategies.ErrTimeout, fmt.Sprintf("it did not answer %s within %v (--deadline allows more)", t, a.factory.config.Deadline)}
	case errors.Is(err, jsonrpc.ErrConnect), errors.Is(err, jsonrpc.ErrClosed):
		if a.process.dying() {
			return a.process.died()
		}
		return &fault{strategies.ErrCrashed, fmt.Sprintf("the connection for %s broke: %v", t, err)}
	case errors.As(err, &unusable) && unusable.Code == protocol.CodeInvalidParityChoice:
		return &fault{strategies.ErrInvalidChoice, fmt.Sprintf("it answered %s with an invalid choice; want \"even\" or \"odd\" in lower case", t)}
	case wire.Refused(err):
		return fmt.Errorf("it refused %s: %w", t, err)
	}
	return fmt.Errorf("its answer to %s is unusable: %w", t, err)
}
