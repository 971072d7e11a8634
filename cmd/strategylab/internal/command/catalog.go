package command

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
)

// Isolated says whether scripts run in processes of their own, by default where they play
// against others.
type Isolated struct {
	Isolate bool `flag:"isolate" usage:"run each script in its own process"`
}

// Isolation says whether scripts run in processes of their own, in those of workers, or
// in this one.
type Isolation struct {
	Isolated
	InProcess bool `flag:"in-process" usage:"run trusted scripts in this process, to profile them"`
}

// Supply returns where strategies come from and how they run. --isolate=false means this
// process, too.
func (p *Process) Supply(c *cli.Context, i Isolation) lab.Supply {
	return lab.Supply{
		Scripts: p.Scripts, Required: c.IsSet("scripts"), Plugins: p.Plugins, Limits: p.Limits(),
		Isolate: i.Isolate, InProcess: i.InProcess || Given(c, "isolate=false"), Log: p.ChildLog(),
	}
}

// SupplyAgents is Supply with the agents of flags and those whose URLs stand in texts that
// name strategies.
func (p *Process) SupplyAgents(c *cli.Context, i Isolation, a *Agents, texts ...string) (lab.Supply, error) {
	s := p.Supply(c, i)
	return s, a.addTo(p, &s, texts)
}

// LoadCatalog loads the catalog of a supply. The caller closes it.
func (p *Process) LoadCatalog(ctx context.Context, supply lab.Supply) (*catalog.Catalog, error) {
	p.Stage.Set("loading strategies")
	defer p.Stage.Set("")
	return p.Load(ctx, supply)
}

// LoadStrategy loads the catalog of a supply, which the caller closes, and finds a strategy
// in it.
func (p *Process) LoadStrategy(ctx context.Context, supply lab.Supply, target string) (*catalog.Catalog, catalog.Entry, error) {
	cat, err := p.Load(ctx, supply)
	if err != nil {
		return nil, catalog.Entry{}, err
	}
	e, err := cat.Resolve(ctx, target)
	if err != nil {
		_ = cat.Close() // the name is the error to report
		return nil, catalog.Entry{}, lab.NameError(err)
	}
	return cat, e, nil
}

// WarnOfSlips prints what the scripts of players read although it does not exist and,
// with failures, how they fail, unless --quiet is set or the user asked for isolation.
func (p *Process) WarnOfSlips(c *cli.Context, players []catalog.Player, failures bool) {
	if p.Quiet || Given(c, "isolate") {
		return
	}
	for _, f := range p.Slips(c.Context, players, p.Limits(), failures) {
		text := f.Where + ": " + f.What
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		p.Warn("%s", text)
	}
}

// ChildLog is the log of plugin and script processes, for people.
func (p *Process) ChildLog() *slog.Logger {
	if p.Quiet {
		return p.Logger(slog.LevelError)
	}
	return p.Logger(slog.LevelWarn)
}

// Few returns the first five warnings about strategies that are left out, and the number
// of the others.
func Few(warnings []string) []string {
	const most = 5
	if len(warnings) <= most {
		return warnings
	}
	return append(slices.Clone(warnings[:most]), fmt.Sprintf("%d more like these; strategylab strategies list shows them all", len(warnings)-most))
}

// NamedAgents say which agents there are that play as strategies.
type NamedAgents struct {
	Agent  Texts  `flag:"agent NAME=COMMAND|URL" usage:"agent with {port} or {manager}, or its URL; repeatable"`
	Agents string `flag:"agents FILE" usage:"agents as for --agent, one a line"`
}

// Agents say which agents there are, and how they play.
type Agents struct {
	NamedAgents
	Restart  string        `flag:"restart never|league" want:"one" usage:"when to restart the process of an agent"`
	Deadline time.Duration `flag:"deadline" default:"2s" want:"positive" usage:"time for an agent's answer (and to start, if more than 15s)"`
	Retries  int           `flag:"retries" want:"0.." usage:"retries per message to an agent"`
	Cassette string        `flag:"cassette DIR" usage:"keep agents' answers there, and use those that are"`
	Offline  bool          `flag:"offline" usage:"ask no agent; use the answers of --cassette only"`
}

// mostAgents is the largest size of a file of agents, in bytes.
const mostAgents = 1 << 20

// addTo adds to a supply the agents of the flags, and those whose URLs stand in texts that
// name strategies.
func (a *Agents) addTo(p *Process, s *lab.Supply, texts []string) error {
	specs, err := a.Specs(p)
	if err != nil {
		return err
	}
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			target, _, _ := strings.Cut(strings.TrimSpace(part), "*")
			known := slices.ContainsFunc(specs, func(x served.Spec) bool { return x.URL == target })
			if served.IsURL(target) && !known {
				specs = append(specs, served.AtURL(target))
			}
		}
	}
	s.Agents = specs
	s.Serving = served.Config{Deadline: a.Deadline, Retries: a.Retries, EachLeague: a.Restart == served.League, Cassette: a.Cassette, Offline: a.Offline}
	if s.Serving.EachLeague {
		for _, x := range specs {
			if x.Shared() {
				return Usagef("--restart league: agent %s is not started by us at a port of ours, which takes a command with {port}", x.Name)
			}
		}
	}
	return nil
}

// Specs returns the agents of the flags.
func (a *NamedAgents) Specs(p *Process) ([]served.Spec, error) {
	var specs []served.Spec
	if a.Agents != "" {
		text, _, err := disk.ReadFile(p.Path(a.Agents), mostAgents)
		if err == nil {
			specs, err = served.ParseFile(text)
		}
		if err != nil {
			return nil, Usagef("--agents %s: %w", a.Agents, err)
		}
	}
	for _, text := range a.Agent {
		s, err := served.Parse(text)
		if err != nil {
			return nil, Usagef("--agent: %w", err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// Refs are references to the agents of the flags.
func (a *NamedAgents) Refs(p *Process) ([]catalog.Ref, error) {
	specs, err := a.Specs(p)
	var refs []catalog.Ref
	for _, s := range specs {
		refs = append(refs, catalog.Ref{Target: s.Name, Copies: 1})
	}
	return refs, err
}
