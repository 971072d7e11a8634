package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Reorder moves the flags of a command line before its positional arguments,
// because cli/v2 reads everything after the first positional argument as
// positional: "show NAME --format json" would lose its flag silently.
// Everything after "--" stays positional. Flags that no command has stay where
// they are, so that cli reports them by name.
func Reorder(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	out := slices.Clone(args[:1])
	commands, flags := app.Commands, app.Flags
	rest := args[1:]
	for {
		global, others := splitLeading(rest, flags)
		out = append(out, global...)
		rest = others
		cmd := find(commands, rest)
		if cmd == nil {
			break
		}
		out = append(out, rest[0])
		rest, commands, flags = rest[1:], cmd.Subcommands, cmd.Flags
	}
	var leading, positional []string
	for len(rest) > 0 {
		if rest[0] == "--" {
			positional = append(positional, rest[1:]...)
			break
		}
		if isFlag(rest[0]) {
			n := flagLength(rest, flags)
			leading = append(leading, rest[:n]...)
			rest = rest[n:]
			continue
		}
		positional = append(positional, rest[0])
		rest = rest[1:]
	}
	out = append(out, leading...)
	if len(positional) > 0 {
		out = append(append(out, "--"), positional...)
	}
	return out
}

// splitLeading splits the leading flags from the other arguments.
func splitLeading(args []string, flags []cli.Flag) (leading, rest []string) {
	rest = args
	for len(rest) > 0 && rest[0] != "--" && isFlag(rest[0]) {
		n := flagLength(rest, flags)
		leading = append(leading, rest[:n]...)
		rest = rest[n:]
	}
	return leading, rest
}

func find(commands []*cli.Command, args []string) *cli.Command {
	if len(args) == 0 {
		return nil
	}
	for _, c := range commands {
		if c.HasName(args[0]) {
			return c
		}
	}
	return nil
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// flagLength returns how many arguments the flag at args[0] takes: two if its
// value is a separate argument.
func flagLength(args []string, flags []cli.Flag) int {
	name := strings.TrimLeft(args[0], "-")
	if strings.Contains(name, "=") || len(args) < 2 {
		return 1
	}
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		if v, ok := f.(cli.DocGenerationFlag); ok && v.TakesValue() {
			return 2
		}
	}
	return 1
}
