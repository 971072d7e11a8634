package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestReorder(t *testing.T) {
	t.Parallel()
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "log-level"}},
		Commands: []*cli.Command{
			{Name: "match", Flags: []cli.Flag{&cli.IntFlag{Name: "matches", Aliases: []string{"n"}}, &cli.BoolFlag{Name: "quiet"}}},
			{Name: "strategies", Subcommands: []*cli.Command{
				{Name: "show", Flags: []cli.Flag{&cli.StringFlag{Name: "format"}}},
			}},
		},
	}
	for in, want := range map[string]string{
		"lab":                                    "lab",
		"lab match":                              "lab match",
		"lab match a b":                          "lab match -- a b",
		"lab match a b --matches 5":              "lab match --matches 5 -- a b",
		"lab match a --matches 5 b":              "lab match --matches 5 -- a b",
		"lab match a -n 5 b --quiet":             "lab match -n 5 --quiet -- a b",
		"lab match a --matches=5 b":              "lab match --matches=5 -- a b",
		"lab match --quiet a b":                  "lab match --quiet -- a b",
		"lab match a --unknown b":                "lab match --unknown -- a b",
		"lab match a -- --matches 5":             "lab match -- a --matches 5",
		"lab match -- -a --quiet":                "lab match -- -a --quiet",
		"lab match a -":                          "lab match -- a -",
		"lab match a --matches":                  "lab match --matches -- a",
		"lab match a --matches -5":               "lab match --matches -5 -- a",
		"lab strategies show x --format json":    "lab strategies show --format json -- x",
		"lab --log-level debug match a -n 1":     "lab --log-level debug match -n 1 -- a",
		"lab strategies show --format json x y":  "lab strategies show --format json -- x y",
		"lab nonsense --matches 5":               "lab --matches -- nonsense 5",
		"lab strategies nonsense --format json":  "lab strategies --format -- nonsense json",
		"lab match a --help":                     "lab match --help -- a",
		"lab match --matches 5 --quiet -- a b c": "lab match --matches 5 --quiet -- a b c",
	} {
		got := Reorder(app, strings.Fields(in))
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s\n got  %s\n want %s", in, strings.Join(got, " "), want)
		}
	}
	if got := Reorder(app, nil); got != nil {
		t.Errorf("no arguments became %q", got)
	}
}

// cli/v2 must read what Reorder writes: both orders mean the same.
func TestReorderIsWhatCliReads(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"lab match a b -n 5 --quiet", "lab match -n 5 --quiet a b", "lab match a --quiet -n=5 b"} {
		var seen string
		app := &cli.App{Commands: []*cli.Command{{
			Name:  "match",
			Flags: []cli.Flag{&cli.IntFlag{Name: "matches", Aliases: []string{"n"}}, &cli.BoolFlag{Name: "quiet"}},
			Action: func(c *cli.Context) error {
				if c.Int("matches") == 5 && c.Bool("quiet") {
					seen = strings.Join(c.Args().Slice(), " ")
				}
				return nil
			},
		}}}
		if err := app.Run(Reorder(app, strings.Fields(line))); err != nil || seen != "a b" {
			t.Errorf("%s: arguments %q, %v; want \"a b\" with both flags", line, seen, err)
		}
	}
}
