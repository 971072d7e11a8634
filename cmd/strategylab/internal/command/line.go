package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies/script"
)

// Line is a command line, read along the tree of commands. cli/v2 reads everything
// after the first positional argument as positional, global flags only before the
// command, and help only as the first word; Line knows all of them anywhere.
type Line struct {
	Help    bool // the user asks for the help of the command
	Version bool // the user asks for the version of the program

	app     *cli.App
	program []string       // the name of the program, if there is one
	path    []*cli.Command // to the command; empty for the program itself
	set     []setting      // flags, in the order of the line
	args    []string       // the positional arguments
	dashes  bool           // all further words are positional
	open    cli.Flag       // the last word, if its value is missing
}

// setting is a value of a flag; "true" for a flag without one.
type setting struct {
	flag     cli.Flag
	value    string
	global   bool // the flag is the program's, not the command's
	variable bool // the environment sets it
}

// ReadLine reads a command line. env returns the value of a variable, empty without one;
// it sets the flags of [Variable] that the line does not. Mistakes that need no command to
// run are errors: a command or flag that does not exist, a flag without its value, a
// required flag that is missing.
func ReadLine(app *cli.App, args []string, env func(string) string) (*Line, error) {
	l := &Line{app: app, program: args[:min(1, len(args))]}
	unknown, wrong := l.read(args[len(l.program):])
	switch {
	case unknown != "":
		return l, cmp.Or(wrong, l.unknownCommand(unknown))
	case l.Help || l.Version:
		return l, nil
	case wrong != nil:
		return l, wrong
	case l.group() && len(l.args) > 0:
		return l, l.unknownCommand(l.args[0])
	case !l.runs():
		l.Help = true
		return l, nil
	}
	l.readEnvironment(env)
	return l, l.checkRequired()
}

// read reads words up to a command that does not exist, which it returns. wrong is about
// the first wrong flag; a request for help outweighs it.
func (l *Line) read(rest []string) (unknown string, wrong error) {
	for len(rest) > 0 {
		word, n := rest[0], 1
		var err error
		switch {
		case word == "--":
			l.args, l.dashes, n = append(l.args, rest[1:]...), true, len(rest)
		case isFlag(word):
			n, err = l.flag(rest)
		case !l.group():
			l.args = append(l.args, word)
		case word == helpWord:
			l.Help = true
		case word == versionWord && len(l.path) == 0:
			l.Version = true
		default:
			c := find(l.commands(), word)
			if c == nil {
				return word, wrong
			}
			l.path = append(l.path, c)
			err = l.misplaced()
		}
		if wrong == nil {
			wrong = err
		}
		rest = rest[n:]
	}
	return "", wrong
}

// helpWord is the command that describes others, versionWord that which names the build.
const (
	helpWord    = "help"
	versionWord = "version"
)

// Args returns the line in the order that cli/v2 reads.
func (l *Line) Args() []string {
	out := slices.Clone(l.program)
	add := func(global bool) {
		for _, s := range l.set {
			if s.global == global {
				out = append(out, "--"+s.flag.Names()[0]+"="+s.value)
			}
		}
	}
	add(true)
	for _, c := range l.path {
		out = append(out, c.Name)
	}
	add(false)
	if len(l.args) > 0 {
		out = append(append(out, "--"), l.args...)
	}
	return out
}

// Variables returns the variables that set flags which an error names.
func (l *Line) Variables(err error) []string {
	var list []string
	for _, s := range l.set {
		if name := s.flag.Names()[0]; s.variable && strings.Contains(err.Error()+" ", "--"+name+" ") {
			list = append(list, Variable(name))
		}
	}
	return list
}

func (l *Line) command() *cli.Command {
	if len(l.path) == 0 {
		return nil
	}
	return l.path[len(l.path)-1]
}

func (l *Line) commands() []*cli.Command {
	if c := l.command(); c != nil {
		return c.Subcommands
	}
	return l.app.Commands
}

// group reports whether a command can follow.
func (l *Line) group() bool { return len(l.path) == 0 || len(l.commands()) > 0 }

// runs reports whether the line is complete without a further command.
func (l *Line) runs() bool { return l.command() != nil && (!l.group() || l.command().Action != nil) }

// flags returns the flags of the command of the line, without those of the program.
func (l *Line) flags() []cli.Flag {
	if c := l.command(); c != nil {
		return c.Flags
	}
	return nil
}

// name returns the words that lead to the command of the line.
func (l *Line) name() string {
	words := []string{l.app.Name}
	for _, c := range l.path {
		words = append(words, c.Name)
	}
	return strings.Join(words, " ")
}

// flag takes the flag at the start of args and returns how many of them it is: two if its
// value is the second.
func (l *Line) flag(args []string) (n int, err error) {
	name, value, assigned := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	switch {
	case isHelp(args[0]):
		l.Help = true
		return 1, nil
	case name == versionWord && len(l.path) == 0:
		l.Version = true
		return 1, nil
	}
	f, n := flagNamed(l.flags(), name), 1
	global := f == nil
	if global {
		f = flagNamed(l.app.Flags, name)
	}
	switch {
	case f == nil:
		return 1, l.unknownFlag(name)
	case assigned:
	case !takesValue(f):
		value = "true"
	case len(args) < 2:
		l.open = f
		fallthrough
	case isHelp(args[1]):
		return 1, l.mistake(fmt.Sprintf("--%s has no value; want %s", name, wanted(f)))
	default:
		value, n = args[1], 2
	}
	before, again := l.valueOf(f.Names()[0])
	l.set = append(l.set, setting{flag: f, value: value, global: global})
	if again && value != before && !repeatable(f) {
		err = l.twice(f, before, value)
	}
	return n, err
}

