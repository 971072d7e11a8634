package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// Every command line in the documentation names a command, and flags that the
// command has.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	app := newApp(&command.Process{})
	var pages []string
	for _, glob := range []string{"*.md", "docs/*.md", "docs/*/*.md", "scripts/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", glob))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	line := regexp.MustCompile("(?m)^ *(?:\\$ |go run \\./cmd/)?strategylab ([a-z].*)$|`(?:go run \\./cmd/)?strategylab ([a-z][^`]*)`")
	quoted := regexp.MustCompile(`'[^']*'`) // may be the command line of another program
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		for _, m := range line.FindAllStringSubmatch(joined, -1) {
			words, _, _ := strings.Cut(m[1]+m[2], "  ") // a description follows
			fields := strings.Fields(quoted.ReplaceAllString(words, "TEXT"))
			if strings.ContainsAny(words, "|,") && !strings.Contains(words, "--") || fields[0] == "is" {
				continue // a list of commands, or a sentence
			}
			checked++
			callable(t, app, page, fields)
		}
	}
	if checked < 80 {
		t.Errorf("the documentation has only %d command lines: the test does not read it", checked)
	}
}

// callable checks that words call a command, with flags that it has.
func callable(t *testing.T, app *cli.App, where string, words []string) {
	t.Helper()
	line, commands, cmd := strings.Join(words, " "), app.Commands, (*cli.Command)(nil)
	for len(words) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(words[0]) })
		if i < 0 {
			break
		}
		cmd, commands, words = commands[i], commands[i].Subcommands, words[1:]
	}
	if cmd == nil || len(commands) > 0 && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		if words[0] != "help" {
			t.Errorf("%s: there is no command %q", where, line)
		}
		return
	}
	for _, word := range words {
		flag, ok := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(strings.TrimRight(flag, ".,;:)"), "=")
		if !ok || flag == "" || flag == "help" {
			continue
		}
		if !slices.ContainsFunc(slices.Concat(cmd.Flags, app.Flags), func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) }) {
			t.Errorf("%s: %s has no flag --%s: strategylab %s", where, cmd.Name, flag, line)
		}
	}
}
