package host_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// wiretap is a network whose messages an attacker reads, every one of them with
// all its tokens, and who may speak before a message arrives.
type wiretap struct {
	host.Network
	hears func(from string, out *jsonrpc.Outgoing)
	reads func(from string, reply *jsonrpc.Reply)
}

func (w *wiretap) From(name string) jsonrpc.RoundTripper {
	return &wiretapTripper{w.Network.From(name), w, name}
}

type wiretapTripper struct {
	jsonrpc.RoundTripper
	w    *wiretap
	name string
}

func (c *wiretapTripper) Close() error { return nil }

func (c *wiretapTripper) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	if c.w.hears != nil {
		c.w.hears(c.name, out)
	}
	reply, err := c.RoundTripper.RoundTrip(ctx, out)
	if err == nil && c.w.reads != nil {
		c.w.reads(c.name, reply)
	}
	return reply, err
}

// TestAttacks has players and strangers speak in the names of others while a
// league is in progress, with all that they can lay their hands on. All of it is
// refused, and the league is played as if nothing had been.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			memory := new(host.Memory)
			l := &host.League{
				Manager:  manager.Config{LeagueID: "cup", Players: 4, Mode: mode, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
				Referees: []referee.Config{{Config: agent.Config{Mode: mode}, Concurrent: 4}},
			}
			for _, f := range named(t, "random", "markov-1", "role", "frequency") {
				seat := host.Seat{}
				seat.Factory, seat.Mode, seat.Watch = f, mode, -1
				l.Seats = append(l.Seats, seat)
			}
			a := &attacker{t: t, caller: &wire.Caller{Client: jsonrpc.NewClient(memory.From("attacker"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}}
			l.Network = &wiretap{memory, a.hears, nil}
			played, err := l.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			audit(t, l.Manager, played, func(string) bool { return true })
			for _, m := range played.Matches {
				for _, r := range m.Results {
					if r == game.TechnicalLoss {
						t.Errorf("%s ended with %v", m.ID, m.Results)
					}
				}
			}
			if a.tries < 30 {
				t.Errorf("attacked %d times only", a.tries)
			}
		})
	}
}

type attacker struct {
	t      *testing.T
	caller *wire.Caller

	mu    sync.Mutex
	token string // of P02, who is the attacker's own
	stole string // the last match key that a referee showed to P02
	tries int
}

const (
	managerURL = "http://manager/mcp"
	victimURL  = "http://P01/mcp"
	refereeURL = "http://REF01/mcp"
)

// hears looks at what passes and strikes at the right moment. It knows P02's
// token, as P02 itself, and the keys that P02 is shown.
func (a *attacker) hears(from string, out *jsonrpc.Outgoing) {
	var m struct {
		Params struct {
			Type  string `json:"message_type"`
			Token string `json:"auth_token"`
			Match string `json:"match_id"`
			Round int    `json:"round_id"`
		} `json:"params"`
	}
	if json.Unmarshal(out.Body, &m) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	p := m.Params
	if from == "P02" && p.Token != "" {
		a.token = p.Token
	}
	if p.Type == "GAME_INVITATION" && out.URL == "http://P02/mcp" {
		a.stole = p.Token
	}
	h := func(t protocol.Type, sender, token string) protocol.Header {
		h := protocol.NewHeader(t, sender, protocol.Timestamp(time.Now()), "conv-evil")
		h.LeagueID, h.MatchID, h.RoundID, h.GameType, h.AuthToken = "cup", p.Match, protocol.RoundNumber(p.Round), protocol.GameEvenOdd, token
		return h
	}
	switch p.Type {
	case "CHOOSE_PARITY_CALL":
		// An opponent answers in a player's place; with its own key, and with
		// the token that the manager would take from it.
		for _, token := range []string{"", a.stole, a.token, "tok-P01-guess"} {
			r := &protocol.ChooseParityResponse{Header: h(protocol.TypeChooseParityResponse, "player:P01", token), PlayerID: "P01", ParityChoice: "odd", Choice: "odd"}
			a.refused(refereeURL, r)
		}
		// Somebody else asks a player for its choice, to know it beforehand.
		if out.URL == victimURL {
			for _, token := range []string{"", a.stole, a.token} {
				a.refused(victimURL, &protocol.ChooseParityCall{
					Header: h(protocol.TypeChooseParityCall, "referee:REF01", token), PlayerID: "P01",
					Context:  &protocol.ChoiceContext{OpponentID: "P02", RoundID: protocol.RoundNumber(p.Round), YourStandings: new(protocol.OwnStandings)},
					Deadline: protocol.Timestamp(time.Now()),
				})
			}
		}
	case "MATCH_RESULT_REPORT":
		// A player reports in the referee's name.
		for _, token := range []string{"", a.stole, a.token} {
			a.refused(managerURL, &protocol.MatchResultReport{
				Header: h(protocol.TypeMatchResultReport, "referee:REF01", token),
				Result: protocol.MatchResult{Winner: protocol.Some("P02"), Score: map[string]int{"P01": 0, "P02": 3}, Details: &protocol.ResultDetails{
					DrawnNumber: protocol.Some(8), NumberParity: protocol.Some("even"), Choices: map[string]protocol.Choice{"P01": "odd", "P02": "even"}, Status: protocol.StatusWin,
				}},
			})
		}
	case "GAME_OVER":
		// A stranger announces a round, the end of the league, a result.
		for _, token := range []string{"", a.stole, a.token} {
			a.refused(victimURL, &protocol.LeagueCompleted{Header: h(protocol.TypeLeagueCompleted, "league_manager", token), FinalStandings: []protocol.Standing{}})
			a.refused(victimURL, &protocol.RoundAnnouncement{Header: h(protocol.TypeRoundAnnouncement, "league_manager", token), Matches: []protocol.AnnouncedMatch{}})
			a.refused(refereeURL, &protocol.RoundAnnouncement{Header: h(protocol.TypeRoundAnnouncement, "league_manager", token), Matches: []protocol.AnnouncedMatch{}})
		}
	}
}

// refused sends a message that must be refused.
func (a *attacker) refused(url string, m protocol.Message) {
	a.tries++
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answer, err := a.caller.Call(ctx, wire.NewPeer(url, dialect.Contracts), m)
	var refusal *dialect.Refusal
	if !errors.As(err, &refusal) {
		a.t.Errorf("%s as %s with %q: %+v, %v, want a refusal", m.Head().MessageType, m.Head().Sender, credential.Mask(m.Head().AuthToken), answer, err)
	}
}
