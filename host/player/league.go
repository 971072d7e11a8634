package player

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

func (p *Player) handlers() map[protocol.Type]wire.Handler {
	return map[protocol.Type]wire.Handler{
		protocol.TypeRoundAnnouncement:     p.roundAnnounced,
		protocol.TypeLeagueStandingsUpdate: p.byManager,
		protocol.TypeRoundCompleted:        p.roundCompleted,
		protocol.TypeLeagueCompleted:       p.leagueCompleted,
		protocol.TypeGameInvitation:        p.invited,
		protocol.TypeChooseParityCall:      p.called,
		protocol.TypeGameOver:              p.over,
		protocol.TypeGameError:             p.gameError,
	}
}

// byManager checks a message whose content the agent has no use for.
func (p *Player) byManager(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	_, err := in.Decode()
	return p.ack(in), err
}

// ack acknowledges with the agent's id.
func (p *Player) ack(in *wire.Inbound) protocol.Message {
	about, _ := protocol.Describe(in.Type)
	ack, ok := protocol.New(about.Answer).(*protocol.Ack)
	if !ok {
		return nil
	}
	ack.Status, ack.PlayerID = protocol.StatusAcknowledged, p.ID()
	return ack
}

func (p *Player) roundAnnounced(ctx context.Context, in *wire.Inbound) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.RoundAnnouncement](in)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	for _, a := range m.Matches {
		if a.RefereeID != "" {
			p.announced[a.RefereeID] = true
		}
	}
	p.mu.Unlock()
	p.sit(ctx)
	return p.ack(in), nil
}

func (p *Player) roundCompleted(ctx context.Context, in *wire.Inbound) (protocol.Message, error) {
	if _, err := wire.Decode[*protocol.RoundCompleted](in); err != nil {
		return nil, err
	}
	if err := p.record.view(p.history()); err != nil {
		p.cfg.Log.Warn("the history could not be written", "error", err)
	}
	return p.ack(in), nil
}

func (p *Player) leagueCompleted(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.LeagueCompleted](in)
	if err != nil {
		return nil, err
	}
	e := Event{Kind: Completed}
	p.mu.Lock()
	e.Standing = p.stand
	for _, s := range m.FinalStandings {
		if s.PlayerID == p.me.ID() {
			e.Place = s.Rank
		}
	}
	first := !p.completed
	p.completed = true
	p.mu.Unlock()
	if first {
		p.tell(e)
		close(p.done)
	}
	return p.ack(in), nil
}

// sit makes the strategy's seat, once. What the manager tells of the league is
// handed on; what it does not tell is left open.
func (p *Player) sit(ctx context.Context) *seat {
	p.seatOnce.Lock()
	defer p.seatOnce.Unlock()
	p.mu.Lock()
	s := p.seat
	p.mu.Unlock()
	if s != nil {
		return s
	}
	setup := strategies.Setup{ID: p.me.ID(), Name: p.cfg.Name, Key: p.cfg.Key, Rand: game.NewRand(p.cfg.Key), Log: p.cfg.Print}
	league := p.cfg.League
	if league == nil {
		league = p.survey(ctx)
	}
	setup.Field, setup.Rounds, setup.Legs = league.Field, league.Rounds, league.Legs
	s = new(seat)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.ChoiceTimeout)
	defer cancel()
	s.start(ctx, p.cfg.Factory, setup, p.cfg.Coin)
	for _, step := range p.rebuild {
		step(ctx, s)
	}
	p.rebuild = nil
	if s.why != nil {
		p.tell(Event{Kind: Failed, Fault: s.out.String(), Error: s.why.Error()})
	}
	p.mu.Lock()
	p.seat, p.index = s, league.Index
	p.mu.Unlock()
	return s
}

// survey asks the manager who plays and when. What it does not tell is left
// open.
func (p *Player) survey(ctx context.Context) *League {
	var l League
	players, err := ask[protocol.PlayersData](ctx, p, protocol.QueryPlayers)
	if err != nil {
		p.cfg.Log.Info("the manager does not tell who plays", "error", err)
	}
	for _, pl := range players.Players {
		l.Field = append(l.Field, pl.PlayerID)
	}
	schedule, err := ask[protocol.ScheduleData](ctx, p, protocol.QuerySchedule)
	if err != nil {
		p.cfg.Log.Info("the manager does not tell the schedule", "error", err)
		return &l
	}
	l.Rounds, l.Index = len(schedule.Rounds), make(map[string]int)
	meetings := make(map[string]int)
	for _, r := range schedule.Rounds {
		for _, m := range r.Matches {
			l.Index[m.MatchID] = len(l.Index)
			switch p.me.ID() {
			case m.PlayerAID:
				meetings[m.PlayerBID]++
			case m.PlayerBID:
				meetings[m.PlayerAID]++
			}
		}
	}
	for _, n := range meetings {
		l.Legs = max(l.Legs, n)
	}
	return &l
}
