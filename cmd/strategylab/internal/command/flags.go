package command

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Flags that several commands have. A flag means the same in each of them.
const (
	FlagAdminToken  = "admin-token"
	FlagAdminFile   = "admin-token-file"
	FlagAll         = "all"
	FlagColor       = "color"
	FlagData        = "data-dir"
	FlagDetails     = "details"
	FlagDraw        = "draw"
	FlagField       = "field"
	FlagFormat      = "format"
	FlagID          = "id"
	FlagLeagueID    = "league-id"
	FlagLegs        = "legs"
	FlagLevel       = "level"
	FlagListen      = "listen"
	FlagManager     = "manager"
	FlagMaxRuns     = "max-runs"
	FlagName        = "name"
	FlagOut         = "out"
	FlagPlayers     = "players"
	FlagQuiet       = "quiet"
	FlagRuns        = "runs"
	FlagSeed        = "seed"
	FlagStrategy    = "strategy"
	FlagTimeout     = "timeout"
	FlagTLSCert     = "tls-cert"
	FlagAllowHost   = "allow-host"
	FlagAllowOrigin = "allow-origin"
	FlagTLSKey      = "tls-key"
	FlagVerbose     = "verbose"
	FlagWorkers     = "workers"
)

// SeedFlag is the random seed. [Seed] reads it.
func SeedFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagSeed, Usage: "`N`: random seed", DefaultText: "random, and printed"}
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

// GlobalFlags are the flags of the program, which every command accepts and those obey
// that read them. [WantsColour], [Limits] and [LoadCatalog] read them.
func GlobalFlags() []cli.Flag {
	return []cli.Flag{
		Choice(FlagColor, colourAuto, "colours on terminals", colourAuto, colourAlways, colourNever),
		&cli.BoolFlag{Name: FlagQuiet, Usage: "suppress progress and notes"},
		&cli.StringFlag{Name: FlagScripts, Value: catalog.DefaultScripts, Usage: "`DIR`: folder of *.lua, *.js and *.wasm scripts"},
		&cli.StringFlag{Name: FlagPlugins, Value: DefaultPlugins, Usage: "`DIR`: folder of plugins"},
		&cli.DurationFlag{Name: FlagTimeLimit, Value: budget.DefaultTime, Usage: "time limit per script call", Action: validTimeLimit},
		&cli.Int64Flag{Name: FlagInstructions, Value: budget.DefaultInstructions, Usage: "instruction limit per call of Lua or WebAssembly", Action: validInstructions},
	}
}

// Choice is a flag with one of some values; preset is the default.
func Choice(name, preset, usage string, values ...string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Value: preset, Usage: "`" + strings.Join(values, "|") + "`: " + usage, Action: OneOf(name, values...)}
}

// FormatFlag is the output format, by default the first.
func FormatFlag(formats ...string) cli.Flag {
	return Choice(FlagFormat, formats[0], "output format", formats...)
}

// DetailsFlag shows all of a table.
func DetailsFlag() cli.Flag {
	return &cli.BoolFlag{Name: FlagDetails, Usage: "show all columns, tiers, corrections, processes and the digest"}
}

const colourAuto, colourAlways, colourNever = "auto", "always", "never"

// WantsColour reports whether a stream gets colours: by --color, or else if it is a
// terminal whose user wants them.
func WantsColour(p *Process, c *cli.Context, stream Terminal) bool {
	switch c.String(FlagColor) {
	case colourAlways:
		return true
	case colourNever:
		return false
	}
	return stream.Is() && p.Colour
}

// DrawFlag is the distribution of the drawn number. [Draw] reads it.
func DrawFlag() cli.Flag {
	return &cli.StringFlag{
		Name: FlagDraw, Value: game.FairDraw().String(), Usage: "`DRAW`: distribution of drawn numbers, such as weights:1=3,2=1",
		Action: func(_ *cli.Context, text string) error {
			if _, err := game.ParseDraw(text); err != nil && text != "" {
				return Usagef("--%s: %w", FlagDraw, err)
			}
			return nil
		},
	}
}

// Draw returns the distribution of the drawn number, by default the fair one.
func Draw(c *cli.Context) game.Draw {
	draw, err := game.ParseDraw(c.String(FlagDraw))
	if err != nil { // the flag is empty: its action refuses all other mistakes
		return game.FairDraw()
	}
	return draw
}

// LevelFlag is the confidence level of intervals.
func LevelFlag() cli.Flag {
	return &cli.Float64Flag{
		Name: FlagLevel, Value: analysis.DefaultLevel, Usage: "confidence level, 0.5 to 0.9999",
		Action: func(_ *cli.Context, level float64) error {
			if !(level >= 0.5 && level <= 0.9999) {
				return Usagef("--%s is %v, want 0.5 to 0.9999", FlagLevel, level)
			}
			return nil
		},
	}
}

