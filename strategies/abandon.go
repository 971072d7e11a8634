package strategies

import (
	"context"
	"fmt"
)

// ErrStuck reports a call that ignored its interrupt and may never return. The
// goroutine that made it is lost. Every ErrStuck is an ErrTimeout.
var ErrStuck = fmt.Errorf("%w and cannot be stopped", ErrTimeout)

// stuckKey is where a context carries the channel of RunAbandonable.
type stuckKey struct{}

// RunAbandonable runs f in a new goroutine and returns its error. If a script
// runtime calls ReportStuck for a call made with f's context, RunAbandonable
// returns that error at once and abandons the goroutine: its context is done,
// and everything f uses stays with it, because it may wake up later.
//
// Use it wherever the caller must continue no matter what a script does in this
// process. It costs about a microsecond.
func RunAbandonable(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stuck, done := make(chan error, 1), make(chan error, 1)
	go func() { done <- f(context.WithValue(ctx, stuckKey{}, stuck)) }()
	select {
	case err := <-done:
		return err
	case err := <-stuck:
		return err
	}
}

// ReportStuck reports that a call made with ctx is stuck; err is an ErrStuck.
// It does not block. It does nothing if ctx does not come from RunAbandonable.
func ReportStuck(ctx context.Context, err error) {
	if stuck, ok := ctx.Value(stuckKey{}).(chan error); ok {
		select {
		case stuck <- err:
		default: // reported already
		}
	}
}
