package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// eachCommand calls f for every visible command with the words that lead to it.
func eachCommand(f func(path []string, c *cli.Command)) {
	var walk func(commands []*cli.Command, path []string)
	walk = func(commands []*cli.Command, path []string) {
		for _, c := range commands {
			if own := append(slices.Clip(path), c.Name); !c.Hidden {
				f(own, c)
				walk(c.Subcommands, own)
			}
		}
	}
	walk(newApp(&command.Process{}).Commands, nil)
}

// typed runs a command line on a terminal of so many columns; 0 for none.
func typed(t *testing.T, columns int, words ...string) (stdout, stderr string, code int) {
	t.Helper()
	code, stdout, stderr = inside(t.Context(), command.Process{Out: command.Terminal{Columns: columns}}, words...)
	return stdout, stderr, code
}

// Every command is in a category, and every flag is described by at most ten words,
// beside what is in parentheses. The help adds the default, so no text repeats it.
func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	aside := regexp.MustCompile(`\([^)]*\)|^` + "`[^`]*`: ")
	app := newApp(&command.Process{})
	check := func(name string, flags []cli.Flag) {
		for _, f := range flags {
			text := f.(cli.DocGenerationFlag).GetUsage()
			if n := len(strings.Fields(aside.ReplaceAllString(text, ""))); n == 0 || n > 10 || strings.Contains(text, "default") {
				t.Errorf("%s --%s is described by %d words: %s", name, f.Names()[0], n, text)
			}
			if required, ok := f.(cli.RequiredFlag); ok && required.IsRequired() && !strings.Contains(text, "such as") {
				t.Errorf("%s --%s is required, and its text gives no example: %s", name, f.Names()[0], text)
			}
		}
	}
	check("strategylab", app.Flags)
	eachCommand(func(path []string, c *cli.Command) {
		name := strings.Join(path, " ")
		if len(path) == 1 && c.Category == "" {
			t.Errorf("%s has no category", name)
		}
		if words := strings.Fields(c.Usage); len(words) == 0 || len(words) > 12 {
			t.Errorf("%s is described by %d words: %s", name, len(words), c.Usage)
		}
		check(name, c.Flags)
		for _, f := range c.Flags {
			if slices.ContainsFunc(app.Flags, func(g cli.Flag) bool { return slices.Contains(g.Names(), f.Names()[0]) }) {
				t.Errorf("%s hides the global flag --%s", name, f.Names()[0])
			}
		}
	})
}

// All ways to ask for help lead to the same text, which fits its terminal and names
// every flag once.
func TestHelpEverywhere(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	eachCommand(func(path []string, c *cli.Command) {
		name := strings.Join(path, " ")
		want, stderr, code := typed(t, 0, append([]string{"help"}, path...)...)
		if code != exitOK || stderr != "" {
			t.Errorf("help %s: exit code %d, %s", name, code, stderr)
		}
		ways := [][]string{append(slices.Clip(path), "-h"), append([]string{"--help"}, path...)}
		if len(c.Subcommands) == 0 {
			ways = append(ways, append(slices.Clip(path), "one", "two", "--nonsense", "--help"))
		} else {
			ways = append(ways, append(slices.Clip(path), "help"))
		}
		if c.Action == nil {
			ways = append(ways, path)
		}
		for _, way := range ways {
			if name == "help" {
				break // its help is that of the program
			}
			if got, stderr, code := typed(t, 0, way...); code != exitOK || stderr != "" || got != want {
				t.Errorf("%s: exit code %d, %s\ngot:\n%s\nwant:\n%s", strings.Join(way, " "), code, stderr, got, want)
			}
		}
		if name != "help" && !strings.Contains(want, "\nUsage:\n  strategylab "+name+" ") {
			t.Errorf("the usage line of %s names another command:\n%s", name, want)
		}
		for _, f := range c.Flags {
			if n := strings.Count(want, "\n  --"+f.Names()[0]+" ") + strings.Count(want, "\n  --"+f.Names()[0]+"\n"); n != 1 {
				t.Errorf("the help of %s lists --%s %d times:\n%s", name, f.Names()[0], n, want)
			}
		}
		for _, columns := range []int{60, 80, 160} {
			text, _, _ := typed(t, columns, append([]string{"help"}, path...)...)
			for line := range strings.Lines(text) {
				if utf8.RuneCountInString(line) > columns+1 && !strings.Contains(line, "completion ") {
					t.Errorf("help %s in %d columns: %q", name, columns, line)
				}
			}
		}
	})
}

// The documentation names every flag that a variable sets, and no other flag has one.
func TestVariablesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Flags and variables for all commands\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	used := map[string]bool{}
	check := func(flags []cli.Flag) {
		for _, f := range flags {
			name := f.Names()[0]
			if used[name] = true; named[name] != (command.Variable(name) != "") {
				t.Errorf("docs/commands.md names --%s among those that variables set: %v; its variable is %q", name, named[name], command.Variable(name))
			}
		}
	}
	check(newApp(&command.Process{}).Flags)
	eachCommand(func(_ []string, c *cli.Command) { check(c.Flags) })
	for name := range named {
		if !used[name] {
			t.Errorf("docs/commands.md names --%s, which no command has", name)
		}
	}
}

// The help of the program, of a group and of a command as they look.
func TestHelpAsItLooks(t *testing.T) {
	t.Parallel()
	for file, words := range map[string][]string{"help.txt": nil, "help_strategies.txt": {"strategies"}, "help_query.txt": {"query", "--help"}} {
		got, _, _ := typed(t, 80, words...)
		golden := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the help differs from %s (-update rewrites it):\n%s", golden, got)
		}
	}
}

// Every command line in a string of the program names a command that exists.
func TestHintsNameCommandsThatExist(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	known, groups := map[string]bool{"COMMAND": true}, map[string]bool{}
	eachCommand(func(path []string, c *cli.Command) {
		known[strings.Join(path, " ")] = true
		groups[strings.Join(path, " ")] = len(c.Subcommands) > 0
	})
	line := regexp.MustCompile(`\bstrategylab ([a-z-]+)( [a-z-]+)?`)
	checked := 0
	look := func(file, text string) {
		for _, m := range line.FindAllStringSubmatch(text, -1) {
			if m[1][0] == '-' || slices.Contains([]string{"mirror", "that"}, m[1]) {
				continue // a flag, or not a command
			}
			checked++
			if !known[m[1]] || groups[m[1]] && m[2] != "" && !known[m[1]+m[2]] {
				t.Errorf("%s: there is no command %q: %s", file, m[1]+m[2], text)
			}
		}
	}
	for _, folder := range []string{"cmd", "host", "analysis", "experiments", "plugins", "strategies"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := os.ReadFile(file)
			var words scanner.Scanner
			words.Init(token.NewFileSet().AddFile(file, -1, len(source)), source, nil, 0)
			for tok := token.ILLEGAL; tok != token.EOF; {
				var text string
				if _, tok, text = words.Scan(); tok == token.STRING {
					look(file, text)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 20 {
		t.Errorf("only %d command lines found: the test does not read them", checked)
	}
}
