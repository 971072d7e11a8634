package mcptools_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
)

// TestStdioAnswersWhatItHasRead: the end of the input does not cut off calls,
// the end of the context does after a while, and closing at once.
func TestStdioAnswersWhatItHasRead(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	slow := mcptools.Tool{Name: "slow", Call: func(ctx context.Context, _ *mcptools.Call) (json.RawMessage, error) {
		select {
		case <-finish:
			return json.RawMessage(`{"finished":true}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	for name, c := range map[string]struct {
		end  func(lines io.Closer, cancel func(), srv *mcptools.Server)
		want string // in the output
		fail string // in the error
	}{
		"end of input": {func(lines io.Closer, _ func(), _ *mcptools.Server) {
			lines.Close()
			synctest.Wait()
			finish <- struct{}{}
		}, `"finished":true`, ""},
		"end of context": {func(_ io.Closer, cancel func(), _ *mcptools.Server) {
			cancel()
			synctest.Wait()
			finish <- struct{}{}
		}, `"finished":true`, ""},
		"end of patience": {func(_ io.Closer, cancel func(), _ *mcptools.Server) { cancel(); time.Sleep(time.Minute) }, "", "cut off"},
		"close":           {func(lines io.Closer, _ func(), srv *mcptools.Server) { srv.Close(); lines.Close() }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				finish = make(chan struct{})
				srv, err := mcptools.New(mcptools.Config{Name: "slow", Tools: []mcptools.Tool{slow}})
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				in, lines := io.Pipe()
				var out syncBuffer
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				served := make(chan error, 1)
				go func() { served <- srv.ServeStdio(ctx, in, &out) }()
				for _, line := range []string{initialize, initialized, tool("slow")} {
					if _, err := io.WriteString(lines, line+"\n"); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				c.end(lines, cancel, srv)
				err = <-served
				if (c.fail == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fail) {
					t.Errorf("ServeStdio = %v, want %q", err, c.fail)
				}
				if !strings.Contains(out.String(), c.want) || c.want == "" && strings.Contains(out.String(), "finished") {
					t.Errorf("the output is %s, want %q", out.String(), c.want)
				}
			})
		})
	}
}

// FuzzStdio writes anything to a stream that a league and a server share: what
// comes back is lines of JSON, and the stream is served to its end.
func FuzzStdio(f *testing.F) {
	for _, c := range routes {
		f.Add(c.body, true)
		f.Add(initialize+"\n"+c.body, false)
	}
	f.Add(initialize+"\n"+initialize+"\n"+ping+"\n"+ping+"\n"+tool("double"), false)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`+"\n"+ping, true)
	f.Fuzz(func(t *testing.T, lines string, first bool) {
		srv, err := mcptools.New(mcptools.Config{Name: "fuzz", Tools: newTable().config().Tools[:1]})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		if first {
			lines = initialize + "\n" + initialized + "\n" + lines
		}
		var out bytes.Buffer
		err = jsonrpc.ServeStdio(t.Context(), strings.NewReader(lines), &out, echo, jsonrpc.Config{Beside: srv.Beside, Lenient: true})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q brought %q", lines, line)
			}
		}
	})
}

// TestABrokenPipeEndsTheServer and what it does for the client.
func TestABrokenPipeEndsTheServer(t *testing.T) {
	t.Parallel()
	tb := newTable()
	srv := newServer(t, tb.config())
	in, lines := io.Pipe()
	read, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.ServeStdio(t.Context(), in, out) }()
	var asking sync.WaitGroup
	asking.Go(func() {
		for _, line := range []string{initialize, initialized, tool("wait"), ping} {
			_, _ = io.WriteString(lines, line+"\n") // fails when the server has ended
		}
	})
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	<-tb.entered
	read.Close()
	if err := <-served; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ServeStdio = %v", err)
	}
	if err := <-tb.left; err == nil {
		t.Error("the call goes on for nobody")
	}
	asking.Wait()
}
