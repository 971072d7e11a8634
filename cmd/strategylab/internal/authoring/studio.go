package authoring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/web/studio"
	"github.com/strategylab/strategylab/strategies/catalog"
)

type studioOptions struct {
	Listen  string        `flag:"listen HOST:PORT" default:"127.0.0.1:0" usage:"address of the page; port 0 picks a free one"`
	Team    command.List  `flag:"team NAME" usage:"team with a folder and a token; repeatable"`
	Teams   string        `flag:"teams FILE" text:"FOLDER/teams.json" usage:"teams and their tokens"`
	MaxRuns int           `flag:"max-runs" default:"1000" want:"1.." usage:"maximum number of leagues per trial"`
	MaxTime time.Duration `flag:"max-time" default:"1m" want:"positive" usage:"time limit per trial"`
	AtOnce  int           `flag:"at-once" default:"2" want:"1.." usage:"trials, and checks, in parallel; others wait"`
	command.NamedAgents
	command.Served
}

func serveStudio(p *command.Process, c *cli.Context, o *studioOptions) error {
	if p.Exe == "" {
		return errors.New("studio: scripts cannot be isolated: the path of this program is unknown")
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return command.Usagef("--listen is %q, want HOST:PORT, for example 0.0.0.0:8040", o.Listen)
	}
	folder := c.Args().First()
	class := len(o.Team) > 0 || o.Teams != ""
	switch {
	case class && folder == "":
		return command.WithHint(errors.New("studio: the folder of the teams is missing"), "name it: strategylab studio class --team Red --team Blue")
	case !class && !jsonrpc.IsLoopback(host):
		return command.WithHint(fmt.Errorf("studio: others can reach %s, but there are no teams with tokens", o.Listen),
			"name the teams: --team Red --team Blue, or listen on 127.0.0.1")
	case folder == "":
		folder = p.Scripts
	}
	s := &studioServer{p: p, opt: o, folder: folder, host: host, log: p.ChildLog()}
	s.supply = lab.Supply{Plugins: p.Plugins, Limits: p.Limits(), Isolate: true, Log: s.log}
	if s.supply.Agents, err = o.Specs(p); err != nil {
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
	return command.Remedy("", err)
}

// studioServer serves the studio of a folder, or of the teams of a class.
type studioServer struct {
	p            *command.Process
	opt          *studioOptions
	folder, host string
	teams        []team     // of a class
	file         string     // that holds them, as the user calls it
	fresh        bool       // some tokens are new
	supply       lab.Supply // of opponents, but for the scripts of each folder
	log          *slog.Logger
}

func (s *studioServer) serve(ctx context.Context) error {
	callers, err := s.opt.Callers()
	if err != nil {
		return err
	}
	// The server is that of the agents, for its limits and its checks of Host and Origin.
	server, err := jsonrpc.Listen(ctx, s.opt.Listen, jsonrpc.Config{
		Path: "/", Other: studio.New(studio.Config{Teams: s.members(), Theme: page.Theme(), MaxSource: catalog.MaxSource}),
		Divert: func(*jsonrpc.Request) bool { return true }, Callers: callers, TLSCert: s.p.Path(s.opt.TLSCert), TLSKey: s.p.Path(s.opt.TLSKey),
	})
	if err != nil {
		return err
	}
	s.announce(server.URL())
	return server.Serve(ctx, nil) // everything is diverted to the page
}

// members returns the teams with their labs.
func (s *studioServer) members() []studio.Team {
	tries, checks := lab.NewQueue(s.opt.AtOnce, mostWaiting), lab.NewQueue(s.opt.AtOnce, mostWaiting)
	workshop := func(folder string) *workshop {
		own := lab.Folder{Path: s.p.Path(folder), Name: folder}
		own.RemoveDrafts()
		supply := s.supply
		supply.Scripts = folder
		return &workshop{
			lab: s.p.Lab, supply: supply, folder: own, maxRuns: s.opt.MaxRuns, maxTime: s.opt.MaxTime,
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
	if far := jsonrpc.Reachable(s.host, own, net.InterfaceAddrs); len(far) > 0 {
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
