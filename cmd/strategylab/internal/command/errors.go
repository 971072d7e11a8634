package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Outcomes of a command that have an exit code of their own.
var (
	ErrStopped      = errors.New("stopped before the end")
	ErrCheckFailed  = errors.New("the strategy failed its check")
	ErrRefuted      = errors.New("an assertion is refuted")
	ErrUndecided    = errors.New("these leagues do not decide an assertion")
	ErrBreaksMust   = errors.New("the agent breaks a rule of level must")
	ErrAllLost      = errors.New("every match of this player was lost by technical loss, or nobody invited it to any")
	ErrBreaksShould = errors.New("the agent breaks rules, but none of level must")
)

// Usagef returns a mistake in the command line.
func Usagef(format string, args ...any) error {
	return &lab.InputError{Err: fmt.Errorf(format, args...)}
}

// WithHint turns an error into a mistake in the command line, with a second line
// that says how to fix it.
func WithHint(err error, format string, args ...any) error {
	return &lab.InputError{Err: err, Hint: fmt.Sprintf(format, args...)}
}

// advised is an error with a hint that is not a mistake in the command line.
type advised struct {
	err  error
	hint string
}

func (e *advised) Error() string { return e.err.Error() }
func (e *advised) Unwrap() error { return e.err }

// Advise adds a hint to an error without making it a mistake in the command line.
func Advise(err error, format string, args ...any) error {
	return &advised{err: err, hint: fmt.Sprintf(format, args...)}
}

// HintOf returns the hint of an error; empty if it has none.
func HintOf(err error) string {
	var input *lab.InputError
	if errors.As(err, &input) && input.Hint != "" {
		return input.Hint
	}
	var advice *advised
	if errors.As(err, &advice) {
		return advice.hint
	}
	return hintOfCause(err)
}

// hintOfCause returns what is done about causes that any command may meet.
func hintOfCause(err error) string {
	var name *net.DNSError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Sprintf("no machine is known as %s here: check its spelling; on this machine an address begins with http://127.0.0.1", name.Name)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "this user may not write or read there: choose a folder of your own, or change its permissions"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "there is no room left on that disk: free some, or choose a folder on another one; what was written stays"
	case IsLocked(err):
		return "stop that process or wait until it ends, or choose another folder with --data-dir or --out"
	}
	return ""
}

// IsLocked reports whether another process holds what a command wants to write.
func IsLocked(err error) bool { return errors.Is(err, disk.ErrLocked) }

// reported is an error that the command's output has already explained.
type reported struct{ err error }

func (e *reported) Error() string { return e.err.Error() }
func (e *reported) Unwrap() error { return e.err }

// Reported marks an error that the command's output has already explained.
func Reported(err error) error { return &reported{err} }

// IsReported reports whether the command's output has already explained an error.
func IsReported(err error) bool {
	var r *reported
	return errors.As(err, &r)
}

// Remedy adds a hint to the error of a command that talks to agents.
func Remedy(manager string, err error) error {
	var name *net.DNSError
	switch {
	case err == nil || HintOf(err) != "":
		return err
	case errors.Is(err, agent.ErrRejected):
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
