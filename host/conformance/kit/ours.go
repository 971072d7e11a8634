package kit

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Play says whether our own agents have played with the agent under test.
type Play struct {
	Tried bool   `json:"tried"`
	Why   string `json:"why,omitempty"` // they could not, or it was not tried; empty if they have
}

// Agent is one of our own players or referees.
type Agent struct {
	ID, Token string     // that its manager gives it, where that is ours
	Port      int        // at which it listens if that is free; 0 for any
	Manager   *wire.Peer // as it knows it
	// Send carries what it sends, and Receive answers what it is sent.
	Send     RoundTrip
	Receive  func(*Message) Response
	Endpoint *Endpoint
	Handler  jsonrpc.Handler
	// Join has it register, once. Failed is why it could not.
	Join   func() error
	Failed error
}

// Company are our own agents that play with the agent under test.
type Company struct {
	Alive     context.Context // until it is closed
	Session   *Session
	end       context.CancelFunc
	running   sync.WaitGroup
	endpoints []*Endpoint
}

// Company returns no agents yet. The caller closes it.
func (s *Session) Company(ctx context.Context) *Company {
	c := &Company{Session: s}
	c.Alive, c.end = context.WithCancel(ctx)
	return c
}

// Player adds a player that chooses at random, and tells over of the end of its matches. Without
// one, nothing is played.
func (c *Company) Player(t *T, id, token string, over func(player.Event)) *Agent {
	random, _ := builtin.Find("random")
	return c.add(t, id, token, func(common agent.Config) (Runner, error) {
		return player.New(player.Config{Config: common, Factory: random, Watch: -1, League: &player.League{}, Events: func(e player.Event) {
			if e.Kind == player.Ended {
				over(e)
			}
		}})
	})
}

// Referee adds a referee that knows how the agent under test takes messages, and tells
// over of the end of its match, with the error that has decided it. Without one, nothing is played.
func (c *Company) Referee(t *T, id string, over func(referee.Event)) *Agent {
	why := "" // a player has lost
	return c.add(t, id, NewToken(id), func(common agent.Config) (Runner, error) {
		return referee.New(referee.Config{
			Config: common, JoinTimeout: c.Session.Timeout, ChoiceTimeout: c.Session.Timeout,
			Player: func(_, endpoint, _ string) *wire.Peer {
				if endpoint == c.Session.URL {
					return c.Session.Peer
				}
				return wire.NewPeer(endpoint, dialect.Contracts)
			},
			Events: func(e referee.Event) {
				switch e.Kind {
				case referee.Forfeited:
					why = e.Error
				case referee.Finished:
					e.Error = why
					over(e)
				}
			},
		})
	})
}

// Runner is what all of our agents have in common.
type Runner interface {
	Dispatcher() *wire.Dispatcher
	Run(context.Context) error
}

// NewToken returns a new token of an agent.
func NewToken(id string) string {
	token, err := credential.NewToken(rand.Reader, id)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return token
}

// add makes an agent for a match that nobody disturbs, and has it register.
func (c *Company) add(t *T, id, token string, create func(agent.Config) (Runner, error)) *Agent {
	desk, err := ListenAs(c.Alive, c.Session.Listen, 0)
	if err != nil {
		t.Skip("%v", err)
	}
	c.endpoints = append(c.endpoints, desk)
	a := &Agent{ID: id, Token: token, Manager: wire.NewPeer(desk.URL, dialect.Contracts), Send: c.Session.transport.RoundTrip}
	a.Receive = func(m *Message) Response { return Handle(c.Alive, a.Handler, m) }
	desk.Handle(a.accepted)
	err = c.Enlist(a, func(common agent.Config, _ func(error)) (Runner, error) {
		common.Name, common.ID = id, id
		return create(common)
	})
	if err == nil {
		err = a.Join()
	}
	if err != nil {
		t.Skip("%v", err)
	}
	return a
}

// accepted answers an agent as a manager does that accepts everything.
func (a *Agent) accepted(in *Message) Response {
	switch in.Type {
	case protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest:
		return Respond(in.Raw, in.Type.Accepted(a.ID, a.Token, League))
	case protocol.TypeMatchResultReport:
		return Respond(in.Raw, Recorded())
	}
	return Respond(in.Raw, nil)
}

// errJoined is the cause for which an agent no longer joins that has.
var errJoined = errors.New("it has joined")

// Enlist makes an agent and serves it; it does not register yet. What it fails at, it fails at for
// good, so create is given what ends that it joins, by an error.
func (c *Company) Enlist(a *Agent, create func(common agent.Config, failed func(error)) (Runner, error)) (err error) {
	if a.Endpoint, err = ListenAs(c.Alive, c.Session.Listen, a.Port); err != nil {
		return err
	}
	c.endpoints = append(c.endpoints, a.Endpoint)
	joining, joined := context.WithCancelCause(c.Alive) // with how its first attempts have ended
	made, err := create(agent.Config{
		Endpoint: a.Endpoint.URL, Manager: a.Manager, Mode: protocol.Tolerant, Timeout: c.Session.Timeout, Caller: c.Session.caller(a.Send),
		Backoff:    game.Backoff{Retries: 1, First: 50 * time.Millisecond, Most: 100 * time.Millisecond},
		Registered: func() { joined(errJoined) },
	}, joined)
	if err != nil {
		return err
	}
	a.Handler = made.Dispatcher()
	a.Join = sync.OnceValue(func() error {
		c.running.Go(func() { joined(made.Run(c.Alive)) })
		<-joining.Done()
		if a.Failed = context.Cause(joining); errors.Is(a.Failed, errJoined) {
			a.Failed = nil
		}
		return a.Failed
	})
	a.Endpoint.Handle(a.Receive)
	return nil
}

// AlsoAt serves an agent also at a port, unless another agent of the suite is there.
func (c *Company) AlsoAt(a *Agent, port int) {
	if e := listenAt(c.Alive, c.Session.Listen, port); e != nil {
		e.Handle(a.Receive)
		c.endpoints = append(c.endpoints, e)
	}
}

// Close ends the agents.
func (c *Company) Close() error {
	c.end()
	var errs []error
	for _, e := range c.endpoints {
		errs = append(errs, e.Close())
	}
	c.running.Wait()
	return errors.Join(errs...)
}

// Recorded is the acknowledgement of a report.
func Recorded() protocol.Message {
	return &protocol.MatchResultAck{Header: protocol.Header{MessageType: protocol.TypeMatchResultReport.Answer()}, Status: protocol.StatusAccepted, Recorded: protocol.Some(true)}
}

// A RoundTrip carries a request. It is a jsonrpc.RoundTripper that holds nothing.
type RoundTrip func(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error)

// RoundTrip implements jsonrpc.RoundTripper.
func (f RoundTrip) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	return f(ctx, out)
}

// Close implements jsonrpc.RoundTripper.
func (RoundTrip) Close() error { return nil }

// caller returns one that sends as our own agents do, over a tap.
func (s *Session) caller(tap RoundTrip) *wire.Caller {
	return &wire.Caller{Client: jsonrpc.NewClient(tap, jsonrpc.ClientConfig{Timeout: s.Timeout}), Codec: tolerant}
}
