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
	case FlagAll, FlagDetails, FlagFormat, FlagOut, FlagVerbose,
		"audit", "bodies", "no-report", "plots", "record":
		return groupOutput
	case FlagDraw, FlagID, FlagInProcess, FlagInstructions, FlagIsolate, FlagMaxRuns, FlagTLSCert, FlagTLSKey, FlagTimeLimit, FlagTimeout,
		FlagValidationLog, FlagValidationLogSeed, FlagValidationLogSize, FlagWorkers,
		FlagAllowHost, FlagAllowOrigin, "at-once", "both-sides", "busy", "choice-timeout", "concurrent", "dialect", "draws", "envelope", "guarantee", "idle-exit",
		"join-timeout", "keep", "margin", "max-per-address", "max-players", "max-referees", "max-time", "mcp", "no-tls", "probe", "public-url", "retries", "retry-delay", "shard", "sprt",
		"stdio", "transport", "validation", FlagCassette, FlagDeadline, FlagOffline, FlagRestart, FlagClusterCreds, FlagClusterCA, FlagClusterCert, FlagClusterKey, FlagClusterPrefix, "max-code", "verify", "wait":
		return groupAdvanced
	}
	return groupMain
}

// Variable returns the environment variable that sets a flag in every command that has
// it; empty for none. Flags that say what a single command does have none.
func Variable(flag string) string {
	switch flag {
	case FlagAdminToken, FlagAdminFile, FlagCluster, FlagClusterCreds, FlagClusterCA, FlagClusterCert, FlagClusterKey, FlagClusterPrefix, FlagColor, FlagInstructions, FlagIsolate, FlagLeagueID, FlagManager, FlagPlugins, FlagQuiet,
		FlagScripts, FlagTimeLimit, FlagTimeout, FlagValidationLog, FlagValidationLogSize, FlagVerbose, FlagWorkers,
		"choice-timeout", "envelope", "join-timeout", "mcp", "retries", "retry-delay", "validation":
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
