package command

import (
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
)

// NamedAgents say which agents there are that play as strategies.
type NamedAgents struct {
	Agent  Texts  `flag:"agent NAME=COMMAND|URL" usage:"agent with {port} or {manager}, or its URL; repeatable"`
	Agents string `flag:"agents FILE" usage:"agents as for --agent, one a line"`
}

// Agents say which agents there are, and how they play.
type Agents struct {
	NamedAgents
	Restart  string        `flag:"restart never|league" want:"one" usage:"when to restart the process of an agent"`
	Deadline time.Duration `flag:"deadline" default:"2s" want:"positive" usage:"time for an agent's answer"`
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
