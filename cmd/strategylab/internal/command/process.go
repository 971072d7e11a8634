// Package command is what all commands share: the process as a value, command lines
// with their flags and variables, help, completion, errors with hints, and progress.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/cluster"
)

// Process is what a command may use of the process it runs in, and the lab with
// its files and clock.
type Process struct {
	lab.Lab
	Globals
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Out, Err       Terminal            // what Stdout and Stderr are
	Colour         bool                // whether the user wants colours on terminals
	Env            func(string) string // returns the value of an environment variable; empty without one
	Build          *debug.BuildInfo    // of this program; nil if unknown
	ForBatch       func()              // tunes the process for batch work
	ForLive        func()              // tunes the process for messages
	Stage          *Stage              // what the command is doing
}

// Terminal is a terminal with its size in characters. The zero value is a stream that is
// not one.
type Terminal struct {
	Columns, Rows int
	Cursor        bool // whether its cursor can be moved
}

// Is reports whether the stream is a terminal.
func (t Terminal) Is() bool { return t.Columns > 0 }

// longestMessage is the longest line on stderr, in bytes: a list or a name of a file may be
// of any length.
const longestMessage = 4 << 10

// GuardMessages keeps what others have written from controlling the terminal by way of
// Stderr.
func (p *Process) GuardMessages() { p.Stderr = newSafeWriter(p.Stderr, true, longestMessage) }

// GuardOutput does the same for Stdout. What a program reads there stays as it is, but for
// the control characters that no text has.
func (p *Process) GuardOutput() { p.Stdout = newSafeWriter(p.Stdout, p.Out.Is(), 0) }

// Companion returns the path of a program of ours that comes with this one: beside it, or
// else on PATH. instead says what else the user can do without it.
func (p *Process) Companion(name, instead string) (string, error) {
	for _, dir := range append([]string{filepath.Dir(p.Exe)}, filepath.SplitList(p.Env("PATH"))...) {
		if !filepath.IsAbs(dir) {
			continue // as exec.LookPath does: a program in the working directory may be anybody's
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", Advise(fmt.Errorf("the program %s is neither beside this one nor on PATH", name),
		"archives have it beside strategylab, and in a checkout go -C cmd/%s install . installs it; or %s", name, instead)
}

// Broker starts a broker that ends with this process. lost is called if it ends before
// it is closed.
func (p *Process) Broker(ctx context.Context, c cluster.BrokerConfig, lost func(error)) (*cluster.Broker, error) {
	program, err := p.Companion("strategylab-broker",
		"run an official broker, nats-server --jetstream --auth TOKEN, and name it with --cluster nats://TOKEN@HOST:4222")
	if err != nil {
		return nil, err
	}
	return cluster.StartBroker(ctx, program, p.Stderr, c, lost)
}

// Logger writes log lines for people to stderr.
func (p *Process) Logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level}))
}

// Warn prints a warning to stderr.
func (p *Process) Warn(format string, args ...any) {
	p.Say("strategylab: warning: "+format, args...)
}

// Say prints a message to stderr. On a terminal its lines are broken between words, but
// not those with a command that can be pasted.
func (p *Process) Say(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		if !strings.Contains(line, "strategylab ") {
			line = words.Wrap(line, p.Err.Columns)
		}
		fmt.Fprintln(p.Stderr, line)
	}
}

// Note is Say, unless --quiet is set.
func (p *Process) Note(format string, args ...any) {
	if !p.Quiet {
		p.Say(format, args...)
	}
}

// PrintJSON writes a value as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Action makes a function the action of a command whose positional arguments have
// these names.
func Action(p *Process, f func(*Process, *cli.Context) error, names ...string) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := CheckArguments(c, names); err != nil {
			return err
		}
		if err := Refuse(c); err != nil {
			return err
		}
		return f(p, c)
	}
}

