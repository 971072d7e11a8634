package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// small is a program with every kind of command and flag.
func small() *cli.App {
	return &cli.App{
		Name: "lab",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "color", Value: "auto", Usage: "`auto|never`: colours"},
			&cli.BoolFlag{Name: "quiet", Usage: "say nothing"},
		},
		Commands: []*cli.Command{
			{Name: "match", ArgsUsage: "STRATEGY STRATEGY", Flags: []cli.Flag{
				&cli.IntFlag{Name: "matches", Aliases: []string{"n"}, Usage: "matches to play"}, &cli.BoolFlag{Name: "long"},
			}},
			{Name: "player", Flags: []cli.Flag{
				&cli.StringFlag{Name: "strategy", Required: true, Usage: "`STRATEGY`: name, such as markov-2"}, &cli.IntFlag{Name: "retries"}, &cli.StringFlag{Name: "until", Usage: "`best|precision=X`: when to stop"},
				&cli.StringFlag{Name: "field", Usage: "`STRATEGIES`: opponents"},
			}},
			{Name: "league", Action: func(*cli.Context) error { return nil }, Flags: []cli.Flag{&cli.IntFlag{Name: "legs"}}, Subcommands: []*cli.Command{
				{Name: "suspend", ArgsUsage: "PLAYER", Flags: []cli.Flag{&cli.StringFlag{Name: "manager"}, &cli.IntFlag{Name: "legs"}}},
			}},
			{Name: "strategies", Subcommands: []*cli.Command{
				{Name: "show", ArgsUsage: "STRATEGY", Flags: []cli.Flag{&cli.StringFlag{Name: "format", Value: "table", Usage: "`table|json`: format"}}},
			}},
			{Name: "query", ArgsUsage: "standings|status [STRATEGY...]"},
			{Name: "quorum"},
			{Name: "hidden", Hidden: true},
		},
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"lab match":                              "lab match",
		"lab match a b":                          "lab match -- a b",
		"lab mat a b":                            "lab match -- a b",
		"lab strat sh x":                         "lab strategies show -- x",
		"lab match a b --matches 5":              "lab match --matches=5 -- a b",
		"lab match a --matches 5 b":              "lab match --matches=5 -- a b",
		"lab match a -n 5 b --long":              "lab match --matches=5 --long=true -- a b",
		"lab match a -n 5 b --matches=5 --long":  "lab match --matches=5 --matches=5 --long=true -- a b",
		"lab match a --matches=5 b":              "lab match --matches=5 -- a b",
		"lab match --long a b":                   "lab match --long=true -- a b",
		"lab match a -- --matches 5":             "lab match -- a --matches 5",
		"lab match -- -a --long":                 "lab match -- -a --long",
		"lab match -- --help":                    "lab match -- --help",
		"lab match a -":                          "lab match -- a -",
		"lab match a --matches -5":               "lab match --matches=-5 -- a",
		"lab --color never match a -n 1":         "lab --color=never match --matches=1 -- a",
		"lab match a --color never -n 1 --quiet": "lab --color=never --quiet=true match --matches=1 -- a",
		"lab strategies --quiet show x":          "lab --quiet=true strategies show -- x",
		"lab league":                             "lab league",
		"lab league --legs 3 --quiet":            "lab --quiet=true league --legs=3",
		"lab league suspend P01 --manager x":     "lab league suspend --manager=x -- P01",
		"lab league --legs 3 suspend P01":        "lab league suspend --legs=3 -- P01",
		"lab strategies show x --format json":    "lab strategies show --format=json -- x",
		"lab match --matches 5 --long -- a b c":  "lab match --matches=5 --long=true -- a b c",
	} {
		l, err := ReadLine(small(), strings.Fields(in), nil)
		if err != nil || l.Help || !slices.Equal(l.Args(), strings.Fields(want)) {
			t.Errorf("%s\n got  %s, %v\n want %s", in, strings.Join(l.Args(), " "), err, want)
		}
	}
}

// A request for help stands anywhere, outweighs wrong flags and needs no required ones.
func TestLineAsksForHelp(t *testing.T) {
	t.Parallel()
	for in, name := range map[string]string{
		"":                              "lab",
		"lab":                           "lab",
		"lab help":                      "lab",
		"lab help help":                 "lab",
		"lab --quiet":                   "lab",
		"lab match a b --help":          "lab match",
		"lab match -h a":                "lab match",
		"lab --help match":              "lab match",
		"lab help match a":              "lab match",
		"lab match --nonsense --help":   "lab match",
		"lab match --matches --help":    "lab match",
		"lab player -h":                 "lab player",
		"lab strategies":                "lab strategies",
		"lab league --help":             "lab league",
		"lab league help suspend":       "lab league suspend",
		"lab help strategies show":      "lab strategies show",
		"lab strategies help show":      "lab strategies show",
		"lab strategies show x --help":  "lab strategies show",
		"lab --color never help player": "lab player",
	} {
		l, err := ReadLine(small(), strings.Fields(in), nil)
		if err != nil || !l.Help || l.name() != name {
			t.Errorf("%q: help %v of %q, %v; want that of %q", in, l.Help, l.name(), err, name)
		}
	}
	for _, word := range []string{"--version", "version"} {
		if l, err := ReadLine(small(), []string{"lab", word}, nil); err != nil || !l.Version {
			t.Errorf("%s is not a request: %v", word, err)
		}
	}
}

