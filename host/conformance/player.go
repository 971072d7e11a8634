package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// The names of those that a player under test has to do with.
const (
	ownLeague    = "conformance"
	ownReferee   = "REF01"
	otherReferee = "REF02"
)

// playerSide is what a player meets: a manager at a station of its own, and
// referees, which need none, since they call and are not called.
type playerSide struct {
	c       *counterpart
	manager *station
	league  string
	arrived chan struct{} // gets one when an attempt to register was answered

	mu sync.Mutex
	id string
	credential
	dialect     *protocol.Dialect // that the player is spoken to in
	asked       []*registration   // every attempt to register, in order
	rounds      int               // that have been announced, or begun without a word
	posted      []posted          // answers that came as requests
	came        chan struct{}     // closed and replaced when one came
	mute        bool              // no round is announced unasked
	synchronous bool              // it has left an acknowledgement at that
}

// registration is one attempt of the player to register.
type registration struct {
	*trace.Exchange
	dialect  *protocol.Dialect
	accepted bool
	answered time.Duration // after how long the contact endpoint answered HTTP; 0 if it did not
	probed   string        // the endpoint that was asked
	failed   error         // why it did not answer
}

// openPlayerSide listens for the player and waits until it has registered. One
// that is there and does not register is spoken to all the same.
func openPlayerSide(ctx context.Context, c *counterpart) (side, error) {
	s := &playerSide{c: c, league: ownLeague, dialect: protocol.Contracts, id: c.opts.ID, arrived: make(chan struct{}, 1), came: make(chan struct{})}
	var err error
	if s.manager, err = open(ctx, "league_manager", c.opts.Listen); err != nil {
		return nil, fmt.Errorf("listen as the player's manager: %w", err)
	}
	s.manager.onMessage(s.answer)
	c.opts.Listening(s.manager.url)
	c.opts.Say(fmt.Sprintf("start the player with the manager %s; it is given %v to register", s.manager.url, c.opts.Wait))
	if err := s.awaitPlayer(ctx); err != nil {
		return nil, errors.Join(err, s.manager.close())
	}
	return s, nil
}

// awaitPlayer waits until the player has registered and can be reached.
func (s *playerSide) awaitPlayer(ctx context.Context) error {
	if done, err := s.c.awaitRegistration(ctx, s.arrived, s.registered); done || err != nil {
		return err
	}
	s.c.opts.Say("the player has not registered; it is spoken to all the same, and what then cannot be tested is left out")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		// What it is called is not known, so that no match can be announced as
		// one of its own.
		s.id, s.mute = "P01", true
	}
	s.credential = newCredential(s.id)
	return nil
}

func (s *playerSide) registered() bool { return s.taken() != nil }

// taken returns the registration that was accepted first, or nil.
func (s *playerSide) taken() *registration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.asked {
		if r.accepted {
			return r
		}
	}
	return nil
}

// close implements side.
func (s *playerSide) close() error { return s.manager.close() }

// describe implements side.
func (s *playerSide) describe(r *Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Dialect = s.dialect.Name
	if len(s.asked) > 0 {
		r.Agent = s.asked[0].meta().text("display_name")
	}
}

// meta is what a registration says of the player.
func (r *registration) meta() fields { return object(r.message()["player_meta"]) }

// message is the registration as it stands on the wire, without its wrapping.
func (r *registration) message() fields { return object(r.Raw).inner() }

// inner returns the message that the document of a request holds.
func (f fields) inner() fields {
	params := object(f["params"])
	switch {
	case params == nil:
		return f
	case params.has("envelope"):
		return joined(params, "envelope", "payload")
	case params.has("arguments"):
		return object(params["arguments"])
	case params.has("input"):
		return object(params["input"])
	case params.has("message"):
		return object(params["message"])
	}
	return params
}

var wantsID = regexp.MustCompile(`^player:(P\d{2,})$`)

// answer is what the manager answers.
func (s *playerSide) answer(in *trace.Exchange) Said {
	req, _, _ := opened(in.Raw)
	switch {
	case req == nil:
	case req.Type == protocol.TypeLeagueRegisterRequest:
		return s.register(in, req.Dialect)
	case req.Type == protocol.TypeLeagueQuery:
		return inKind(in.Raw, s.query(req))
	case req.Type == protocol.TypeGameJoinAck, req.Type == protocol.TypeChooseParityResponse:
		s.takePosted(in, req)
	}
	return inKind(in.Raw, nil)
}

// register takes the player on. Before it answers it looks whether the player
// listens already.
func (s *playerSide) register(in *trace.Exchange, d *protocol.Dialect) Said {
	r := &registration{Exchange: in, dialect: d}
	r.probed = r.meta().text("contact_endpoint")
	r.answered, r.failed = s.probe(r.probed)
	defer func() {
		select {
		case s.arrived <- struct{}{}:
		default:
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) < maxAttempts {
		s.asked = append(s.asked, r)
	}
	if s.c.opts.Busy && len(s.asked) == 1 {
		return Said{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}, Body: inKind(in.Raw, protocol.RefuseHTTP(http.StatusServiceUnavailable, "the manager is busy; try again")).Body}
	}
	if s.token == "" {
		if m := wantsID.FindStringSubmatch(r.message().text("sender")); m != nil && s.id == "" {
			s.id = m[1]
		}
		if s.id == "" {
			s.id = "P01"
		}
		s.credential = newCredential(s.id)
		s.dialect = d
	}
	r.accepted = true
	answer := &protocol.LeagueRegisterResponse{Status: protocol.StatusAccepted, PlayerID: s.id, Reason: protocol.Null[string]()}
	answer.MessageType, answer.AuthToken, answer.LeagueID = protocol.TypeLeagueRegisterResponse, s.token, s.league
	return inKind(in.Raw, answer)
}

// maxAttempts bounds how many attempts to register are kept.
const maxAttempts = 100

// probeWithin is how long a player may take to answer while it registers.
const probeWithin = 2 * time.Second

// probe asks whether HTTP is answered at an endpoint; whatever is answered.
func (s *playerSide) probe(url string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), min(probeWithin, s.c.opts.Timeout))
	defer cancel()
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return time.Since(began), resp.Body.Close()
}

// query answers what the player may ask of its league.
func (s *playerSide) query(in *protocol.Request) any {
	m, err := in.Decode()
	if err != nil {
		return err
	}
	q, ok := m.(*protocol.LeagueQuery)
	if !ok {
		return protocol.Refuse(protocol.CodeInvalidQueryType, in.Type, "it is no query")
	}
	s.mu.Lock()
	rounds, id := s.rounds, s.id
	s.mu.Unlock()
	h := protocol.Header{MessageType: protocol.TypeLeagueQueryResponse}
	var answer *protocol.LeagueQueryResponse
	switch q.QueryType {
	case protocol.QueryPlayers:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.PlayersData{Players: []protocol.PlayerInfo{{PlayerID: id}, {PlayerID: opponentOf(id)}}})
	case protocol.QueryStatus:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.StatusData{LeagueID: s.league, Status: protocol.LeagueRunning, CurrentRound: protocol.Some(rounds)})
	case protocol.QueryStandings:
		answer, err = protocol.NewQueryResponse(h, q.QueryType, protocol.StandingsData{CurrentRound: protocol.Some(rounds), Standings: standings(id, opponentOf(id))})
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

// opponentOf is another player than the one with that id.
func opponentOf(id string) string {
	if id == "P02" {
		return "P01"
	}
	return "P02"
}
