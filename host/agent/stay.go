package agent

import (
	"context"
	"time"
)

// Touch notes that something has happened in the league.
func (m *Member) Touch() { m.last.Store(int64(time.Since(m.started))) }

// silence returns how long nothing has happened.
func (m *Member) silence() time.Duration {
	return time.Since(m.started) - time.Duration(m.last.Load())
}

// Stay is how an agent takes part in its league once it has registered.
type Stay struct {
	// Over gets a value, or is closed, when the league is complete. Leave then
	// says whether the agent leaves, and with which error.
	Over  <-chan struct{}
	Leave func() (leave bool, err error)
	// Deserted is asked after a silence of Config.IdleExit; as Leave.
	Deserted func() (leave bool, err error)
	// Register is called when another registration was requested. Its error
	// ends the stay.
	Register func(ctx context.Context) error
	// Every, if positive, calls Look at this interval.
	Every time.Duration
	Look  func(ctx context.Context)
}

// Stay blocks until ctx ends, the agent leaves, or the journal cannot be
// written. The end of ctx is not an error.
func (m *Member) Stay(ctx context.Context, s Stay) error {
	look, stopLooking := tick(s.Every)
	defer stopLooking()
	idle, stopIdling := tick(m.IdleExit / 4)
	defer stopIdling()
	for {
		var leave bool
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-idle:
			if m.silence() >= m.IdleExit {
				leave, err = s.Deserted()
			}
		case err = <-m.Journal.Failed():
		case <-s.Over:
			leave, err = s.Leave()
		case <-m.again:
			err = Ended(ctx, s.Register(ctx))
		case <-look:
			s.Look(ctx)
		}
		if leave || err != nil {
			return err
		}
	}
}

// tick returns a channel that gets a value every d, and what stops it; a nil
// channel unless d is positive.
func tick(d time.Duration) (<-chan time.Time, func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(max(d, time.Millisecond))
	return t.C, t.Stop
}

// Ended returns the error of an agent, nil if it may be due to the end of ctx.
func Ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
