package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Remedy adds a hint to the error of a command that talks to agents.
func Remedy(manager string, err error) error {
	var rejected *agent.RejectedError
	var name *net.DNSError
	switch {
	case err == nil || HintOf(err) != "":
		return err
	case errors.As(err, &rejected):
		return Advise(err, "strategylab query status --manager %s shows how far the league is", manager)
	case errors.Is(err, jsonrpc.ErrConnect) && !errors.As(err, &name):
		return Advise(err, "check that the host is running; strategylab host starts one")
	case errors.Is(err, syscall.EADDRINUSE):
		return Advise(err, "another program uses this port, perhaps another host: stop it, or choose another --listen; port 0 picks a free one")
	case errors.Is(err, jsonrpc.ErrStatus), errors.Is(err, jsonrpc.ErrMalformed):
		return Advise(err, "the server at %s is not a league manager; the manager prints its URL when it starts, usually ending in /mcp", manager)
	case dialect.CodeOf(err) == protocol.CodeTokenMissing, dialect.CodeOf(err) == protocol.CodeTokenInvalid:
		return Advise(err, "pass the token that the host printed as --admin-token, or its file, which the host names, as --admin-token-file")
	case dialect.CodeOf(err) == protocol.CodeDuplicateName:
		return Advise(err, "choose another name: --name %q", cmp.Or(suggested(err), "Team 7"))
	case dialect.CodeOf(err) == protocol.CodeLeagueNotFound:
		return Advise(err, "name the league of this manager with --league-id")
	case errors.Is(err, syscall.EADDRNOTAVAIL), !errors.Is(err, jsonrpc.ErrConnect) && errors.As(err, &name):
		return Advise(err, "--listen needs an address of this machine, such as 127.0.0.1:8000, or 0.0.0.0:8000 for all of them")
	}
	return err
}

// ExplainStart says why a league was not started, as far as the manager says so.
func ExplainStart(manager string, err error) error {
	words := wire.Words(err)
	switch dialect.FindBeginning([]byte(words)) {
	case protocol.TooFew:
		return fmt.Errorf("the league waits for more agents and was not started; the manager says: %q", words)
	case protocol.Already:
		return fmt.Errorf("the league has started already; the manager says: %q", words)
	}
	if !wire.Answered(err) {
		return Advise(err, "some managers answer when the league is over; strategylab query status --manager %s shows whether it runs", manager)
	}
	return err
}

// suggested returns the free name that a manager suggests.
func suggested(err error) string {
	refusal, ok := errors.AsType[*dialect.Refusal](err)
	if !ok {
		return ""
	}
	var data struct {
		Suggestion string `json:"suggestion"`
	}
	_ = json.Unmarshal(refusal.Data, &data) // unreadable data suggests nothing
	return data.Suggestion
}
