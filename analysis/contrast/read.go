package contrast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/strategylab/strategylab/host/results"
)

// Leagues are the recorded leagues of a run, one after the other. Close them.
type Leagues struct {
	get    func() (*results.League, error, bool)
	stop   func()
	hasher *results.Hasher
}

// NewLeagues begins to read the leagues of a run.
func NewLeagues(r *results.Reader) *Leagues {
	get, stop := iter.Pull2(r.Leagues())
	return &Leagues{get: get, stop: stop, hasher: results.NewHasher()}
}

// Close ends the reading.
func (l *Leagues) Close() { l.stop() }

// Next returns the next league, or nil after the last complete one.
func (l *Leagues) Next() (*results.League, error) {
	league, err, ok := l.get()
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := l.hasher.Add(league); err != nil {
		return nil, fmt.Errorf("read leagues: %w", err)
	}
	return league, nil
}

// RunError says which of the two runs cannot be read, 0 or 1.
type RunError struct {
	Run int
	Err error
}

// Error returns why.
func (e *RunError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *RunError) Unwrap() error { return e.Err }

// Read takes in the leagues of both runs and returns their digests. Leagues that only one of
// two paired runs has count for its digest alone. An error of a run is a [RunError], for one
// without a complete league with none in it.
func (c *Contrast) Read(ctx context.Context, runs [2]*results.Reader, none error) (digests [2]string, err error) {
	var both [2]*Leagues
	for i := range runs {
		both[i] = NewLeagues(runs[i])
		defer both[i].Close()
	}
	for done := false; !done; {
		if ctx.Err() != nil {
			return digests, ctx.Err()
		}
		var next [2]*results.League
		for i := range both {
			if next[i], err = both[i].Next(); err != nil {
				return digests, &RunError{i, err}
			}
		}
		if err := c.add(next[0], next[1]); err != nil {
			return digests, err
		}
		done = next[0] == nil && next[1] == nil
	}
	for i := range both {
		if both[i].hasher.Len() == 0 {
			return digests, &RunError{i, none}
		}
		digests[i] = both[i].hasher.Digest()
		plan := runs[i].Plan()
		c.unfinished[i] = both[i].hasher.Len() < plan.Runs && plan.Stop == nil
	}
	return digests, nil
}

// add takes in a league of each run; nil for one that has ended.
func (c *Contrast) add(before, after *results.League) error {
	switch {
	case before != nil && after != nil && c.paired:
		return c.AddPair(before, after)
	case c.paired:
		return nil
	}
	var err error
	if before != nil {
		err = c.AddBefore(before)
	}
	if after != nil && err == nil {
		err = c.AddAfter(after)
	}
	return err
}
