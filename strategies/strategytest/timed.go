package strategytest

import (
	"context"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// Timed returns a factory that tells took how long each choice of its strategies takes.
func Timed(f strategies.Factory, now func() time.Time, took func(time.Duration)) strategies.Factory {
	return &timedFactory{f, now, took}
}

// timedFactory times the choices of its strategies.
type timedFactory struct {
	strategies.Factory
	now  func() time.Time
	took func(time.Duration)
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
	s.of.took(s.of.now().Sub(start))
	return choice, err
}
