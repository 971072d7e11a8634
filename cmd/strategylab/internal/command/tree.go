package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Tidy makes all commands leave help and mistakes to [Line] and to the program.
func Tidy(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = OnUsageError
		c.HideHelp, c.HideHelpCommand = true, true
		Tidy(c.Subcommands)
	}
}

// OnUsageError says which value a flag does not take, and what it wants.
func OnUsageError(c *cli.Context, err error, _ bool) error {
	m := regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-([^:]+): `).FindStringSubmatch(err.Error())
	if m == nil {
		return WithHint(err, "%s --help lists the flags", c.Command.HelpName)
	}
	value, name := m[1], m[2]
	want := strings.TrimPrefix(err.Error(), m[0])
	switch flagNamed(slices.Concat(c.Command.Flags, c.App.Flags), name).(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		want = "want an integer"
	case *cli.Float64Flag:
		want = "want a number"
	case *cli.DurationFlag:
		want = "want a duration such as 30s"
	case *cli.BoolFlag:
		want = "want true or false"
	}
	return Usagef("--%s is %q, %s", name, value, want)
}

// Commands returns the commands that are about the program itself.
func Commands(p *Process, app *cli.App) []*cli.Command {
	return Categorize("Help",
		&cli.Command{
			Name: helpWord, ArgsUsage: "[COMMAND...]", Usage: "describe a command, as --help does",
			Action: func(*cli.Context) error { return nil }, // a Line asks for the help itself
		},
		completionCommand(p),
		completeCommand(p, app),
	)
}

func completionCommand(p *Process) *cli.Command {
	return &cli.Command{
		Name: "completion", ArgsUsage: shellNames("|"), Usage: "print a script that completes commands in a shell",
		Description: "The script asks this program for commands, flags, their values and names of strategies when you press Tab.\n" +
			"Load it where your shell starts:\n\n" +
			"  ~/.bashrc                     source <(strategylab completion bash)\n" +
			"  ~/.zshrc, after compinit      source <(strategylab completion zsh)\n" +
			"  ~/.config/fish/config.fish    strategylab completion fish | source\n" +
			"  $PROFILE in PowerShell        strategylab completion powershell | Out-String |\n" +
			"                                    Invoke-Expression",
		Action: Action(p, func(p *Process, c *cli.Context) error {
			text, err := completionScripts.ReadFile("completion/" + c.Args().First())
			if err != nil {
				return Usagef("completion: unknown shell %q, want one of %s", c.Args().First(), shellNames(", "))
			}
			_, err = p.Stdout.Write(text)
			return err
		}, "the shell"),
	}
}