// CheckArguments refuses positional arguments that are missing, and those that a command does
// not take.
func CheckArguments(c *cli.Context, names []string) error {
	got := c.Args().Slice()
	usage := strings.TrimSpace("usage: " + c.Command.HelpName + " " + c.Command.ArgsUsage)
	switch {
	case len(got) < len(names) && names[len(got)] != Rest && names[len(got)][0] != '[':
		return WithHint(fmt.Errorf("%s: %s is missing", Name(c), names[len(got)]), "%s", usage)
	case len(got) > len(names) && (len(names) == 0 || names[len(names)-1] != Rest):
		return WithHint(fmt.Errorf("%s: unexpected argument %q", Name(c), got[len(names)]), "%s", usage)
	}
	return nil
}

// Name returns the words that call a command, without the program's.
func Name(c *cli.Context) string {
	_, name, _ := strings.Cut(c.Command.HelpName, " ")
	return name
}

// Rest, as the last name, stands for any number of further arguments. A name in brackets is
// that of one that may be missing.
const Rest = "..."

// Stopped reports whether a command ended because the user interrupted it.
func Stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// Categorize puts commands under a heading in the help.
func Categorize(category string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = category
	}
	return commands
}

// Stage is what a command is doing, for a message to who stops it. A nil Stage keeps
// nothing. It is safe for concurrent use.
type Stage struct{ doing atomic.Value }

// Set says what the command does from now on, as in "writing the report".
func (s *Stage) Set(doing string) {
	if s != nil {
		s.doing.Store(doing)
	}
}

// Doing returns what the command does.
func (s *Stage) Doing() string {
	const unknown = "finishing what is in progress"
	if s == nil {
		return unknown
	}
	doing, _ := s.doing.Load().(string)
	return cmp.Or(doing, unknown)
}

// Version describes the build of the program in one line: version, revision, whether the
// source differed from it, and how it was built. info may be nil.
func Version(info *debug.BuildInfo) string {
	if info == nil {
		return "version unknown (built without module information)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	text := cmp.Or(info.Main.Version, "(devel)")
	if revision := settings["vcs.revision"]; revision == "" {
		text += ", revision unknown (built without version control)"
	} else {
		text += ", revision " + revision
		if at := settings["vcs.time"]; at != "" {
			text += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			text += ", modified"
		}
	}
	text += ", " + cmp.Or(info.GoVersion, "Go version unknown")
	if settings["GOOS"] != "" {
		text += " " + settings["GOOS"] + "/" + settings["GOARCH"]
	}
	return text
}

// ClusterAccess says how to connect to a cluster, beside --cluster.
type ClusterAccess struct {
	Creds  string `flag:"cluster-creds FILE" usage:"NATS credentials"`
	CA     string `flag:"cluster-ca FILE" usage:"certificate authorities to trust, in PEM"`
	Cert   string `flag:"cluster-cert FILE" usage:"client certificate in PEM"`
	Key    string `flag:"cluster-key FILE" usage:"the client certificate's key in PEM"`
	Prefix string `flag:"cluster-prefix NAME" default:"strategylab" usage:"first words of all NATS subjects"`
}

// Config returns how to reach the broker at a URL.
func (a *ClusterAccess) Config(p *Process, c *cli.Context, url string) (cluster.Config, error) {
	config := cluster.Config{URL: url, Creds: p.Path(a.Creds), CA: p.Path(a.CA), Cert: p.Path(a.Cert), Key: p.Path(a.Key), Prefix: a.Prefix, Name: "strategylab " + Name(c)}
	if !strings.Contains(url, "://") {
		return config, Usagef("--cluster is %q, want a URL such as nats://TOKEN@HOST:4222", url)
	}
	return config, nil
}

// ClusterError adds what to do to an error of a connection to a broker.
func ClusterError(err error) error {
	var refused *cluster.RefusedError
	if errors.As(err, &refused) && refused.Hint != "" {
		return Advise(err, "%s", refused.Hint)
	}
	return err
}

// Machine returns the name of this machine, for people.
func Machine() string {
	name, _ := os.Hostname()
	return cmp.Or(name, "unknown")
}
