package wire_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire"
)

// TestOneAtATime: a deterministic chain handles one request at a time,
// however many come and by whatever way, and another one many at once.
func TestOneAtATime(t *testing.T) {
	for _, deterministic := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var under, most atomic.Int64
			leave := make(chan struct{})
			inHand := func() {
				most.Store(max(most.Load(), under.Add(1)))
				<-leave
				under.Add(-1)
			}
			p := chain(t, wire.Config{Deterministic: deterministic, Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
				inHand()
				return jsonrpc.Response{Result: []byte(`{}`)}
			})})
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { p.Handle(t.Context(), &jsonrpc.Request{Method: "x", ID: []byte(`1`)}) })
				all.Go(func() {
					_, err := p.Call(t.Context(), wire.Call{Tool: "count", Input: []byte(`{"n":1}`)}, func(context.Context) (jsontext.Value, error) {
						inHand()
						return jsontext.Value(`{"n":1}`), nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			if n, want := under.Load(), map[bool]int64{true: 1, false: 8}[deterministic]; n != want {
				t.Errorf("deterministic %v: %d requests are in hand, want %d", deterministic, n, want)
			}
			close(leave)
			all.Wait()
			if n := most.Load(); deterministic && n != 1 {
				t.Errorf("there were %d at once", n)
			}
		})
	}
}

// TestNobodyWaitsForEver: who leaves before it is its turn is let go.
func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		p := chain(t, wire.Config{Deterministic: true, Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
			<-leave
			return jsonrpc.Response{Result: []byte(`{}`)}
		})})
		var first sync.WaitGroup
		first.Go(func() { p.Handle(t.Context(), &jsonrpc.Request{Method: "x", ID: []byte(`1`)}) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res := p.Handle(ctx, &jsonrpc.Request{Method: "x", ID: []byte(`2`)}); res.Status != http.StatusInternalServerError || res.Error == nil {
			t.Errorf("the answer is %+v", res)
		}
		if _, err := p.Call(ctx, wire.Call{Tool: "count"}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("the call ends with %v", err)
		}
		close(leave)
		first.Wait()
	})
}
