package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// The sides of a match, and whoever else hears the referee.
const (
	sideA = iota
	sideB
	atManager
)

// refereeSide is what a referee meets: a manager that gives it matches, and two
// players, all at stations of their own. A match is played by the book but for
// what the check that began it has the players or the manager do.
type refereeSide struct {
	c       *counterpart
	manager *station
	players [2]*station
	tokens  [2]string // of the players, which the referee never learns
	league  string
	arrived chan struct{} // gets one when an attempt to register was answered

	board // guards what follows
	id    string
	credential
	dialect  *protocol.Dialect // that the referee is spoken to in
	asked    []*registration   // every attempt to register, in order
	renewals int               // registrations that were asked for by refusing the token
	rounds   int
	duels    map[string]*duel
	scenes   map[string]*duel

	lastHeard time.Time     // of the referee, about a match
	notJSON   []*mislabeled // what came under another Content-Type
}

var playerIDs = [2]string{"P01", "P02"}

// openRefereeSide listens for the referee and waits until it has registered.
func openRefereeSide(ctx context.Context, c *counterpart) (side, error) {
	s := &refereeSide{
		c: c, league: ownLeague, dialect: protocol.Contracts, id: c.opts.ID, arrived: make(chan struct{}, 1),
		duels: map[string]*duel{}, scenes: map[string]*duel{}, board: newBoard(),
	}
	if err := s.listen(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	c.opts.Listening(s.manager.url)
	c.opts.Say(fmt.Sprintf("start the referee with the manager %s; it is given %v to register", s.manager.url, c.opts.Wait))
	if err := s.awaitReferee(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// listen opens the stations.
func (s *refereeSide) listen(ctx context.Context) error {
	var err error
	if s.manager, err = open(ctx, "league_manager", s.c.opts.Listen); err != nil {
		return fmt.Errorf("listen as the referee's manager: %w", err)
	}
	s.manager.onMessage(s.asManager)
	s.manager.onHeader(func(in *trace.Exchange, h http.Header) { s.label(atManager, in, h) })
	for i, id := range playerIDs {
		if s.tokens[i], err = protocol.NewToken(rand.Reader, id); err != nil {
			return err
		}
		if s.players[i], err = open(ctx, id, onAnyPort(s.c.opts.Listen)); err != nil {
			return fmt.Errorf("listen as a player: %w", err)
		}
		s.players[i].onHeader(func(in *trace.Exchange, h http.Header) { s.label(i, in, h) })
		s.players[i].onMessage(func(in *trace.Exchange) Said { return s.asPlayer(i, in) })
	}
	return nil
}

func (s *refereeSide) awaitReferee(ctx context.Context) error {
	if done, err := s.c.awaitRegistration(ctx, s.arrived, s.registered); done || err != nil {
		return err
	}
	s.c.opts.Say("the referee has not registered; what then cannot be tested is left out")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		s.id = ownReferee
	}
	s.credential = newCredential(s.id)
	return nil
}

func (s *refereeSide) registered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.asked {
		if r.accepted {
			return true
		}
	}
	return false
}

// close implements side.
func (s *refereeSide) close() error {
	var errs []error
	for _, st := range append(s.players[:], s.manager) {
		if st != nil {
			errs = append(errs, st.close())
		}
	}
	return errors.Join(errs...)
}

// describe implements side.
func (s *refereeSide) describe(r *Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Dialect = s.dialect.Name
	if len(s.asked) > 0 {
		r.Agent = s.asked[0].refereeMeta().text("display_name")
	}
}

// refereeMeta is what a registration says of a referee.
func (r *registration) refereeMeta() fields { return object(r.message()["referee_meta"]) }

var wantsRefereeID = regexp.MustCompile(`^referee:(REF\d{2,})$`)

// asManager is what the manager answers.
func (s *refereeSide) asManager(in *trace.Exchange) Said {
	switch in.Type {
	case protocol.TypeRefereeRegisterRequest:
		return s.register(in)
	case protocol.TypeMatchResultReport:
		return s.hear(atManager, in)
	}
	return inKind(in.Raw, nil)
}

// register takes the referee on. Before it answers it looks whether the referee
// listens already.
func (s *refereeSide) register(in *trace.Exchange) Said {
	r := &registration{Exchange: in}
	r.probed = r.refereeMeta().text("contact_endpoint")
	r.answered, r.failed = (&playerSide{c: s.c}).probe(r.probed)
	defer func() {
		select {
		case s.arrived <- struct{}{}:
		default:
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if s.c.opts.Busy && len(s.asked) == 1 {
		return busy(in.Raw)
	}
	if s.token == "" {
		if m := wantsRefereeID.FindStringSubmatch(r.message().text("sender")); m != nil && s.id == "" {
			s.id = m[1]
		}
		if s.id == "" {
			s.id = ownReferee
		}
		s.credential = newCredential(s.id)
		if d, err := protocol.DialectNamed(in.Dialect); err == nil {
			s.dialect = d
		}
	}
	r.accepted = true
	answer := &protocol.RefereeRegisterResponse{Status: protocol.StatusAccepted, RefereeID: s.id, Reason: protocol.Null[string]()}
	answer.MessageType, answer.AuthToken, answer.LeagueID = protocol.TypeRefereeRegisterResponse, s.token, s.league
	return inKind(in.Raw, answer)
}

// busy is what somebody answers who has no time: it is to be tried again.
func busy(request []byte) Said {
	return Said{
		Status: http.StatusServiceUnavailable,
		Body:   inKind(request, protocol.RefuseHTTP(http.StatusServiceUnavailable, "busy; try again")).Body,
	}
}
