package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// receivers says who takes each message that comes after registration, and
// which role sends it.
var receivers = map[protocol.Type]struct {
	from protocol.Role
	to   []string
}{
	protocol.TypeStartLeague:           {protocol.RoleLauncher, []string{"manager"}},
	protocol.TypeSetPlayerStatus:       {protocol.RoleLauncher, []string{"manager"}},
	protocol.TypeSetPace:               {protocol.RoleLauncher, []string{"manager"}},
	protocol.TypeMatchProgress:         {protocol.RoleReferee, []string{"manager"}},
	protocol.TypeMatchResultReport:     {protocol.RoleReferee, []string{"manager"}},
	protocol.TypeLeagueQuery:           {protocol.RolePlayer, []string{"manager"}},
	protocol.TypeRoundAnnouncement:     {protocol.RoleManager, []string{"P01", "REF01"}},
	protocol.TypeLeagueStandingsUpdate: {protocol.RoleManager, []string{"P01", "REF01"}},
	protocol.TypeRoundCompleted:        {protocol.RoleManager, []string{"P01", "REF01"}},
	protocol.TypeLeagueCompleted:       {protocol.RoleManager, []string{"P01", "REF01"}},
	protocol.TypeGameInvitation:        {protocol.RoleReferee, []string{"P01"}},
	protocol.TypeChooseParityCall:      {protocol.RoleReferee, []string{"P01"}},
	protocol.TypeGameOver:              {protocol.RoleReferee, []string{"P01"}},
	protocol.TypeGameError:             {protocol.RoleReferee, []string{"P01"}},
	protocol.TypeGameJoinAck:           {protocol.RolePlayer, []string{"REF01"}},
	protocol.TypeChooseParityResponse:  {protocol.RolePlayer, []string{"REF01"}},
}

// TestMatrix sends every message that there is after registration, to whom it
// is for, without a token, with one that is wrong, with another agent's or the key that
// another was shown for the same match, and in another agent's name with that agent's
// absent. All are refused as tokens are, in the middle of a match, and the league comes to
// the same end.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			memory := new(host.Memory)
			l := &host.League{
				Manager:  manager.Config{LeagueID: "cup", Players: 2, Mode: mode, Probe: manager.ProbeOff, AllowHosts: []string{"*"}, AdminToken: "admin-secret"},
				Referees: []referee.Config{{Config: agent.Config{Mode: mode}}},
			}
			for _, f := range named(t, "random", "role") {
				l.Seats = append(l.Seats, player.Config{Config: agent.Config{Mode: mode}, Factory: f, Watch: -1})
			}
			m := &matrix{t: t, caller: &wire.Caller{Client: jsonrpc.NewClient(memory.From("stranger"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}}
			l.Network, l.Tap = memory, func(name string) jsonrpc.Tap { return spy{m, name}.tap }
			played, err := l.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			audit(t, l.Manager, played, func(string) bool { return true })
			if !m.done || m.other == "" || m.stole == "" {
				t.Error("nothing was sent, or not with the token of P02")
			}
		})
	}
}

type matrix struct {
	t      *testing.T
	caller *wire.Caller

	mu    sync.Mutex
	other string // the token of P02
	stole string // the key of the match that the referee showed to P02
	done  bool
}

// spy reads what an agent sends, before it arrives, and what it is answered.
type spy struct {
	*matrix
	name string
}

func (x spy) tap(e jsonrpc.Event) func(jsonrpc.Event) {
	if e.Direction != jsonrpc.Out {
		return func(jsonrpc.Event) {}
	}
	x.hears(e.Peer, e.Body)
	return func(answer jsonrpc.Event) {
		if x.name == "P02" {
			x.reads(answer.Body)
		}
	}
}

// reads reads the token that P02 is given.
func (x *matrix) reads(body []byte) {
	var answer struct {
		Result struct {
			Token string `json:"auth_token"`
		} `json:"result"`
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.other == "" && json.Unmarshal(body, &answer) == nil {
		x.other = answer.Result.Token
	}
}

// hears strikes when P01 has joined the only match and is about to be asked.
func (x *matrix) hears(to string, body []byte) {
	in, err := open(body)
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if in.Type == protocol.TypeGameInvitation && to == "http://P02/mcp" {
		x.stole = in.Header.AuthToken
	}
	if in.Type != protocol.TypeChooseParityCall || to != "http://P01/mcp" || x.done {
		return
	}
	x.done = true
	for _, kind := range protocol.Types() {
		about, _ := protocol.Describe(kind)
		r, listed := receivers[kind]
		if about.Auth && !listed && kind != protocol.TypeLeagueError { // which asks for nothing
			x.t.Errorf("nobody is said to take %s", kind)
		}
		own := map[protocol.Role]string{protocol.RoleLauncher: "launcher", protocol.RoleManager: "league_manager", protocol.RoleReferee: "referee:REF01", protocol.RolePlayer: "player:P01"}[r.from]
		for _, to := range r.to {
			for _, c := range []struct {
				what, sender, token string
				code                protocol.Code
			}{
				{"no token", own, "", protocol.CodeTokenMissing},
				{"a wrong token", own, "tok-P01-00000000000000000000000000000000", protocol.CodeTokenInvalid},
				{"another agent's token", own, x.other, protocol.CodeTokenInvalid},
				{"another agent's key", own, x.stole, protocol.CodeTokenInvalid},
				{"another agent's sender", "referee:REF07", in.Header.AuthToken, protocol.CodeTokenInvalid},
			} {
				msg := protocol.New(kind)
				*msg.Head() = in.Header
				h := msg.Head()
				h.MessageType, h.Sender, h.AuthToken = kind, c.sender, c.token
				x.refused(fmt.Sprintf("%s to %s with %s", kind, to, c.what), "http://"+to+"/mcp", msg, c.code)
			}
		}
	}
}

func (x *matrix) refused(what, url string, m protocol.Message, code protocol.Code) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answer, err := x.caller.Call(ctx, wire.NewPeer(url, dialect.Contracts), m)
	var refusal *dialect.Refusal
	if !errors.As(err, &refusal) || refusal.Code != code {
		x.t.Errorf("%s: %+v, %v, want a refusal with %s", what, answer, err, code)
	}
}

// open unwraps what is on its way.
func open(body []byte) (*dialect.Request, error) {
	return dialect.NewCodec(protocol.Tolerant).OpenBody(body)
}
