package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// Every command is in a category, and every flag is described by at most ten words,
// beside what is in parentheses. The library adds the default, so no text repeats it.
func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	aside := regexp.MustCompile(`\([^)]*\)`)
	var check func(commands []*cli.Command, path string)
	check = func(commands []*cli.Command, path string) {
		for _, c := range commands {
			name := path + c.Name
			if path == "" && c.Category == "" {
				t.Errorf("%s has no category", name)
			}
			if words := strings.Fields(c.Usage); len(words) == 0 || len(words) > 12 {
				t.Errorf("%s is described by %d words: %s", name, len(words), c.Usage)
			}
			for _, f := range c.Flags {
				doc, ok := f.(cli.DocGenerationFlag)
				if !ok {
					t.Fatalf("%s --%s has no text", name, f.Names()[0])
				}
				if strings.Contains(f.String(), "(default: false)") {
					t.Errorf("%s says that a switch is off by default: %s", name, f)
				}
				text := doc.GetUsage()
				if n := len(strings.Fields(aside.ReplaceAllString(text, ""))); n == 0 || n > 10 || strings.Contains(text, "default") {
					t.Errorf("%s --%s is described by %d words: %s", name, f.Names()[0], n, text)
				}
			}
			check(c.Subcommands, name+" ")
		}
	}
	check(newApp(&command.Process{}).Commands, "")
}
