package leagues

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/conformance"
)

const (
	flagOnly = "only"
	flagList = "list"
	flagWait = "wait"
	flagBusy = "busy"
)

func conformanceCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "conformance", ArgsUsage: roleNames("|") + " URL", Usage: "check a running agent against the rules of league.v2",
		Description: "The command plays the other side: to a player the manager and the referees, to a referee the manager and\n" +
			"the players, to a manager both.\n" +
			"Start the agent with the manager that the command names, at any time before or after it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: flagList, Usage: "print every check with its id, level and rule, and make none"},
			&cli.StringSliceFlag{Name: flagOnly, Usage: "make only the checks with these ids, or with ids that begin so: player.join"},
			&cli.StringFlag{Name: command.FlagLevel, Value: string(conformance.Should), Usage: "must, should or wild: failures of this level and above make the command fail"},
			&cli.StringFlag{Name: command.FlagFormat, Value: "text", Usage: "text, json or junit"},
			&cli.BoolFlag{Name: command.FlagAll, Usage: "print the checks that passed as well"},
			&cli.StringFlag{Name: command.FlagListen, Value: "127.0.0.1:8000", Usage: "HOST:PORT of the manager that the agent is to register with; port 0 takes a free one"},
			&cli.DurationFlag{Name: command.FlagTimeout, Value: conformance.DefaultTimeout, Usage: "time for an answer, and the deadline that the agent is told"},
			&cli.DurationFlag{Name: flagWait, Value: conformance.DefaultWait, Usage: "time for the agent to be there and to register"},
			&cli.StringFlag{Name: command.FlagID, Usage: "id of an agent that does not register here (default: P01, or what it says)"},
			&cli.StringFlag{Name: command.FlagAdminToken, Usage: "what a manager wants to be shown before it starts a league"},
			&cli.IntFlag{Name: command.FlagPlayers, Value: conformance.DefaultPlayers, Usage: "players that register with a manager; with an odd number there are byes"},
			&cli.BoolFlag{Name: flagBusy, Usage: "turn the first registration away, to see whether the agent tries again"},
		},
		Action: func(c *cli.Context) error { return conform(p, c) },
	}
}

func roleNames(separator string) string {
	var names []string
	for _, r := range conformance.Roles() {
		names = append(names, string(r))
	}
	return strings.Join(names, separator)
}

func conform(p *command.Process, c *cli.Context) error {
	if c.Bool(flagList) {
		return listChecks(p, c)
	}
	opts, write, err := conformanceOptions(p, c)
	if err != nil {
		return err
	}
	r, err := conformance.Run(c.Context, opts)
	var nobody *conformance.UnreachableError
	if errors.As(err, &nobody) {
		hint := fmt.Sprintf("start the %s first, or give it longer with --%s", opts.Role, flagWait)
		if opts.Role != conformance.Manager {
			hint += "; it needs no manager but the one that this command is"
		}
		return command.Advise(fmt.Errorf("conformance: %w", err), "%s", hint)
	}
	if err != nil {
		return fmt.Errorf("conformance: %w", command.Remedy(c, err))
	}
	if err := write(p.Stdout, r); err != nil {
		return err
	}
	return conformity(r, conformance.Level(c.String(command.FlagLevel)))
}

// conformanceOptions reads the flags. The function returned writes a report as
// they ask for.
func conformanceOptions(p *command.Process, c *cli.Context) (opts conformance.Config, write func(io.Writer, *conformance.Report) error, err error) {
	args, err := command.Arguments(c, "the role of the agent", "the agent's URL")
	if err != nil {
		return opts, nil, err
	}
	role, err := conformance.ParseRole(args[0])
	if err != nil {
		return opts, nil, command.Usagef("conformance: %w", err)
	}
	opts = conformance.Config{
		Role: role, URL: args[1], Only: c.StringSlice(flagOnly), Timeout: c.Duration(command.FlagTimeout), Wait: c.Duration(flagWait),
		Listen: c.String(command.FlagListen), ID: c.String(command.FlagID), Busy: c.Bool(flagBusy),
		AdminToken: c.String(command.FlagAdminToken), Players: c.Int(command.FlagPlayers),
		Say: func(what string) { fmt.Fprintln(p.Stderr, what) },
	}
	switch {
	case !command.AgentURL(opts.URL):
		return opts, nil, command.Usagef("conformance: %q is no URL of an agent, such as http://127.0.0.1:8101/mcp", opts.URL)
	case opts.Players < conformance.MinPlayers || opts.Players > conformance.MaxPlayers:
		return opts, nil, command.Usagef("--%s is %d, want %d to %d", command.FlagPlayers, opts.Players, conformance.MinPlayers, conformance.MaxPlayers)
	}
	if err := command.Positive(c, command.FlagTimeout, flagWait); err != nil {
		return opts, nil, err
	}
	if err := command.IDFlag(c); err != nil {
		return opts, nil, err
	}
	if _, err := conformance.Select(conformance.Checks(role), opts.Only); err != nil {
		return opts, nil, command.WithHint(fmt.Errorf("--%s: %w", flagOnly, err), "strategylab conformance --list %s prints them", role)
	}
	if _, err := command.OneOf(c, command.FlagLevel, levelNames()...); err != nil {
		return opts, nil, err
	}
	format, err := command.OneOf(c, command.FlagFormat, "text", "json", "junit")
	if err != nil {
		return opts, nil, err
	}
	all := c.Bool(command.FlagAll)
	return opts, map[string]func(io.Writer, *conformance.Report) error{
		"text":  func(w io.Writer, r *conformance.Report) error { return r.WriteText(w, all) },
		"json":  func(w io.Writer, r *conformance.Report) error { return command.PrintJSON(w, r) },
		"junit": func(w io.Writer, r *conformance.Report) error { return r.WriteJUnit(w) },
	}[format], nil
}

func levelNames() []string {
	var names []string
	for _, l := range conformance.Levels() {
		names = append(names, string(l))
	}
	return names
}

// conformity is the error that a report ends the command with, if failures from a
// level on count.
func conformity(r *conformance.Report, from conformance.Level) error {
	for _, l := range conformance.Levels() {
		switch n := r.Count(l, conformance.Failed); {
		case n > 0 && l == conformance.Must:
			return command.Reported(command.ErrBreaksMust)
		case n > 0:
			return command.Reported(command.ErrBreaksShould)
		case l == from:
			return nil
		}
	}
	return nil
}

// listChecks prints the checks of one role, or of all.
func listChecks(p *command.Process, c *cli.Context) error {
	roles := conformance.Roles()
	switch args := c.Args().Slice(); {
	case len(args) == 1:
		role, err := conformance.ParseRole(args[0])
		if err != nil {
			return command.Usagef("conformance: %w", err)
		}
		roles = []conformance.Role{role}
	case len(args) > 1:
		return command.Usagef("conformance: --%s takes a role or nothing, not %q", flagList, args[1])
	}
	for _, role := range roles {
		checks, err := conformance.Select(conformance.Checks(role), c.StringSlice(flagOnly))
		if err != nil {
			return command.WithHint(fmt.Errorf("--%s: %w", flagOnly, err), "without it, --%s prints all", flagList)
		}
		for _, check := range checks {
			fmt.Fprintf(p.Stdout, "%-28s %-6s %s\n", check.ID, check.Level, check.Rule)
		}
	}
	return nil
}
