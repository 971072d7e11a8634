package command

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Flags that several commands have. A flag means the same in each of them.
const (
	FlagAdminToken = "admin-token"
	FlagAll        = "all"
	FlagData       = "data-dir"
	FlagDraw       = "draw"
	FlagField      = "field"
	FlagFormat     = "format"
	FlagID         = "id"
	FlagLeagueID   = "league-id"
	FlagLegs       = "legs"
	FlagLevel      = "level"
	FlagListen     = "listen"
	FlagManager    = "manager"
	FlagMaxRuns    = "max-runs"
	FlagName       = "name"
	FlagOut        = "out"
	FlagPlayers    = "players"
	FlagQuiet      = "quiet"
	FlagRuns       = "runs"
	FlagSeed       = "seed"
	FlagStrategy   = "strategy"
	FlagTimeout    = "timeout"
	FlagTLSCert    = "tls-cert"
	FlagTLSKey     = "tls-key"
	FlagVerbose    = "verbose"
	FlagWorkers    = "workers"
)

// SeedFlag is the random seed. [Seed] reads it.
func SeedFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagSeed, Usage: "random seed", DefaultText: "random, and printed"}
}

// Seed returns the random seed: the given one, or a new one.
func Seed(p *Process, c *cli.Context) (uint64, error) {
	text := c.String(FlagSeed)
	if text == "" {
		return p.Lab.Seed()
	}
	s, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, Usagef("--%s is %q, want an integer from 0 to 2^64-1", FlagSeed, text)
	}
	return s, nil
}

// FormatFlag is the output format, by default a table.
func FormatFlag(formats string) cli.Flag {
	return &cli.StringFlag{Name: FlagFormat, Value: "table", Usage: "output format: " + formats}
}

// QuietFlag suppresses everything but output and errors.
func QuietFlag() cli.Flag {
	return &cli.BoolFlag{Name: FlagQuiet, Usage: "suppress progress and notes"}
}

// DrawFlag is the distribution of the drawn number. [Draw] reads it.
func DrawFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagDraw, Value: game.FairDraw().String(), Usage: "distribution of drawn numbers: uniform:1-10 or weights:1=3,2=1"}
}

// Draw returns the distribution of the drawn number, by default the fair one.
func Draw(c *cli.Context) (game.Draw, error) {
	if c.String(FlagDraw) == "" {
		return game.FairDraw(), nil
	}
	draw, err := game.ParseDraw(c.String(FlagDraw))
	if err != nil {
		return draw, Usagef("--%s: %w", FlagDraw, err)
	}
	return draw, nil
}

// LevelFlag is the confidence level of intervals. [Level] reads it.
func LevelFlag() cli.Flag {
	return &cli.Float64Flag{Name: FlagLevel, Value: analysis.DefaultLevel, Usage: "confidence level, 0.5 to 0.9999"}
}

// Level returns the confidence level.
func Level(c *cli.Context) (float64, error) {
	l := c.Float64(FlagLevel)
	if !(l >= 0.5 && l <= 0.9999) {
		return 0, Usagef("--%s is %v, want 0.5 to 0.9999", FlagLevel, l)
	}
	return l, nil
}

// OneOf returns the value of a flag, which must be one of values.
func OneOf(c *cli.Context, flag string, values ...string) (string, error) {
	for _, v := range values {
		if c.String(flag) == v {
			return v, nil
		}
	}
	return "", Usagef("--%s is %q, want one of %s", flag, c.String(flag), strings.Join(values, ", "))
}

// AtLeast returns the value of an integer flag, which must be at least least.
func AtLeast(c *cli.Context, flag string, least int) (int, error) {
	if n := c.Int(flag); n < least {
		return 0, Usagef("--%s is %d, want at least %d", flag, n, least)
	}
	return c.Int(flag), nil
}

// WorkersFlag is how many things a command does in parallel. [Workers] reads it.
func WorkersFlag(things string) cli.Flag {
	return &cli.IntFlag{Name: FlagWorkers, Usage: things + " in parallel", DefaultText: "one per CPU"}
}

// Workers returns how many things to do in parallel; 0 without the flag.
func Workers(c *cli.Context) (int, error) {
	if !c.IsSet(FlagWorkers) {
		return 0, nil
	}
	return AtLeast(c, FlagWorkers, 1)
}

// Positive checks that durations are longer than 0.
func Positive(c *cli.Context, flags ...string) error {
	for _, flag := range flags {
		if d := c.Duration(flag); d <= 0 {
			return Usagef("--%s is %v, want a positive duration", flag, d)
		}
	}
	return nil
}

// Texts is the value of a flag that can be repeated. Unlike cli's own it does not
// split at commas, which names may have.
type Texts []string

// Set adds a value.
func (t *Texts) Set(s string) error { *t = append(*t, s); return nil }

// String joins the values.
func (t *Texts) String() string { return strings.Join(*t, "; ") }

// TextsOf returns the values of a flag made of Texts.
func TextsOf(c *cli.Context, flag string) []string {
	if t, ok := c.Generic(flag).(*Texts); ok {
		return *t
	}
	return nil
}

// IDFlag checks the agent id of a command, if there is one.
func IDFlag(c *cli.Context) error {
	if id := c.String(FlagID); id != "" && !protocol.ValidID(id) {
		return Usagef("--%s is %q, want letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit", FlagID, id)
	}
	return nil
}

// URLFlags checks flags that are URLs of agents, or empty.
func URLFlags(c *cli.Context, flags ...string) error {
	for _, flag := range flags {
		if text := c.String(flag); text != "" && !AgentURL(text) {
			return Usagef("--%s is %q, want a URL such as http://127.0.0.1:8000/mcp", flag, text)
		}
	}
	return nil
}

// AgentURL reports whether a text is the URL of an agent.
func AgentURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// TLSFlags are the certificate of a server and its key.
func TLSFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: FlagTLSCert, Usage: "PEM file of the certificate, to serve HTTPS"},
		&cli.StringFlag{Name: FlagTLSKey, Usage: "PEM file of the certificate's key"},
	}
}

// TLSFiles returns the files of the certificate and its key, empty for plain HTTP.
func TLSFiles(p *Process, c *cli.Context) (cert, key string, err error) {
	if (c.String(FlagTLSCert) == "") != (c.String(FlagTLSKey) == "") {
		return "", "", Usagef("--%s and --%s need each other", FlagTLSCert, FlagTLSKey)
	}
	return p.Path(c.String(FlagTLSCert)), p.Path(c.String(FlagTLSKey)), nil
}
