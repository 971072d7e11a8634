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
		Name: "conformance", ArgsUsage: roleNames("|") + " URL", Usage: "check that a running agent follows league.v2",
		Description: "Plays the other side: to a player the manager and the referees, to a referee the manager and the players,\n" +
			"to a manager all of its agents. Start the agent before or after this command, and let it register with\n" +
			"the manager whose URL this command prints.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: flagList, Usage: "list all checks instead of running them"},
			&cli.StringSliceFlag{Name: flagOnly, Usage: "`PREFIX`: run only checks with such ids, as player.join; repeatable"},
			command.Choice(command.FlagLevel, string(conformance.Should), "print and fail from this level", levelNames()...),
			command.FormatFlag("text", "json", "junit"),
			&cli.BoolFlag{Name: command.FlagAll, Usage: "print passed checks, too"},
			&cli.StringFlag{Name: command.FlagListen, Value: "127.0.0.1:8000", Usage: "`HOST:PORT`: address of our manager; port 0 picks a free one"},
			&cli.DurationFlag{Name: command.FlagTimeout, Value: conformance.DefaultTimeout, Usage: "deadline for an answer", Action: command.Positive(command.FlagTimeout)},
			&cli.DurationFlag{Name: flagWait, Value: conformance.DefaultWait, Usage: "time to wait for the agent to listen and register", Action: command.Positive(flagWait)},
			&cli.StringFlag{Name: command.FlagID, Usage: "`ID`: id of an agent that does not register", DefaultText: "P01, or its own", Action: command.AgentID(command.FlagID)},
			&cli.StringFlag{Name: command.FlagAdminToken, Usage: "`TOKEN`: admin token, to start a manager's league"},
			&cli.IntFlag{Name: command.FlagPlayers, Value: conformance.DefaultPlayers, Usage: "players that register with a manager"},
			&cli.BoolFlag{Name: flagBusy, Usage: "refuse the first registration, to see the agent retry"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool(flagList) {
				return listChecks(p, c)
			}
			return command.Action(p, conform, "ROLE", "URL")(c)
		},
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
	opts, write, err := conformanceOptions(p, c)
	if err != nil {
		return err
	}
	r, err := conformance.Run(c.Context, opts)
	var nobody *conformance.UnreachableError
	if errors.As(err, &nobody) {
		hint := fmt.Sprintf("start the %s first, or wait longer with --%s", opts.Role, flagWait)
		if opts.Role != conformance.Manager {
			hint += "; this command is its only manager"
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

// conformanceOptions reads the flags. write prints a report as they say.
func conformanceOptions(p *command.Process, c *cli.Context) (opts conformance.Config, write func(io.Writer, *conformance.Report) error, err error) {
	role, err := conformance.ParseRole(c.Args().First())
	if err != nil {
		return opts, nil, command.Usagef("conformance: %w", err)
	}
	opts = conformance.Config{
		Role: role, URL: c.Args().Get(1), Only: c.StringSlice(flagOnly), Timeout: c.Duration(command.FlagTimeout), Wait: c.Duration(flagWait),
		Listen: c.String(command.FlagListen), ID: c.String(command.FlagID), Busy: c.Bool(flagBusy),
		AdminToken: c.String(command.FlagAdminToken), Players: c.Int(command.FlagPlayers),
		Say: func(what string) { fmt.Fprintln(p.Stderr, what) },
	}
	if !c.Bool(command.FlagQuiet) {
		opts.Began = groups(p.Stderr)
	}
	switch {
	case !command.AgentURL(opts.URL):
		return opts, nil, command.Usagef("conformance: invalid URL %q, want one such as http://127.0.0.1:8101/mcp", opts.URL)
	case opts.Players < conformance.MinPlayers || opts.Players > conformance.MaxPlayers:
		return opts, nil, command.Usagef("--%s is %d, want %d to %d", command.FlagPlayers, opts.Players, conformance.MinPlayers, conformance.MaxPlayers)
	}
	if _, err := conformance.Select(conformance.Checks(role), opts.Only); err != nil {
		return opts, nil, command.WithHint(fmt.Errorf("--%s: %w", flagOnly, err), "strategylab conformance --list %s prints them", role)
	}
	all, lowest := c.Bool(command.FlagAll), conformance.Level(c.String(command.FlagLevel))
	return opts, map[string]func(io.Writer, *conformance.Report) error{
		"text":  func(w io.Writer, r *conformance.Report) error { return r.WriteText(w, all, lowest) },
		"json":  func(w io.Writer, r *conformance.Report) error { return command.PrintJSON(w, r.From(lowest)) },
		"junit": func(w io.Writer, r *conformance.Report) error { return r.From(lowest).WriteJUnit(w) },
	}[c.String(command.FlagFormat)], nil
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

func levelNames() []string {
	var names []string
	for _, l := range conformance.Levels() {
		names = append(names, string(l))
	}
	return names
}

// conformity returns the error of a report if failures from a level on count.
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
		return command.Usagef("conformance: --%s takes at most a role, unexpected argument %q", flagList, args[1])
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
