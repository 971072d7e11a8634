package jsonrpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// TestStdioClient runs concurrent calls through one pair of pipes, answers
// coming in any order.
func TestStdioClient(t *testing.T) {
	t.Parallel()
	c := startStdio(t, jsonrpc.Config{}, echo, jsonrpc.ClientConfig{})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			method := fmt.Sprint("m", i)
			answer, err := c.Call(t.Context(), "", jsonrpc.Message{Method: method, Params: []byte("[\n1\n]")})
			if err != nil {
				t.Error(err)
				return
			}
			if want := fmt.Sprintf(`{"method":%q,"params":[1]}`, method); string(answer.Result) != want {
				t.Errorf("result %s, want %s", answer.Result, want)
			}
		})
	}
	wg.Wait()
	answer, err := c.Call(t.Context(), "", jsonrpc.Message{Method: "n", Notify: true})
	if err != nil || answer.Kind != jsonrpc.AnswerNone {
		t.Errorf("a notification: %+v, %v, want no answer", answer, err)
	}
}

// TestStdioClientFailures speaks to a scripted peer at the other end.
func TestStdioClientFailures(t *testing.T) {
	t.Parallel()
	ok := `{"jsonrpc":"2.0","id":"1","result":true}` + "\n"
	for _, c := range []struct {
		name string
		says string // in answer to the call
		then error  // with which its end of the pipe closes, if not nil
		kind error
	}{
		{"answer", ok, nil, nil},
		{"answer to somebody else first", strings.Replace(ok, `"1"`, `"2"`, 1) + ok, nil, nil},
		{"noise, a request and a blank line first", "starting...\n\n" + `{"jsonrpc":"2.0","method":"progress"}` + "\n" + ok, nil, nil},
		{"id escaped otherwise", strings.Replace(ok, `"1"`, `"\u0031"`, 1), nil, nil},
		{"id of another type", strings.Replace(ok, `"1"`, `1`, 1), nil, jsonrpc.ErrTimeout},
		{"error without id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}` + "\n", nil, nil},
		{"answer without id", `{"jsonrpc":"2.0","id":null,"result":1}` + "\n", nil, jsonrpc.ErrTimeout},
		{"version 1", strings.Replace(ok, "2.0", "1.0", 1), nil, jsonrpc.ErrMalformed},
		{"too long", strings.Repeat("x", 5000) + "\n", nil, jsonrpc.ErrTooLarge},
		{"silence", "", nil, jsonrpc.ErrTimeout},
		{"end", "", io.EOF, jsonrpc.ErrClosed},
		{"failure", "", errors.New("broken"), jsonrpc.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fromClient, w := io.Pipe()
				r, toClient := io.Pipe()
				rt := jsonrpc.OverStdio(r, w, 4096)
				client := jsonrpc.NewClient(rt, jsonrpc.ClientConfig{NewID: func() string { return "1" }})
				go func() {
					lines := bufio.NewReader(fromClient)
					_, _ = lines.ReadString('\n')
					_, _ = io.WriteString(toClient, c.says)
					if c.then != nil {
						_ = toClient.CloseWithError(c.then)
					}
					_, _ = io.Copy(io.Discard, lines)
				}()
				answer, err := client.Call(context.Background(), "", jsonrpc.Message{Method: "m"})
				if kindOf(err) != c.kind || (err == nil) != (c.kind == nil) {
					t.Errorf("Call = %+v, %v, want %v", answer, err, c.kind)
				}
				if c.then != nil {
					if _, err := client.Call(context.Background(), "", jsonrpc.Message{Method: "m"}); kindOf(err) != jsonrpc.ErrConnect && kindOf(err) != jsonrpc.ErrClosed {
						t.Errorf("a call after the end: %v, want ErrConnect or ErrClosed", err)
					}
				}
				if err := client.Close(); err != nil {
					t.Error(err)
				}
				if _, err := client.Call(context.Background(), "", jsonrpc.Message{Method: "m"}); kindOf(err) != jsonrpc.ErrConnect {
					t.Errorf("a call after Close: %v, want ErrConnect", err)
				}
			})
		})
	}
}

// TestStdioClientBlockedWrite: a peer that reads nothing cannot keep a caller.
func TestStdioClientBlockedWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, w := io.Pipe()
		r, _ := io.Pipe()
		client := jsonrpc.NewClient(jsonrpc.OverStdio(r, w, 0), jsonrpc.ClientConfig{})
		for range 2 {
			if _, err := client.Call(context.Background(), "", jsonrpc.Message{Method: "m"}); kindOf(err) != jsonrpc.ErrTimeout {
				t.Errorf("Call = %v, want ErrTimeout", err)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestStdioClientRefuses(t *testing.T) {
	t.Parallel()
	h := newHolder()
	c := startStdio(t, jsonrpc.Config{}, h, jsonrpc.ClientConfig{})
	done := make(chan error, 1)
	go func() {
		_, err := c.Call(t.Context(), "", jsonrpc.Message{Method: "hold", ID: []byte(`5`)})
		done <- err
	}()
	<-h.entered
	if _, err := c.Call(t.Context(), "", jsonrpc.Message{Method: "m", ID: []byte(`5`)}); err == nil {
		t.Error("two calls with one id are in progress")
	}
	close(h.release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.Call(t.Context(), "", jsonrpc.Message{Body: []byte("two\nlines")}); err == nil {
		t.Error("a body that is no JSON was sent over two lines")
	}
}
