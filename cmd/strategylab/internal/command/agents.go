package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
)

// Flags of agents that play as strategies. [LoadCatalog] and [LoadStrategy] read them.
const (
	FlagAgent    = "agent"
	FlagAgents   = "agents"
	FlagRestart  = "restart"
	FlagDeadline = "deadline"
	FlagRetries  = "retries"
	FlagCassette = "cassette"
	FlagOffline  = "offline"
)

// NamedAgentFlags say which agents there are.
func NamedAgentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: FlagAgent, Value: &Texts{}, Usage: "`NAME=COMMAND|URL`: agent with {port} or {manager}, or its URL; repeatable"},
		&cli.StringFlag{Name: FlagAgents, Usage: "`FILE`: agents as for --agent, one a line"},
	}
}

// AgentFlags say which agents there are, and how they play.
func AgentFlags() []cli.Flag {
	return append(NamedAgentFlags(),
		Choice(FlagRestart, served.Never, "when to restart the process of an agent", served.Never, served.League),
		&cli.DurationFlag{Name: FlagDeadline, Value: served.DefaultDeadline, Usage: "time for an agent's answer", Action: Positive(FlagDeadline)},
		&cli.IntFlag{Name: FlagRetries, Usage: "retries per message to an agent", Action: AtLeast(FlagRetries, 0)},
		&cli.StringFlag{Name: FlagCassette, Usage: "`DIR`: keep agents' answers there, and use those that are"},
		&cli.BoolFlag{Name: FlagOffline, Usage: "ask no agent; use the answers of --cassette only"},
	)
}

// mostAgents is the largest size of a file of agents, in bytes.
const mostAgents = 1 << 20

// addAgents adds to a supply the agents that the command line names: by flags, and by URLs
// where it names strategies.
func addAgents(p *Process, c *cli.Context, s *lab.Supply) error {
	specs, err := NamedAgents(p, c)
	if err != nil {
		return err
	}
	for _, text := range strategyTexts(c) {
		for part := range strings.SplitSeq(text, ",") {
			target, _, _ := strings.Cut(strings.TrimSpace(part), "*")
			known := slices.ContainsFunc(specs, func(x served.Spec) bool { return x.URL == target })
			if served.IsURL(target) && !known {
				specs = append(specs, served.AtURL(target))
			}
		}
	}
	s.Agents = specs
	s.Serving = served.Config{
		Deadline: c.Duration(FlagDeadline), Retries: c.Int(FlagRetries), EachLeague: c.String(FlagRestart) == served.League,
		Cassette: c.String(FlagCassette), Offline: c.Bool(FlagOffline),
	}
	if s.Serving.Offline && s.Serving.Cassette == "" {
		return Usagef("--%s needs --%s DIR, where the answers are", FlagOffline, FlagCassette)
	}
	if s.Serving.EachLeague {
		for _, x := range specs {
			if x.Shared() {
				return Usagef("--%s %s: agent %s is not started by us at a port of ours, which takes a command with {port}", FlagRestart, served.League, x.Name)
			}
		}
	}
	return nil
}

// NamedAgents returns the agents of [NamedAgentFlags].
func NamedAgents(p *Process, c *cli.Context) ([]served.Spec, error) {
	var specs []served.Spec
	if file := c.String(FlagAgents); file != "" {
		text, _, err := disk.ReadFile(p.Path(file), mostAgents)
		if err == nil {
			specs, err = served.ParseFile(text)
		}
		if err != nil {
			return nil, Usagef("--%s %s: %w", FlagAgents, file, err)
		}
	}
	if c.Command == nil || !slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == FlagAgents }) {
		return nil, nil // --agent may be another flag
	}
	for _, text := range TextsOf(c, FlagAgent) {
		s, err := served.Parse(text)
		if err != nil {
			return nil, Usagef("--%s: %w", FlagAgent, err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// strategyTexts are the parts of a command line that name strategies.
func strategyTexts(c *cli.Context) []string {
	texts := append([]string{c.String(FlagField), c.String("mine")}, c.Args().Slice()...)
	for _, swap := range TextsOf(c, "replace") {
		_, target, _ := strings.Cut(swap, "=")
		texts = append(texts, target)
	}
	return texts
}

// AgentRefs are references to the agents that flags name.
func AgentRefs(p *Process, c *cli.Context) ([]catalog.Ref, error) {
	specs, err := NamedAgents(p, c)
	var refs []catalog.Ref
	for _, s := range specs {
		refs = append(refs, catalog.Ref{Target: s.Name, Copies: 1})
	}
	return refs, err
}
