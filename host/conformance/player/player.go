// Package player checks a player: the suite is its manager and its referees.
package player

import (
	"context"
	"errors"
	"net/http"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// peers are the manager of the player. Its referees need no endpoints: the
// announcements give the manager's endpoint as theirs, for players that post
// their answers.
type peers struct {
	*kit.Registrar // its lock guards what follows

	posted      []posted
	mute        bool // announce no rounds before matches
	synchronous bool // it has left an answer at an acknowledgement
}

// posted is an answer that the player has sent as a request of its own.
type posted struct {
	typ     protocol.Type
	match   string
	message kit.Fields
	raw     []byte
}

// maxPosted bounds how many posted answers are kept, the last ones.
const maxPosted = 1000

// open listens for the player and waits until it has registered. A player that
// listens and does not register is checked all the same.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	r, err := kit.NewRegistrar(ctx, s, kit.Player)
	if err != nil {
		return nil, err
	}
	p := &peers{Registrar: r}
	r.Endpoint.Handle(p.answer)
	if err := r.Await(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	// Without the id of an unregistered player, no match can be announced as its
	// own.
	p.mute = !r.Registered() && s.ID == ""
	return p, nil
}

// Close implements kit.Peers.
func (p *peers) Close() error { return p.Endpoint.Close() }

// answer answers the player as its manager, or as the referee to which it posts.
func (p *peers) answer(in *trace.Exchange, _ http.Header) kit.Response {
	switch req, _ := kit.OpenRequest(in.Raw); {
	case req == nil:
	case req.Type == protocol.TypeLeagueRegisterRequest:
		return p.Register(in)
	case req.Type == protocol.TypeLeagueQuery:
		return kit.Respond(in.Raw, p.query(req))
	case req.Type == protocol.TypeGameJoinAck, req.Type == protocol.TypeChooseParityResponse:
		p.keep(posted{req.Type, req.Header.MatchID, kit.Object(in.Raw).Inner(), in.Raw})
	}
	return kit.Respond(in.Raw, nil)
}

func (p *peers) keep(m posted) {
	p.Lock()
	defer p.Unlock()
	if len(p.posted) == maxPosted {
		p.posted = p.posted[1:]
	}
	p.posted = append(p.posted, m)
	p.Notify()
}

func (p *peers) query(in *dialect.Request) any {
	m, err := in.Decode()
	if err != nil {
		return err
	}
	q, ok := m.(*protocol.LeagueQuery)
	if !ok {
		return protocol.Refuse(protocol.CodeInvalidQueryType, in.Type, "the message is not a query")
	}
	p.Lock()
	round, ids := protocol.Some(p.Rounds), []string{p.ID, opponentOf(p.ID)}
	p.Unlock()
	h := protocol.Header{MessageType: protocol.TypeLeagueQuery.Answer()}
	var answer *protocol.LeagueQueryResponse
	switch q.QueryType {
	case protocol.QueryPlayers:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.PlayersData{Players: []protocol.PlayerInfo{{PlayerID: ids[0]}, {PlayerID: ids[1]}}})
	case protocol.QueryStatus:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.StatusData{LeagueID: kit.League, Status: protocol.LeagueRunning, CurrentRound: round})
	case protocol.QueryStandings:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.StandingsData{CurrentRound: round, Standings: kit.Rows(ids...)})
	case protocol.QueryNextMatch:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.NextMatchData{})
	default:
		return protocol.Refuse(protocol.CodeLeagueNotStarted, in.Type, "there is no schedule: matches are made up as they are needed")
	}
	if err != nil {
		return err
	}
	return answer
}

func opponentOf(id string) string {
	if id == "P02" {
		return "P01"
	}
	return "P02"
}