func TestLineIsWrong(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"lab matches":                            `unknown command "matches"; did you mean lab match? lab --help lists the commands`,
		"lab qu":                                 `unknown command "qu"; did you mean lab query, or lab quorum? lab --help lists the commands`,
		"lab hidde":                              `unknown command "hidde"; lab --help lists the commands`,
		"lab show x":                             `unknown command "show"; did you mean lab strategies show? lab --help lists the commands`,
		"lab help xyzzy":                         `unknown command "xyzzy"; lab --help lists the commands`,
		"lab -- match":                           `unknown command "match"; did you mean lab match? lab --help lists the commands`,
		"lab strategies shwo":                    `unknown command "strategies shwo"; did you mean lab strategies show? lab strategies --help lists the commands`,
		"lab match a --mathces 5":                `match: unknown flag --mathces; did you mean --matches? lab match --help lists the flags`,
		"lab match a --qiet":                     `match: unknown flag --qiet; did you mean --quiet? lab match --help lists the flags`,
		"lab --matches 5 match":                  `unknown flag --matches; the flags of a command follow its name; lab --help lists the flags`,
		"lab match a -n 1 --matches=2":           `match: --matches is given twice, as "1" and "2"; give it once`,
		"lab --color never match --color auto a": `match: --color is given twice, as "never" and "auto"; give it once`,
		"lab player --field a,b --field c":       `player: --field is given twice, as "a,b" and "c"; give it once; separate strategies by commas: --field a,b,c`,
		"lab match a --matches":                  `match: --matches has no value; want --matches N: matches to play`,
		"lab player":                             `player: --strategy is missing; want --strategy STRATEGY: name, such as markov-2`,
		"lab league P01":                         `unknown command "league P01"; lab league --help lists the commands`,
		"lab league --manager x suspend P01":     `league: unknown flag --manager; the flags of a command follow its name; lab league --help lists the flags`,
		"lab player --version":                   `player: unknown flag --version; lab player --help lists the flags`,
		"lab player x --retries 3":               `player: --strategy is missing; want --strategy STRATEGY: name, such as markov-2`,
	} {
		_, err := ReadLine(small(), strings.Fields(in), nil)
		if err == nil {
			t.Errorf("%s: no error", in)
			continue
		}
		got := err.Error()
		if hint := HintOf(err); hint != "" {
			got += "; " + hint
		}
		if got != want {
			t.Errorf("%s\n got  %s\n want %s", in, got, want)
		}
	}
}

// Variables set flags that the line does not, in commands that have them.
func TestLineReadsVariables(t *testing.T) {
	t.Parallel()
	env := func(name string) string {
		return map[string]string{"STRATEGYLAB_COLOR": "never", "STRATEGYLAB_RETRIES": "many", "STRATEGYLAB_STRATEGY": "echo"}[name]
	}
	for in, want := range map[string]string{
		"lab match a":                         "lab --color=never match -- a",
		"lab match a --color auto":            "lab --color=auto match -- a",
		"lab player --strategy x":             "lab --color=never player --strategy=x --retries=many",
		"lab player --strategy x -h":          "lab player --strategy=x",
		"lab player --strategy a --retries=3": "lab --color=never player --strategy=a --retries=3",
	} {
		l, err := ReadLine(small(), strings.Fields(in), env)
		if err != nil || strings.Join(l.Args(), " ") != want {
			t.Errorf("%s\n got  %s, %v\n want %s", in, strings.Join(l.Args(), " "), err, want)
		}
		if wrong := l.Variables(Usagef("--retries is %q", "many")); slices.Contains(wrong, "STRATEGYLAB_RETRIES") != strings.Contains(want, "=many") {
			t.Errorf("%s: an error about --retries is put down to %q", in, wrong)
		}
	}
	if _, err := ReadLine(small(), []string{"lab", "player"}, env); err == nil {
		t.Error("a flag that says what one command does is read from the environment")
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	names := func() []string { return []string{"echo", "random", "role"} }
	for in, want := range map[string]string{
		"|":                               "match player league strategies query quorum",
		"|st":                             "strategies",
		"strategies|":                     "show",
		"help strategies|sh":              "show",
		"match|":                          "echo random role",
		"match echo|ro":                   "role",
		"match echo role|":                "",
		"match --matches 5|r":             "random role",
		"match --matches|":                "",
		"match|--":                        "--long --matches --color --help --quiet",
		"match --long|--l":                "",
		"match --color|":                  "auto never",
		"match|--color=n":                 "--color=never",
		"player --field|echo,r":           "echo,random echo,role",
		"player --until|p":                "precision=",
		"player|--until=b":                "--until=best",
		"player --field|m":                "mine",
		"player|--field=echo,s":           "--field=echo,scripts",
		"strategies show --format json|e": "echo",
		"strategies show --format=json|e": "echo",
		"query|s":                         "standings status",
		"query status echo role|e":        "echo",
		"nonsense|":                       "",
		"match --|--long":                 "",
		"--color|":                        "auto never",
		"--quiet|pl":                      "player",
	} {
		before, prefix, _ := strings.Cut(in, "|")
		var got []string
		for _, s := range complete(small(), strings.Fields(before), prefix, names) {
			got = append(got, s.word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is completed by %q, want %q", in, got, want)
		}
	}
}