// WorkersFlag is how many things a command does in parallel; 0 without it.
func WorkersFlag(things string) cli.Flag {
	return &cli.IntFlag{Name: FlagWorkers, Usage: things + " in parallel", DefaultText: "one per CPU", Action: AtLeast(FlagWorkers, 1)}
}

// The functions below are actions of flags: they refuse a value on the command
// line before the command begins.

// OneOf refuses all but some values of a flag.
func OneOf(flag string, values ...string) func(*cli.Context, string) error {
	return func(_ *cli.Context, v string) error {
		if !slices.Contains(values, v) {
			return Usagef("--%s is %q, want one of %s", flag, v, strings.Join(values, ", "))
		}
		return nil
	}
}

// AtLeast refuses integers below a bound.
func AtLeast(flag string, least int) func(*cli.Context, int) error {
	return func(_ *cli.Context, n int) error {
		if n < least {
			return Usagef("--%s is %d, want at least %d", flag, n, least)
		}
		return nil
	}
}

// Positive refuses durations that are not longer than 0.
func Positive(flag string) func(*cli.Context, time.Duration) error {
	return func(_ *cli.Context, d time.Duration) error {
		if d <= 0 {
			return Usagef("--%s is %v, want a positive duration", flag, d)
		}
		return nil
	}
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

// ValidID refuses what cannot be the id of a league of ours.
func ValidID(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, id string) error {
		if !protocol.ValidID(id) {
			return Usagef("--%s is %q, want letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit", flag, id)
		}
		return nil
	}
}

// AgentID refuses what cannot be the id of an agent. The flag may be empty for none.
func AgentID(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, id string) error {
		if id != "" && !protocol.ValidForeignID(id) {
			return Usagef("--%s is %q, want at most 128 characters, no control characters", flag, id)
		}
		return nil
	}
}

// ValidURL refuses what cannot be the URL of an agent. A flag may be empty for
// none.
func ValidURL(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, text string) error {
		if text != "" && !AgentURL(text) {
			return Usagef("--%s is %q, want a URL such as http://127.0.0.1:8000/mcp", flag, text)
		}
		return nil
	}
}

// ManagerFlag is the manager that an agent registers with or a command asks.
func ManagerFlag() cli.Flag {
	return &cli.StringFlag{
		Name: FlagManager, Value: "http://127.0.0.1:8000/mcp", Usage: "`URL`: the league manager", Action: ValidURL(FlagManager),
	}
}

// AgentURL reports whether a text is the URL of an agent.
func AgentURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// CallerFlags say which web pages and names a server trusts.
func CallerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: FlagAllowHost, Usage: "`PATTERN`: hosts of remote agents, and names of this server; repeatable"},
		&cli.StringSliceFlag{Name: FlagAllowOrigin, Usage: "`ORIGIN`: web pages that may call this server; repeatable"},
	}
}

// Callers reads CallerFlags. A pattern for every host means the agents: it makes no
// name the server's own.
func Callers(c *cli.Context) (jsonrpc.Callers, error) {
	callers := jsonrpc.Callers{Origins: c.StringSlice(FlagAllowOrigin)}
	for _, pattern := range c.StringSlice(FlagAllowHost) {
		if pattern != "*" {
			callers.Hosts = append(callers.Hosts, pattern)
		}
	}
	if _, err := jsonrpc.NewGuard(callers); err != nil {
		return callers, Usagef("--%s or --%s: %w", FlagAllowOrigin, FlagAllowHost, err)
	}
	return callers, nil
}

// RefuseForeign returns a function that says why a request is kept out of a server
// with these flags, or "". own are further names of the server.
func RefuseForeign(c *cli.Context, own ...string) (func(*http.Request) string, error) {
	callers, err := Callers(c)
	if err != nil {
		return nil, err
	}
	callers.Hosts = append(callers.Hosts, own...)
	guard, err := jsonrpc.NewGuard(callers)
	if err != nil {
		return nil, err
	}
	return guard.Refuse, nil
}

// TLSFlags are the certificate of a server and its key.
func TLSFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: FlagTLSCert, Usage: "`FILE`: certificate in PEM, to serve HTTPS"},
		&cli.StringFlag{Name: FlagTLSKey, Usage: "`FILE`: the certificate's key in PEM"},
	}
}

// TLSFiles returns the files of the certificate and its key, empty for plain HTTP.
func TLSFiles(p *Process, c *cli.Context) (cert, key string, err error) {
	if (c.String(FlagTLSCert) == "") != (c.String(FlagTLSKey) == "") {
		return "", "", Usagef("--%s and --%s need each other", FlagTLSCert, FlagTLSKey)
	}
	return p.Path(c.String(FlagTLSCert)), p.Path(c.String(FlagTLSKey)), nil
}
