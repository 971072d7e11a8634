package authoring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/web/studio"
)

const (
	flagAtOnce  = "at-once"
	flagMaxTime = "max-time"
	flagTeam    = "team"
	flagTeams   = "teams"
)

func studioCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "studio", ArgsUsage: "[FOLDER]", Usage: "write strategies in the browser",
		Description: "Serves a page on this machine with the scripts of a folder: an editor that checks as you type, trials\n" +
			"against a field, and leagues match by match beside those of the version before. Every script runs in its\n" +
			"own process. For a class, --listen lets others in and --team gives each team a folder and a token.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: command.FlagListen, Value: "127.0.0.1:0", Usage: "`HOST:PORT`: address of the page; port 0 picks a free one"},
			&cli.StringSliceFlag{Name: flagTeam, Usage: "`NAME`: team with a folder and a token; repeatable"},
			&cli.StringFlag{Name: flagTeams, Usage: "`FILE`: teams and their tokens", DefaultText: "FOLDER/" + teamsFile},
			&cli.IntFlag{Name: command.FlagMaxRuns, Value: 1000, Usage: "maximum number of leagues per trial", Action: command.AtLeast(command.FlagMaxRuns, 1)},
			&cli.DurationFlag{Name: flagMaxTime, Value: time.Minute, Usage: "time limit per trial", Action: command.Positive(flagMaxTime)},
			&cli.IntFlag{Name: flagAtOnce, Value: 2, Usage: "trials, and checks, in parallel; others wait", Action: command.AtLeast(flagAtOnce, 1)},
		}, command.NamedAgentFlags(), command.CallerFlags(), command.TLSFlags()),
		Action: command.Action(p, serveStudio, command.Rest),
	}
}

func serveStudio(p *command.Process, c *cli.Context) error {
	if c.Args().Len() > 1 {
		return command.Usagef("studio: unexpected argument %q", c.Args().Get(1))
	}
	if p.Exe == "" {
		return errors.New("studio: scripts cannot be isolated: the path of this program is unknown")
	}
	host, _, err := net.SplitHostPort(c.String(command.FlagListen))
	if err != nil {
		return command.Usagef("--%s is %q, want HOST:PORT, for example 0.0.0.0:8040", command.FlagListen, c.String(command.FlagListen))
	}
	folder := c.Args().First()
	class := len(c.StringSlice(flagTeam)) > 0 || c.String(flagTeams) != ""
	switch {
	case class && folder == "":
		return command.WithHint(errors.New("studio: the folder of the teams is missing"), "name it: strategylab studio class --team Red --team Blue")
	case !class && !jsonrpc.IsLoopback(host):
		return command.WithHint(fmt.Errorf("studio: others can reach %s, but there are no teams with tokens", c.String(command.FlagListen)),
			"name the teams: --%s Red --%s Blue, or listen on 127.0.0.1", flagTeam, flagTeam)
	case folder == "":
		folder = c.String(command.FlagScripts)
	}
	s := &studioServer{p: p, c: c, folder: folder, host: host, checks: c.Int(flagAtOnce), log: command.ChildLog(p, c)}
	s.supply = lab.Supply{Plugins: c.String(command.FlagPlugins), Limits: command.Limits(c), Isolate: true, Log: s.log}
	if s.supply.Agents, err = command.NamedAgents(p, c); err != nil {
		return err
	}
	if class {
		if err := s.readTeams(); err != nil {
			return fmt.Errorf("studio: %w", err)
		}
	}
	p.ForBatch()
	err = s.serve(c.Context)
	if command.Stopped(c.Context, err) {
		return nil // the user ends a server so
	}
	return command.Remedy(c, err)
}

// studioServer serves the studio of a folder, or of the teams of a class.
type studioServer struct {
	p            *command.Process
	c            *cli.Context
	folder, host string
	teams        []team     // of a class
	file         string     // that holds them, as the user calls it
	fresh        bool       // some tokens are new
	supply       lab.Supply // of opponents, but for the scripts of each folder
	checks       int        // in parallel
	log          *slog.Logger
}

// serve serves until ctx ends.
func (s *studioServer) serve(ctx context.Context) error {
	callers, err := command.Callers(s.c)
	if err != nil {
		return err
	}
	cert, key, err := command.TLSFiles(s.p, s.c)
	if err != nil {
		return err
	}
	// The server is that of the agents, for its limits and its checks of Host and Origin.
	server, err := jsonrpc.Listen(ctx, s.c.String(command.FlagListen), jsonrpc.Config{
		Path: "/", Other: studio.New(studio.Config{Teams: s.members(), Theme: page.Theme(), MaxSource: lab.MaxDraft}),
		Divert: func(*jsonrpc.Request) bool { return true }, Callers: callers, TLSCert: cert, TLSKey: key,
	})
	if err != nil {
		return err
	}
	s.announce(server.URL())
	return server.Serve(ctx, nil) // everything is diverted to the page
}

// members returns the teams with their labs.
func (s *studioServer) members() []studio.Team {
	tries, checks := lab.NewQueue(s.checks, mostWaiting), lab.NewQueue(s.checks, mostWaiting)
	workshop := func(folder string) *workshop {
		own := lab.Folder{Path: s.p.Path(folder), Name: folder}
		own.RemoveDrafts()
		supply := s.supply
		supply.Scripts = folder
		return &workshop{
			lab: s.p.Lab, supply: supply, folder: own, maxRuns: s.c.Int(command.FlagMaxRuns), maxTime: s.c.Duration(flagMaxTime),
			tries: [2]*lab.Queue{lab.NewQueue(1, mostOfTeam), tries}, checks: [2]*lab.Queue{lab.NewQueue(1, mostOfTeam), checks},
		}
	}
	if s.teams == nil {
		return []studio.Team{{Lab: workshop(s.folder)}}
	}
	var all []studio.Team
	for _, t := range s.teams {
		all = append(all, studio.Team{Name: t.Name, Token: t.Token, Lab: workshop(s.folderOf(t))})
	}
	return all
}

// announce prints where the page is. Links with tokens are printed once: when they are new.
func (s *studioServer) announce(own string) {
	links := []string{own}
	if far := command.Reachable(s.host, own, net.InterfaceAddrs); len(far) > 0 {
		links = links[:0]
		for _, f := range far {
			links = append(links, f.URL)
		}
	}
	out := s.p.Stdout
	fmt.Fprintf(out, "the studio of %s is at %s\n", s.folder, strings.Join(links, " and "))
	if s.teams == nil {
		return
	}
	for _, t := range s.teams {
		if t.fresh {
			fmt.Fprintf(out, "  %-20s  %s#token=%s\n", t.Name, links[0], t.Token)
		}
	}
	fmt.Fprintf(out, "the tokens of all teams are in %s, which only you can read\n", s.file)
}
