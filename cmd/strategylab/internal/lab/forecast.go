package lab

import (
	"context"
	"sync"
	"time"

	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/strategies"
)

// Latencies collects how long answers took. It is safe for concurrent use.
type Latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

// Add records the time of one answer.
func (l *Latencies) Add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, d)
}

// Forecast predicts late answers from the recorded times; false if there are none.
func (l *Latencies) Forecast(deadline time.Duration, retries int) (power.Forecast, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := power.NewForecast(l.took, deadline, retries)
	return f, err == nil
}

// leagueForecast predicts with the deadlines of league.v2.
func (l *Latencies) leagueForecast() *power.Forecast {
	f, ok := l.Forecast(referee.DefaultChoiceTimeout, game.LeagueBackoff().Retries)
	if !ok {
		return nil
	}
	return &f
}

// timedFactory measures how long the choices of its strategies take.
type timedFactory struct {
	strategies.Factory
	now  func() time.Time
	took *Latencies
}

// New implements strategies.Factory.
func (f *timedFactory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := f.Factory.New(ctx, s)
	if err != nil {
		return nil, err
	}
	return &timedStrategy{made, f}, nil
}

type timedStrategy struct {
	strategies.Strategy
	of *timedFactory
}

// Choose implements strategies.Strategy.
func (s *timedStrategy) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	start := s.of.now()
	choice, err := s.Strategy.Choose(ctx, t)
	s.of.took.Add(s.of.now().Sub(start))
	return choice, err
}
