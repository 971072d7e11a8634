package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// advised is an error with what to do about it. Unlike a usageError it is no
// mistake in the command line.
type advised struct {
	err  error
	hint string
}

func (e *advised) Error() string { return e.err.Error() }
func (e *advised) Unwrap() error { return e.err }

func advise(err error, format string, args ...any) error {
	return &advised{err: err, hint: fmt.Sprintf(format, args...)}
}

// remedy adds to an error of a live command what to do about it.
func remedy(c *cli.Context, err error) error {
	var rejected *agent.RejectedError
	var name *net.DNSError
	manager := c.String(flagManager)
	switch {
	case err == nil || hintOf(err) != "":
		return err
	case errors.As(err, &rejected):
		return advise(err, "strategylab query status --manager %s says how far the league is", manager)
	case errors.Is(err, jsonrpc.ErrConnect):
		return advise(err, "is the host running there? strategylab host starts one")
	case errors.Is(err, disk.ErrLocked):
		return advise(err, "stop that process, or choose another --%s", flagData)
	case errors.Is(err, syscall.EADDRINUSE):
		return advise(err, "another program listens there, perhaps another host: stop it, or choose another --%s; port 0 takes a free one", flagListen)
	case errors.Is(err, jsonrpc.ErrStatus), errors.Is(err, jsonrpc.ErrMalformed):
		return advise(err, "what answers at %s is no league manager; its URL is printed where it runs, and usually ends in /mcp", manager)
	case protocol.CodeOf(err) == protocol.CodeTokenMissing, protocol.CodeOf(err) == protocol.CodeTokenInvalid:
		return advise(err, "give the token that the host printed as --%s", flagAdminToken)
	case protocol.CodeOf(err) == protocol.CodeDuplicateName:
		return advise(err, "choose another name: --%s %q", flagName, cmp.Or(suggested(err), "Team 7"))
	case protocol.CodeOf(err) == protocol.CodeLeagueNotFound:
		return advise(err, "name the league that the manager runs with --%s", flagLeagueID)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &name):
		return advise(err, "--%s takes an address of this machine, such as 127.0.0.1:8000, or 0.0.0.0:8000 for all it has", flagListen)
	case errors.Is(err, fs.ErrPermission):
		return advise(err, "choose a folder or a port that this user may use")
	}
	return err
}

// suggested returns the name that a manager suggests for one that is taken.
func suggested(err error) string {
	refusal, ok := errors.AsType[*protocol.Refusal](err)
	if !ok {
		return ""
	}
	var data struct {
		Suggestion string `json:"suggestion"`
	}
	_ = json.Unmarshal(refusal.Data, &data) // what cannot be read suggests nothing
	return data.Suggestion
}

// urlFlag checks a flag that is the URL of an agent, or empty.
func urlFlag(c *cli.Context, flag string) error {
	text := c.String(flag)
	if text != "" && !agentURL(text) {
		return usagef("--%s is %q, want a URL such as http://127.0.0.1:8000/mcp", flag, text)
	}
	return nil
}

// idFlag checks the id that a command was given, if any.
func idFlag(c *cli.Context) error {
	if id := c.String(flagID); id != "" && !protocol.ValidID(id) {
		return usagef("--%s is %q, want letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit", flagID, id)
	}
	return nil
}

// agentURL reports whether an agent can be called by a text.
func agentURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
