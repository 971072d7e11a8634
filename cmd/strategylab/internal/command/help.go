package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

const (
	widestHelp = 100 // columns of help that is not read on a narrower terminal
	widestFlag = 26  // columns of a flag that its description still stands beside
	narrowHelp = 80  // columns below which descriptions stand below their flags

	widestChoice = 40 // columns of the alternatives that stand as the value of a flag
)

// WriteHelp describes the command of the line, or the program, for a terminal of this many
// columns, 0 for none.
func (l *Line) WriteHelp(w io.Writer, columns int) error {
	h := &helpText{width: widestHelp}
	if columns > 0 {
		h.width = min(columns, widestHelp)
	}
	usage, about := l.app.Usage, l.app.Description
	if c := l.command(); c != nil {
		usage, about = c.Usage, c.Description
	}
	h.flow("", l.name()+" - "+usage, 2)
	h.heading("Usage")
	for _, line := range l.usage() {
		h.flow("  ", line, 4)
	}
	h.paragraphs(about)
	if l.group() {
		h.commands(l.commands())
	}
	for _, g := range l.grouped() {
		h.heading(g.name)
		if g.name == groupGlobal && len(l.path) > 0 {
			h.names(g.flags)
			continue
		}
		for _, f := range g.flags {
			h.flag(f)
		}
	}
	switch {
	case len(l.path) == 0:
		h.paragraphs(l.name() + " COMMAND --help describes a command and its flags.")
	case l.group():
		h.paragraphs(l.name() + " COMMAND --help describes a command, " + l.app.Name + " --help the global flags.")
	default:
		h.paragraphs(l.app.Name + " --help lists all commands and describes the global flags.")
	}
	_, err := io.WriteString(w, h.String())
	return err
}

// usage returns how the command of the line is written, with its required flags, and how
// the commands below it are.
func (l *Line) usage() (lines []string) {
	if l.group() {
		lines = []string{l.name() + " COMMAND [flags]"}
	}
	if !l.runs() {
		return lines
	}
	text := l.name()
	if args := l.command().ArgsUsage; args != "" {
		text += " " + args
	}
	for _, f := range l.flags() {
		if required, ok := f.(cli.RequiredFlag); ok && required.IsRequired() {
			value, _ := described(f)
			text += " --" + f.Names()[0] + " " + value
		}
	}
	return append([]string{text + " [flags]"}, lines...)
}

// described returns the name of a flag's value and its description. A usage may begin with
// the name of the value in backquotes and a colon.
func described(f cli.Flag) (value, text string) {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	text = doc.GetUsage()
	if name, rest, named := strings.Cut(text, "`: "); named {
		return name[1:], rest
	}
	if !doc.TakesValue() {
		return "", text
	}
	switch f.(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		return "N", text
	case *cli.Float64Flag:
		return "NUMBER", text
	case *cli.DurationFlag:
		return "DURATION", text
	}
	return "TEXT", text
}

// defaultOf returns the default of a flag in words; empty for none. A zero is a default
// only if the flag says so in its DefaultText.
func defaultOf(f cli.Flag) string {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	text := strings.Trim(doc.GetDefaultText(), `"`)
	if slices.Contains([]string{"0", "0s", "false", "[]"}, text) {
		if i, isInt := f.(*cli.IntFlag); !isInt || i.DefaultText == "" {
			return ""
		}
	}
	return text
}

// unbroken is a space at which no line ends.
const unbroken = "\u00a0"

// helpText is a help text in the making.
type helpText struct {
	strings.Builder
	width int
}

func (h *helpText) heading(name string) { fmt.Fprintf(h, "\n%s:\n", name) }

// paragraphs prints text between empty lines. Lines that begin with a space stay as they
// are.
func (h *helpText) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		fmt.Fprintln(h)
		if strings.HasPrefix(paragraph, " ") {
			fmt.Fprintln(h, paragraph)
			continue
		}
		h.flow("", strings.Join(strings.Fields(paragraph), " "), 0)
	}
}

func (h *helpText) names(flags []cli.Flag) {
	var all []string
	for _, f := range flags {
		all = append(all, "--"+f.Names()[0])
	}
	h.flow("  ", strings.Join(all, " "), 2)
}

// flow prints a text beside its head, wrapped below itself.
func (h *helpText) flow(head, text string, indent int) {
	pad := strings.Repeat(" ", indent)
	line := head
	for i, word := range strings.Split(text, " ") {
		word = strings.ReplaceAll(word, unbroken, " ")
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > h.width {
			fmt.Fprintln(h, strings.TrimRight(line, " "))
			line = pad + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(h, strings.TrimRight(line, " "))
}

// commands lists commands by category, in their order.
func (h *helpText) commands(list []*cli.Command) {
	list = visible(list)
	widest := 0
	var categories []string
	for _, c := range list {
		widest = max(widest, len(c.Name))
		if !slices.Contains(categories, c.Category) {
			categories = append(categories, c.Category)
		}
	}
	for _, category := range categories {
		if category == "" {
			h.heading("Commands")
		} else {
			h.heading(category)
		}
		for _, c := range list {
			if c.Category == category {
				h.flow(fmt.Sprintf("  %-*s  ", widest, c.Name), c.Usage, widest+4)
			}
		}
	}
}

// flag prints a flag with its value, description, default and variable.
func (h *helpText) flag(f cli.Flag) {
	value, text := described(f)
	if len(value) > widestChoice {
		value, text = "NAME", text+", one of "+strings.ReplaceAll(value, "|", ", ")
	}
	head := "  --" + strings.Join(f.Names(), ", -")
	if value != "" {
		head += " " + value
	}
	if d := defaultOf(f); d != "" {
		text += " (default:" + unbroken + d + ")"
	}
	if v := Variable(f.Names()[0]); v != "" {
		text += " [$" + v + "]"
	}
	indent := widestFlag + 2
	if h.width < narrowHelp {
		indent = 6
	}
	if len(head)+2 > indent {
		fmt.Fprintln(h, head)
		head = ""
	}
	h.flow(fmt.Sprintf("%-*s", indent, head), text, indent)
}

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
	case "token":
		return "STRATEGYLAB_MCP_TOKEN"
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
