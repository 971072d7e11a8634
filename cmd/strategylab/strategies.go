package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/strategies/catalog"
)

func strategiesCommand(p *process) *cli.Command {
	return &cli.Command{
		Name:  "strategies",
		Usage: "list, show, write, check and time strategies",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list every strategy that is found",
				Flags:  append([]cli.Flag{formatFlag("table or json")}, catalogFlags()...),
				Action: func(c *cli.Context) error { return listStrategies(p, c) },
			},
			{
				Name: "show", ArgsUsage: "NAME", Usage: "say what a strategy does, and print its script",
				Flags:  catalogFlags(),
				Action: func(c *cli.Context) error { return showStrategy(p, c) },
			},
			newCommand(p),
			checkCommand(p),
			benchCommand(p),
		},
	}
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

func listStrategies(p *process, c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	format, err := oneOf(c, flagFormat, "table", "json")
	if err != nil {
		return err
	}
	cat, err := loadCatalog(c.Context, p, c)
	if err != nil {
		return err
	}
	defer cat.Close()
	if format == "json" {
		list := []listed{}
		for _, e := range cat.Entries() {
			l := listed{Name: e.Info.Name, Kind: string(e.Info.Kind), Title: e.Info.Title, Description: e.Info.Description, Source: e.Info.Source}
			if e.Err != nil {
				l.Error = e.Err.Error()
			}
			list = append(list, l)
		}
		return printJSON(p.stdout, list)
	}
	return writeList(p.stdout, cat.Entries())
}

func writeList(w io.Writer, entries []catalog.Entry) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		about := e.Info.Title
		if e.Err != nil {
			about = "cannot be played: " + e.Err.Error()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", e.Info.Name, e.Info.Kind, about)
	}
	return tw.Flush()
}

func showStrategy(p *process, c *cli.Context) error {
	args, err := arguments(c, "NAME")
	if err != nil {
		return err
	}
	cat, e, err := loadStrategy(p, c, args[0])
	if err != nil {
		return err
	}
	defer cat.Close()
	fmt.Fprintf(p.stdout, "%s (%s)\n", e.Info.Name, e.Info.Kind)
	for _, text := range []string{e.Info.Title, e.Info.Description} {
		if text != "" {
			fmt.Fprintf(p.stdout, "\n%s\n", text)
		}
	}
	if e.Info.Source == "" {
		return nil
	}
	source, err := os.ReadFile(p.path(e.Info.Source))
	if err != nil {
		return fmt.Errorf("show %s: %w", e.Info.Name, err)
	}
	fmt.Fprintf(p.stdout, "\n%s, SHA-256 %s\n\n%s\n", e.Info.Source, e.Info.Fingerprint, strings.TrimRight(string(source), "\n"))
	return nil
}
