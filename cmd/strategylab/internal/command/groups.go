package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Headings of flags in the help.
const (
	groupMain     = "Flags"
	groupOutput   = "Output"
	groupAdvanced = "Advanced"
	groupGlobal   = "Global, before or after the command"
)

// group returns the heading of a flag in the help of commands. It goes by the name,
// because a flag means the same in every command; what is not listed here is among the
// first.
func group(flag string) string {
	switch flag {
	case "all", "details", "format", "out", "verbose", "audit", "bodies", "no-report", "plots", "record":
		return groupOutput
	case "draw", "id", "in-process", "instructions", "isolate", "max-runs", "tls-cert", "tls-key", "time-limit", "timeout",
		"validation-log", "validation-log-seed", "validation-log-size", "workers", "allow-host", "allow-origin", "at-once", "both-sides",
		"busy", "choice-timeout", "concurrent", "dialect", "draws", "envelope", "guarantee", "idle-exit", "join-timeout", "keep", "margin",
		"max-per-address", "max-players", "max-referees", "max-time", "mcp", "no-tls", "probe", "public-url", "retries", "retry-delay",
		"shard", "sprt", "stdio", "transport", "validation", "cassette", "deadline", "offline", "restart",
		"cluster-creds", "cluster-ca", "cluster-cert", "cluster-key", "cluster-prefix", "max-code", "verify", "wait":
		return groupAdvanced
	}
	return groupMain
}

// Variable returns the environment variable that sets a flag in every command that has
// it; empty for none. Flags that say what a single command does have none.
func Variable(flag string) string {
	switch flag {
	case "admin-token", "admin-token-file", "cluster", "cluster-creds", "cluster-ca", "cluster-cert", "cluster-key", "cluster-prefix", "color",
		"instructions", "isolate", "league-id", "manager", "plugins", "quiet", "scripts", "time-limit", "timeout", "validation-log",
		"validation-log-size", "verbose", "workers", "choice-timeout", "envelope", "join-timeout", "mcp", "retries", "retry-delay", "validation":
		return "STRATEGYLAB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	}
	return ""
}

// flagGroup is a heading with its flags in order.
type flagGroup struct {
	name  string
	flags []cli.Flag
}

// grouped returns the visible flags of a command and of the program under their headings.
func (l *Line) grouped() []flagGroup {
	groups := []flagGroup{{name: groupMain}, {name: groupOutput}, {name: groupAdvanced}, {name: groupGlobal}}
	for _, f := range l.flags() {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.name == group(f.Names()[0]) })
		groups[i].flags = append(groups[i].flags, f)
	}
	groups[len(groups)-1].flags = slices.Concat(l.app.Flags, l.requests())
	for _, g := range groups {
		slices.SortFunc(g.flags, func(a, b cli.Flag) int { return strings.Compare(a.Names()[0], b.Names()[0]) })
	}
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return len(g.flags) == 0 })
}

// requests are the flags that ask for something else than the command.
func (l *Line) requests() []cli.Flag {
	help := &cli.BoolFlag{Name: helpWord, Aliases: []string{"h"}, Usage: "describe the command and its flags"}
	if len(l.path) > 0 {
		return []cli.Flag{help}
	}
	return []cli.Flag{help, &cli.BoolFlag{Name: "version", Usage: "print version, revision and Go version"}}
}
