package command

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Names of values that the program can complete. In the usage of a command or a flag,
// alternatives such as "on|off" are completed as well; for all others the shell offers
// files.
const (
	ValueStrategy   = "STRATEGY"
	ValueStrategies = "STRATEGIES" // separated by commas, with groups and copies
)

const completeWord = "__complete"

//go:embed completion
var completionScripts embed.FS

func shellNames(separator string) string {
	return strings.Join([]string{"bash", "zsh", "fish", "powershell"}, separator)
}

// completeCommand prints what may complete a command line: a line each with the word, a
// tab and its description. The scripts of the shells call it with the words before the
// cursor and the one at it.
func completeCommand(p *Process, app *cli.App) *cli.Command {
	return New(p, &cli.Command{
		Name: completeWord, Hidden: true, ArgsUsage: "[WORD...]", Usage: "print what may complete a command line",
	}, new(completion), func(p *Process, c *cli.Context, o *completion) error {
		for _, s := range complete(app, c.Args().Slice(), o.Word, func() []string { return strategyNames(c.Context, p) }) {
			if _, err := fmt.Fprintf(p.Stdout, "%s\t%s\n", s.word, s.about); err != nil {
				return err
			}
		}
		return nil
	}, Rest)
}

// completion is the word at the cursor.
type completion struct {
	Word string `flag:"word" usage:"the word at the cursor"`
}

// strategyNames returns the names of strategies and groups. Scripts are not loaded.
func strategyNames(ctx context.Context, p *Process) []string {
	names := p.Names(ctx, lab.Supply{Scripts: p.Scripts, Plugins: p.Plugins})
	slices.Sort(names)
	return names
}

func groupNames() []string {
	var names []string
	for _, g := range catalog.Groups() {
		names = append(names, string(g))
	}
	return names
}

type suggestion struct{ word, about string }

// complete returns the words that may follow others and begin with prefix.
func complete(app *cli.App, before []string, prefix string, names func() []string) []suggestion {
	l := &Line{app: app}
	if unknown, _ := l.read(before); unknown != "" {
		return nil
	}
	assigned, value, hasValue := strings.Cut(prefix, "=")
	f := flagNamed(slices.Concat(l.flags(), app.Flags), strings.TrimLeft(assigned, "-"))
	switch {
	case l.open != nil:
		kind, _ := described(l.open)
		return values(kind, "", prefix, names)
	case !l.dashes && isFlag(prefix) && hasValue && f != nil:
		kind, _ := described(f)
		return values(kind, assigned+"=", value, names)
	case !l.dashes && strings.HasPrefix(prefix, "-"):
		return l.flagsAfter(prefix)
	case l.group():
		return l.commandsAfter(prefix)
	}
	kinds := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(l.command().ArgsUsage))
	if len(kinds) == 0 {
		return nil
	}
	kind, repeats := strings.CutSuffix(kinds[min(len(l.args), len(kinds)-1)], "...")
	if len(l.args) >= len(kinds) && !repeats {
		return nil
	}
	return values(kind, "", prefix, names)
}

// flagsAfter returns the flags that begin so and are not on the line yet.
func (l *Line) flagsAfter(prefix string) (list []suggestion) {
	for _, g := range l.grouped() {
		for _, f := range g.flags {
			word := "--" + f.Names()[0]
			_, given := l.valueOf(f.Names()[0])
			if strings.HasPrefix(word, prefix) && (repeatable(f) || !given) {
				_, about := described(f)
				list = append(list, suggestion{word, about})
			}
		}
	}
	return list
}

func (l *Line) commandsAfter(prefix string) (list []suggestion) {
	for _, c := range visible(l.commands()) {
		if strings.HasPrefix(c.Name, prefix) {
			list = append(list, suggestion{c.Name, c.Usage})
		}
	}
	return list
}

// values returns the values of a kind that begin with prefix, each behind front.
func values(kind, front, prefix string, names func() []string) (list []suggestion) {
	var all []string
	switch {
	case strings.Contains(kind, "|"):
		for one := range strings.SplitSeq(kind, "|") {
			name, _, assigned := strings.Cut(one, "=")
			if assigned {
				name += "=" // the rest stands for a value
			}
			all = append(all, name)
		}
	case kind == ValueStrategy:
		all = names()
	case kind == ValueStrategies:
		all = append(names(), groupNames()...)
		if at := strings.LastIndexByte(prefix, ','); at >= 0 {
			front, prefix = front+prefix[:at+1], prefix[at+1:]
		}
	}
	for _, word := range all {
		if strings.HasPrefix(word, prefix) {
			list = append(list, suggestion{word: front + word})
		}
	}
	return list
}
