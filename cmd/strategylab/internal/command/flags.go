package command

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Globals are the flags of the program, which every command accepts and those obey that
// read them.
type Globals struct {
	Color        string        `flag:"color auto|always|never" want:"one" usage:"colours on terminals"`
	Quiet        bool          `flag:"quiet" usage:"suppress progress and notes"`
	Scripts      string        `flag:"scripts DIR" default:"scripts" usage:"folder of *.lua, *.js and *.wasm scripts"`
	Plugins      string        `flag:"plugins DIR" default:"plugins/bin" usage:"folder of plugins"`
	TimeLimit    time.Duration `flag:"time-limit" want:"1ms..1h" usage:"time limit per script call"`
	Instructions int64         `flag:"instructions" want:"1000.." usage:"instruction limit per call of Lua or WebAssembly"`
}

// GlobalFlags are the flags of [Globals].
func (p *Process) GlobalFlags() []cli.Flag {
	p.Globals = Globals{TimeLimit: budget.DefaultTime, Instructions: budget.DefaultInstructions}
	return flagsOf(reflect.ValueOf(&p.Globals).Elem())
}

// Limits returns the budget of one script call.
func (g *Globals) Limits() budget.Limits {
	return budget.Limits{Time: g.TimeLimit, Instructions: g.Instructions}
}

// WantsColour reports whether a stream gets colours: by --color, or else if it is a
// terminal whose user wants them.
func (p *Process) WantsColour(stream Terminal) bool {
	return p.Color == "always" || p.Color != "never" && stream.Is() && p.Colour
}

// Seeding is the random seed.
type Seeding struct {
	Number string `flag:"seed N" text:"random, and printed" usage:"random seed"`
}

// Seed returns the random seed: the given one, or a new one.
func (s *Seeding) Seed(p *Process) (uint64, error) {
	if s.Number == "" {
		return p.Lab.Seed()
	}
	n, err := strconv.ParseUint(s.Number, 0, 64)
	if err != nil {
		return 0, Usagef("--seed is %q, want an integer from 0 to 2^64-1", s.Number)
	}
	return n, nil
}

// Drawing is the distribution of the drawn number.
type Drawing struct {
	Numbers string `flag:"draw DRAW" default:"uniform:1-10" want:"draw" usage:"distribution of drawn numbers, such as weights:1=3,2=1"`
}

// Draw returns the distribution of the drawn number, by default the fair one.
func (d *Drawing) Draw() game.Draw {
	draw, err := game.ParseDraw(d.Numbers)
	if err != nil { // it is empty: all other mistakes are refused before
		return game.FairDraw()
	}
	return draw
}

// Leveled is the confidence level of intervals.
type Leveled struct {
	Level float64 `flag:"level" default:"0.95" want:"0.5..0.9999" usage:"confidence level, 0.5 to 0.9999"`
}

// Managed is the manager that an agent registers with or a command asks.
type Managed struct {
	Manager string `flag:"manager URL" default:"http://127.0.0.1:8000/mcp" want:"url" usage:"the league manager"`
}

// AgentURL reports whether a text is the URL of an agent.
func AgentURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Served says which web pages and names a server trusts, and how it serves HTTPS.
type Served struct {
	AllowHost   List `flag:"allow-host PATTERN" usage:"hosts of remote agents, and names of this server; repeatable"`
	AllowOrigin List `flag:"allow-origin ORIGIN" usage:"web pages that may call this server; repeatable"`
	Certificate
}

// Certificate is that of a server that serves HTTPS.
type Certificate struct {
	TLSCert string `flag:"tls-cert FILE" usage:"certificate in PEM, to serve HTTPS"`
	TLSKey  string `flag:"tls-key FILE" usage:"the certificate's key in PEM"`
}

// Callers returns whom a server trusts. A pattern for every host means the agents: it
// makes no name the server's own.
func (s *Served) Callers() (jsonrpc.Callers, error) {
	callers := jsonrpc.Callers{Origins: s.AllowOrigin}
	callers.Hosts = slices.DeleteFunc(slices.Clone(s.AllowHost), func(pattern string) bool { return pattern == "*" })
	if _, err := callers.Guard(); err != nil {
		return callers, Usagef("--allow-origin or --allow-host: %w", err)
	}
	return callers, nil
}

// ValidationLog says whether and how the validation log is written.
type ValidationLog struct {
	Mode string `flag:"validation-log auto|on|off" want:"one" usage:"log the outcome of every request"`
	Size int    `flag:"validation-log-size" default:"64" want:"1.." usage:"size limit of the validation log in MiB"`
}

// Open opens the validation log below a data folder as the flags say; nil for none.
// Failing to open it is an error only if the flags, or a seed, ask for a log explicitly.
func (v *ValidationLog) Open(p *Process, cfg eventlog.Config) (*eventlog.Log, error) {
	cfg.Now, cfg.MaxFile, cfg.MaxFiles = p.Now, int64(v.Size)<<20/eventlog.DefaultMaxFiles, eventlog.DefaultMaxFiles
	asked := v.Mode == "on" || cfg.Seed != ""
	switch {
	case v.Mode == "off":
		return nil, nil
	case cfg.Data == "" && asked:
		return nil, Usagef("--validation-log: the validation log needs a folder; name one with --data-dir")
	case cfg.Data == "":
		return nil, nil
	}
	cfg.Lazy = cfg.Lazy && !asked
	l, err := eventlog.Open(cfg)
	switch {
	case err == nil:
		return l, nil
	case asked:
		return nil, Usagef("--validation-log: %w", err)
	}
	p.Warn("%v; continuing without a validation log", err)
	return nil, nil
}
