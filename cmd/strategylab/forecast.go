package main

import (
	"context"
	"sync"
	"time"

	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/strategies"
)

// latencies keeps how long answers took. It is safe for concurrent use.
type latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, d)
}

// forecast says what the latencies let expect; false if there are none.
func (l *latencies) forecast(deadline time.Duration, retries int) (power.Forecast, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := power.NewForecast(l.took, deadline, retries)
	return f, err == nil
}

// leagueForecast is the forecast by the times of league.v2.
func (l *latencies) leagueForecast() *power.Forecast {
	f, ok := l.forecast(referee.DefaultChoiceTimeout, game.LeagueBackoff().Retries)
	if !ok {
		return nil
	}
	return &f
}

// timedFactory measures how long the choices of its strategies take.
type timedFactory struct {
	strategies.Factory
	now  func() time.Time
	took *latencies
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
	s.of.took.add(s.of.now().Sub(start))
	return choice, err
}
