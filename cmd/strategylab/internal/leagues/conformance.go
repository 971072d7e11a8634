package leagues

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/protocol"
)

type conformanceOptions struct {
	List       bool          `flag:"list" usage:"list all checks instead of running them"`
	Only       command.List  `flag:"only PREFIX" usage:"run only checks with such ids, as player.join; repeatable"`
	Level      string        `flag:"level must|should|wild" default:"should" want:"one" usage:"print and fail from this level"`
	Format     string        `flag:"format text|json|junit" want:"one" usage:"output format"`
	All        bool          `flag:"all" usage:"print passed checks, too"`
	Listen     string        `flag:"listen HOST:PORT" default:"127.0.0.1:8000" usage:"address of our manager; port 0 picks a free one"`
	Timeout    time.Duration `flag:"timeout" want:"positive" usage:"deadline for an answer"`
	Wait       time.Duration `flag:"wait" want:"positive" usage:"time to wait for the agent to listen and register"`
	ID         string        `flag:"id ID" text:"P01, or its own" want:"agent" usage:"id of an agent that does not register"`
	AdminToken string        `flag:"admin-token TOKEN" usage:"admin token, to start a manager's league"`
	Players    int           `flag:"players" usage:"players that register with a manager"`
	Busy       bool          `flag:"busy" usage:"refuse the first registration, to see the agent retry"`
}

func roleNames(separator string) string {
	var names []string
	for _, r := range conformance.Roles() {
		names = append(names, string(r))
	}
	return strings.Join(names, separator)
}

func conform(p *command.Process, c *cli.Context, o *conformanceOptions) error {
	if o.List {
		return listChecks(p, c, o.Only)
	}
	if err := command.CheckArguments(c, []string{"ROLE", "URL"}); err != nil {
		return err
	}
	opts, write, err := o.config(p, c)
	if err != nil {
		return err
	}
	r, err := conformance.Run(c.Context, opts)
	if errors.Is(err, kit.ErrUnreachable) {
		hint := fmt.Sprintf("start the %s first, or wait longer with --wait", opts.Role)
		if opts.Role != kit.Manager {
			hint += "; this command is its only manager"
		}
		return command.Advise(fmt.Errorf("conformance: %w", err), "%s", hint)
	}
	if err != nil {
		return fmt.Errorf("conformance: %w", command.Remedy("", err))
	}
	if err := write(p.Stdout, r); err != nil {
		return err
	}
	return conformity(r, kit.Level(o.Level))
}

// config reads the flags. write prints a report as they say.
func (o *conformanceOptions) config(p *command.Process, c *cli.Context) (opts kit.Config, write func(io.Writer, *conformance.Report) error, err error) {
	role, err := conformance.ParseRole(c.Args().First())
	if err != nil {
		return opts, nil, command.Usagef("conformance: %w", err)
	}
	opts = kit.Config{
		Role: role, URL: c.Args().Get(1), Only: o.Only, Timeout: o.Timeout, Wait: o.Wait,
		Listen: o.Listen, ID: o.ID, Busy: o.Busy, AdminToken: o.AdminToken, Players: o.Players,
		Say: func(what string) { fmt.Fprintln(p.Stderr, what) },
	}
	if !p.Quiet {
		opts.Began = groups(p.Stderr)
	}
	switch {
	case !command.AgentURL(opts.URL):
		return opts, nil, command.Usagef("conformance: invalid URL %q, want one such as http://127.0.0.1:8101/mcp", opts.URL)
	case opts.Players < conformance.MinPlayers || opts.Players > conformance.MaxPlayers:
		return opts, nil, command.Usagef("--players is %d, want %d to %d", opts.Players, conformance.MinPlayers, conformance.MaxPlayers)
	}
	if _, err := conformance.Select(conformance.Checks(role), opts.Only); err != nil {
		return opts, nil, command.WithHint(fmt.Errorf("--only: %w", err), "strategylab conformance --list %s prints them", role)
	}
	all, lowest := o.All, kit.Level(o.Level)
	return opts, map[string]func(io.Writer, *conformance.Report) error{
		"text":  func(w io.Writer, r *conformance.Report) error { return r.WriteText(w, all, lowest) },
		"json":  func(w io.Writer, r *conformance.Report) error { return command.PrintJSON(w, r.From(lowest)) },
		"junit": func(w io.Writer, r *conformance.Report) error { return r.From(lowest).WriteJUnit(w) },
	}[o.Format], nil
}

// groups returns a function that prints the group of each check that begins, such
// as player.join, when it is another than before.
func groups(w io.Writer) func(id string) {
	last := ""
	return func(id string) {
		if group := id[:strings.LastIndexByte(id, '.')]; group != last {
			last = group
			fmt.Fprintf(w, "checking %s\n", group)
		}
	}
}

// conformity returns the error of a report if failures from a level on count.
func conformity(r *conformance.Report, from kit.Level) error {
	for _, l := range conformance.Levels() {
		switch n := r.Count(l, kit.Failed); {
		case n > 0 && l == kit.Must:
			return command.Reported(command.ErrBreaksMust)
		case n > 0:
			return command.Reported(command.ErrBreaksShould)
		case l == from:
			return nil
		}
	}
	return nil
}

func listChecks(p *command.Process, c *cli.Context, only []string) error {
	roles := conformance.Roles()
	switch args := c.Args().Slice(); {
	case len(args) == 1:
		role, err := conformance.ParseRole(args[0])
		if err != nil {
			return command.Usagef("conformance: %w", err)
		}
		roles = []kit.Role{role}
	case len(args) > 1:
		return command.Usagef("conformance: --list takes at most a role, unexpected argument %q", args[1])
	}
	for _, role := range roles {
		checks, err := conformance.Select(conformance.Checks(role), only)
		if err != nil {
			return command.WithHint(fmt.Errorf("--only: %w", err), "without it, --list prints all")
		}
		for _, check := range checks {
			fmt.Fprintf(p.Stdout, "%-28s %-6s %s\n", check.ID, check.Level, check.Rule)
		}
	}
	return nil
}

func writeSchemas(p *command.Process, c *cli.Context) error {
	dir := c.Args().First()
	n := 0
	write := func(folder, name string, raw []byte) error {
		text := jsontext.Value(raw).Clone()
		if err := errors.Join(text.Indent(jsontext.WithIndent("  ")), os.MkdirAll(p.Path(filepath.Join(dir, folder)), 0o755)); err != nil {
			return fmt.Errorf("write the schema of %s: %w", name, err)
		}
		n++
		return disk.WriteFile(p.Path(filepath.Join(dir, folder, strings.ToLower(name)+".json")), append(text, '\n'), 0o644)
	}
	for _, t := range protocol.Types() {
		about, _ := protocol.Describe(t)
		if err := write("messages", string(t), protocol.Schema(t, protocol.Strict, !about.Answers)); err != nil {
			return err
		}
		if err := write("messages/tolerant", string(t), protocol.Schema(t, protocol.Tolerant, !about.Answers)); err != nil {
			return err
		}
		if about.Answers && about.Method != "" {
			if err := write("messages/request", string(t), protocol.Schema(t, protocol.Strict, true)); err != nil {
				return err
			}
		}
	}
	for _, d := range dialect.OfProtocol() {
		if err := write("dialects", d.Name, d.WrappingSchema()); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.Stdout, "%d schemas in %s\n", n, dir)
	return nil
}