// twice is the error for a flag with two values, of which one would be dropped.
func (l *Line) twice(f cli.Flag, before, now string) error {
	err := l.mistake(fmt.Sprintf("--%s is given twice, as %q and %q; give it once", f.Names()[0], before, now))
	if f.Names()[0] != "field" {
		return err
	}
	return &lab.InputError{Err: err, Hint: fmt.Sprintf("separate strategies by commas: --field %s,%s", before, now)}
}

// repeatable reports whether a flag collects its values.
func repeatable(f cli.Flag) bool {
	_, collects := f.(*cli.GenericFlag)
	return collects
}

// valueOf returns the last value that the line gives to a flag.
func (l *Line) valueOf(flag string) (value string, given bool) {
	for _, s := range l.set {
		if s.flag.Names()[0] == flag {
			value, given = s.value, true
		}
	}
	return value, given
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

func isHelp(arg string) bool { return slices.Contains([]string{"--help", "-help", "-h"}, arg) }

// find returns the command of a name, or the only one that is not hidden and begins with it.
func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	if begin := beginning(commands, name); len(begin) == 1 {
		return begin[0]
	}
	return nil
}

// beginning returns the commands that are not hidden and begin with a prefix.
func beginning(commands []*cli.Command, prefix string) []*cli.Command {
	return slices.DeleteFunc(visible(commands), func(c *cli.Command) bool { return !strings.HasPrefix(c.Name, prefix) })
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

func (l *Line) mistake(text string) error {
	if l.command() == nil {
		return Usagef("%s", text)
	}
	return Usagef("%s: %s", strings.TrimPrefix(l.name(), l.app.Name+" "), text)
}

// checkRequired names a required flag that is missing, in one line.
func (l *Line) checkRequired() error {
	for _, f := range l.flags() {
		required, ok := f.(cli.RequiredFlag)
		if _, given := l.valueOf(f.Names()[0]); ok && required.IsRequired() && !given {
			return l.mistake(fmt.Sprintf("--%s is missing; want %s", f.Names()[0], wanted(f)))
		}
	}
	return nil
}

// misplaced returns an error if a flag before the last word of the path is not one of
// that command.
func (l *Line) misplaced() error {
	for _, s := range l.set {
		if name := s.flag.Names()[0]; !s.global && flagNamed(l.flags(), name) == nil {
			return l.unknownFlag(name)
		}
	}
	return nil
}

// wanted says how a flag is written and what it is.
func wanted(f cli.Flag) string {
	value, text := described(f)
	return fmt.Sprintf("--%s %s: %s", f.Names()[0], value, text)
}

// readEnvironment adds the flags that variables set and the line does not.
func (l *Line) readEnvironment(env func(string) string) {
	if env == nil {
		return
	}
	for i, f := range slices.Concat(l.app.Flags, l.flags()) {
		name := f.Names()[0]
		v := Variable(name)
		_, given := l.valueOf(name)
		if _, file := l.valueOf("admin-token-file"); v == "" || given || name == "admin-token" && file {
			continue
		}
		if value := env(v); value != "" {
			l.set = append(l.set, setting{flag: f, value: value, global: i < len(l.app.Flags), variable: true})
		}
	}
}

func (l *Line) unknownCommand(word string) error {
	err := fmt.Errorf("unknown command %q", strings.TrimPrefix(l.name()+" "+word, l.app.Name+" "))
	var names, elsewhere []string
	for _, c := range visible(l.commands()) {
		names = append(names, c.Name)
		for _, sub := range c.Subcommands {
			if sub.HasName(word) {
				elsewhere = append(elsewhere, l.name()+" "+c.Name+" "+sub.Name)
			}
		}
	}
	near := names[:0:0]
	for _, c := range beginning(l.commands(), word) {
		near = append(near, c.Name)
	}
	if nearest := script.Nearest(word, names); len(near) == 0 && nearest != "" {
		near = []string{nearest}
	}
	if len(elsewhere) == 0 {
		for _, name := range near {
			elsewhere = append(elsewhere, l.name()+" "+name)
		}
	}
	hint := l.name() + " --help lists the commands"
	if len(elsewhere) > 0 {
		hint = "did you mean " + strings.Join(elsewhere, ", or ") + "? " + hint
	}
	return &lab.InputError{Err: err, Hint: hint}
}

func (l *Line) unknownFlag(name string) error {
	var names []string
	for _, f := range slices.Concat(l.flags(), l.app.Flags) {
		names = append(names, f.Names()...)
	}
	hint := l.name() + " --help lists the flags"
	switch near := script.Nearest(name, names); {
	case name == "png" && slices.Contains(names, "plots"):
		hint = "use --plots, which writes the plots as SVG files; a browser or rsvg-convert turns them into PNG"
	case near != "":
		hint = "did you mean --" + near + "? " + hint
	case l.group():
		hint = "the flags of a command follow its name; " + hint
	}
	return &lab.InputError{Err: l.mistake("unknown flag --" + name), Hint: hint}
}

func visible(commands []*cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(commands), func(c *cli.Command) bool { return c.Hidden })
}
