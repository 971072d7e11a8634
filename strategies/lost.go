package strategies

import (
	"context"
	"fmt"
)

// ErrLost is a call that goes on though it was told to stop. It will not
// return, as far as anybody can tell, and the goroutine that made it is lost.
// Every ErrLost is an ErrTimeout.
var ErrLost = fmt.Errorf("%w and cannot be stopped", ErrTimeout)

// lossKey is where a context carries the channel of its Outlast.
type lossKey struct{}

// Outlast runs f on a goroutine of its own and returns what f returns. But if
// the runtime of a script reports, by Lose, that a call made with f's context
// is lost, Outlast returns that error, which is an ErrLost, and gives the
// goroutine up: its context is done, and everything that f uses stays with it,
// for it may wake up later.
//
// It is for whoever has to go on whatever a script does in this process. It
// costs about a microsecond.
func Outlast(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lost, done := make(chan error, 1), make(chan error, 1)
	go func() { done <- f(context.WithValue(ctx, lossKey{}, lost)) }()
	select {
	case err := <-done:
		return err
	case err := <-lost:
		return err
	}
}

// Lose reports that a call made with ctx is lost; err is an ErrLost. It does
// not block, and does nothing where nobody can go on without that call.
func Lose(ctx context.Context, err error) {
	if lost, ok := ctx.Value(lossKey{}).(chan error); ok {
		select {
		case lost <- err:
		default: // another one was
		}
	}
}
