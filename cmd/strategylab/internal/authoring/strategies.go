// Package authoring holds the commands for authors of strategies: to list, write,
// check and time strategies, and to accept plugins.
package authoring

import (
	"fmt"
	"github.com/strategylab/strategylab/host/disk"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Commands returns the commands for authors of strategies.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Strategies",
		strategiesCommand(p),
		studioCommand(p),
		pluginsCommand(p),
	)
}

func strategiesCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "strategies",
		Usage: "list, show, write, check and time strategies",
		Subcommands: []*cli.Command{
			command.New(p, &cli.Command{Name: "list", Usage: "list all strategies"}, new(listOptions), listStrategies),
			command.New(p, &cli.Command{Name: "show", ArgsUsage: command.ValueStrategy, Usage: "describe a strategy and print its script"},
				new(command.Isolated), showStrategy, command.ValueStrategy),
			newCommand(p),
			checkCommand(p),
			benchCommand(p),
		},
	}
}

type listOptions struct {
	command.Isolated
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

// listed is a strategy in the JSON form of the list.
type listed struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Source      string `json:"source"`
	Error       string `json:"error,omitempty"` // why it cannot be played
}

func listStrategies(p *command.Process, c *cli.Context, o *listOptions) error {
	supply := p.Supply(c, command.Isolation{Isolated: o.Isolated})
	supply.All = true
	cat, err := p.Load(c.Context, supply)
	if err != nil {
		return err
	}
	defer cat.Close()
	if err := cat.OpenPlugins(c.Context); err != nil {
		return err
	}
	if o.Format == "json" {
		list := []listed{}
		for _, e := range cat.Entries() {
			l := listed{Name: e.Info.Name, Kind: string(e.Info.Kind), Title: e.Info.Title, Description: e.Info.Description, Source: e.Info.Source}
			if e.Err != nil {
				l.Error = e.Err.Error()
			}
			list = append(list, l)
		}
		return command.PrintJSON(p.Stdout, list)
	}
	return writeList(p.Stdout, cat.Entries())
}

func writeList(w io.Writer, entries []catalog.Entry) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		about := e.Info.Title
		if e.Err != nil {
			about = "cannot play: " + e.Err.Error()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", e.Info.Name, e.Info.Kind, about)
	}
	return tw.Flush()
}

func showStrategy(p *command.Process, c *cli.Context, o *command.Isolated) error {
	cat, e, err := p.LoadStrategy(c.Context, p.Supply(c, command.Isolation{Isolated: *o}), c.Args().First())
	if err != nil {
		return err
	}
	defer cat.Close()
	fmt.Fprintf(p.Stdout, "%s (%s)\n", e.Info.Name, e.Info.Kind)
	for _, text := range []string{e.Info.Title, e.Info.Description} {
		if text != "" {
			fmt.Fprintf(p.Stdout, "\n%s\n", text)
		}
	}
	if len(e.Params) > 0 {
		fmt.Fprintln(p.Stdout, "\nparameters:")
	}
	for _, param := range e.Params {
		fmt.Fprintln(p.Stdout, " ", param)
	}
	if e.Info.Source == "" {
		return nil
	}
	source, _, err := disk.ReadFile(p.Path(e.Info.Source), catalog.LargestSource)
	if err != nil {
		return fmt.Errorf("show %s: %w", e.Info.Name, err)
	}
	fmt.Fprintf(p.Stdout, "\n%s, SHA-256 %s\n", e.Info.Source, e.Info.Fingerprint)
	if e.Info.Kind == strategies.WebAssembly {
		fmt.Fprintf(p.Stdout, "\nWebAssembly, %d bytes\n", len(source))
		return nil
	}
	fmt.Fprintf(p.Stdout, "\n%s\n", strings.TrimRight(string(source), "\n"))
	return nil
}
