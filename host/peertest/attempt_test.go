package peertest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// attempt is a test whose failure is a result: it is counted, not fatal.
type attempt struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	notes    []string
	cleanups []func()
}

// try runs f to its end, or to its Fatal, and returns why it failed.
func try(t testing.TB, f func(t testing.TB)) *attempt {
	a := &attempt{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(a.cleanups) - 1; i >= 0; i-- {
				a.cleanups[i]()
			}
		}()
		f(a)
	}()
	<-done
	return a
}

func (a *attempt) fail(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = append(a.failures, text)
}

func (a *attempt) Helper()                      {}
func (a *attempt) Error(args ...any)            { a.fail(fmt.Sprint(args...)) }
func (a *attempt) Errorf(text string, v ...any) { a.fail(fmt.Sprintf(text, v...)) }
func (a *attempt) Fatal(args ...any)            { a.Error(args...); runtime.Goexit() }
func (a *attempt) Fatalf(text string, v ...any) { a.Errorf(text, v...); runtime.Goexit() }
func (a *attempt) Cleanup(f func())             { a.cleanups = append(a.cleanups, f) }
func (a *attempt) Log(args ...any)              { a.Logf("%s", fmt.Sprint(args...)) }

func (a *attempt) Logf(text string, v ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes = append(a.notes, fmt.Sprintf(text, v...))
}

func (a *attempt) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.failures) > 0
}
