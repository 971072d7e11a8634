package manager_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// book is a log whose lines tests wait for.
type book struct{ watched[string] }

func (b *book) Write(line []byte) (int, error) {
	b.add(string(line))
	return len(line), nil
}

func (b *book) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func (b *book) lines(with string) []string {
	return slices.DeleteFunc(b.all(), func(line string) bool { return !strings.Contains(line, with) })
}

func TestProbes(t *testing.T) {
	t.Parallel()
	t.Run("require", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *manager.Config) { c.Probe = manager.ProbeRequire })
		answer, err := r.signup("nobody", nil)
		wantRefusal(t, 2003, protocol.CodeInvalidEndpoint, answer, err)
		referee, err := r.signupReferee("nobody", nil)
		wantRefusal(t, 1002, protocol.CodeInvalidEndpoint, referee, err)
		r.player("ada") // listens; that it knows no ping does not matter
	})
	t.Run("warn", func(t *testing.T) {
		t.Parallel()
		var log book
		r := newRig(t, func(c *manager.Config) { c.Probe, c.Log = manager.ProbeWarn, log.logger() })
		r.player("present")
		r.admit("absent", nil)
		line := log.until(t, "a warning", func(line string) bool { return strings.Contains(line, "level=WARN") })
		if !strings.Contains(line, "http://absent/mcp") || !strings.Contains(line, "agent=P02") {
			t.Errorf("the warning is: %s", line)
		}
	})
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *manager.Config) { c.Probe = manager.ProbeOff })
		probed := make(chan string, 1)
		r.serve(t.Context(), "silent", jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			probed <- req.Method
			return jsonrpc.Response{Result: jsontext.Value("{}")}
		}))
		r.admit("silent", nil)
		r.m.Close() // waits for what is in the background
		if len(probed) > 0 {
			t.Errorf("the endpoint was called with %s", <-probed)
		}
	})
}

func TestTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	var log book
	r := newRig(t, func(c *manager.Config) { c.Log = log.logger() })
	ada := r.player("ada")
	if len(log.lines("tok-P01-***")) == 0 || len(log.lines(ada.token)) > 0 {
		t.Errorf("the log is:\n%s", log.all())
	}
}
