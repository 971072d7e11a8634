package leagues

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/screen"
	"github.com/strategylab/strategylab/strategies/catalog"
)

type refereeOptions struct {
	Concurrent int           `flag:"concurrent" default:"10" want:"1.." usage:"maximum number of matches in parallel"`
	IdleExit   time.Duration `flag:"idle-exit" text:"never" usage:"exit after this long without messages following a match"`
	drawing
	agentOptions
}

func conduct(p *command.Process, c *cli.Context, o *refereeOptions) (err error) {
	l, a, own, err := newAgent(p, c, &o.agentOptions, o.IdleExit, protocol.RoleReferee)
	if err != nil {
		return err
	}
	key, err := o.key(p)
	if err != nil {
		return err
	}
	seen, err := l.observe(c, announcedDraw(c, &o.Drawing))
	if err != nil {
		return err
	}
	defer seen.end(&err)
	a.Tap, a.Validation = seen.tap(a.Name), seen.Validation
	cfg, err := l.refereeConfig(&o.drawing, key)
	if err != nil {
		return err
	}
	cfg.Config, cfg.Concurrent, cfg.Events, cfg.Progress, cfg.MatchFiles = own, o.Concurrent, func(e referee.Event) { l.reported(e, screen.Reason(e.Fault, e.Error)) }, true, true
	return agentError(c, o.Manager, a.Referee(c.Context, cfg))
}

// agentOptions are the flags of an agent that runs alone, but for --idle-exit, whose
// default differs, and --seed.
type agentOptions struct {
	command.Managed
	Name      string `flag:"name NAME" usage:"display name"`
	ID        string `flag:"id ID" text:"that of the port" want:"agent" usage:"agent id to request"`
	Dialect   string `flag:"dialect auto|contracts|envelope|tool|tool-io|bare|type-method|type-method-v2|lower-method|handle-message|plain-tool" want:"one" usage:"dialect of the manager"`
	Stdio     bool   `flag:"stdio" usage:"serve stdin and stdout, too; events go to stderr"`
	PublicURL string `flag:"public-url URL" text:"where it listens" want:"url" usage:"address at which others reach this agent"`
	liveOptions
}

// newAgent reads the flags of an agent that runs alone. It is tolerant toward the
// manager, which its user does not control.
func newAgent(p *command.Process, c *cli.Context, o *agentOptions, idle time.Duration, role protocol.Role) (l *live, a host.Agent, own agent.Config, err error) {
	if l, err = newLive(p, &o.liveOptions, protocol.Tolerant); err != nil {
		return l, a, own, err
	}
	own = l.agentConfig()
	own.Name, own.ID, own.IdleExit = o.Name, o.ID, idle
	own.FixedAnswers = o.Dialect != "auto" || o.Envelope == "strict"
	if o.Dialect != "auto" {
		d, err := dialect.Named(o.Dialect)
		if err != nil {
			return l, a, own, command.Usagef("--dialect: %w", err)
		}
		own.Dialects = []*dialect.Dialect{d}
	}
	if own.IdleExit < 0 {
		return l, a, own, command.Usagef("--idle-exit is %v, want a positive duration", own.IdleExit)
	}
	if !c.IsSet("listen") {
		if port := agent.PortOf(role, own.ID); port != 0 {
			l.ports = append([]int{port}, l.ports...)
		}
		l.ports = append(l.ports, 0) // where all of them are taken
	}
	name := string(role)
	a = host.Agent{
		MCP: l.mcp, Network: l.network(name), Name: name, Server: l.server, Conventional: !l.anyPort(), Host: l.host,
		Manager: o.Manager, Public: o.PublicURL,
		Listening: func(url string) {
			l.out.write(map[string]any{"event": "listening", "url": url}, "listening at "+url)
		},
		Expected: l.expected,
	}
	if o.Stdio { // then nothing else may write to stdout
		a.Stdin, a.Stdout, l.out.w = p.Stdin, p.Stdout, p.Stderr
	}
	return l, a, own, nil
}

// expected says what came of listening at the port of the agent's id.
func (l *live) expected(id, url string, err error) {
	if err == nil {
		l.out.write(map[string]any{"event": "listening_too", "agent": id, "url": url}, "listening at "+url+" as well, where programs that go by the id expect "+id)
		return
	}
	text := fmt.Sprintf("cannot listen at %s, where programs that go by the id expect %s (%v); if no match comes, free that port, or use --listen and --id", url, id, err)
	l.out.write(map[string]any{"event": "port_taken", "agent": id, "url": url, "error": err.Error()}, text)
}

// agentError returns the error of an agent that has ended; nil after an interrupt.
func agentError(c *cli.Context, manager string, err error) error {
	if c.Context.Err() != nil {
		return nil
	}
	return command.Remedy(manager, err)
}

// drawing says how the numbers of a league are drawn.
type drawing struct {
	command.Seeding
	command.Drawing
	Draws string `flag:"draws verifiable|plain" want:"one" text:"verifiable; plain with --seed or --draw" usage:"commit to draws before the choices, or not"`
}

// key returns the seed of a live league and warns if the user has set it: then the draws
// are predictable.
func (d *drawing) key(p *command.Process) (uint64, error) {
	s, err := d.Seed(p)
	if err == nil && d.Number != "" {
		p.Warn("--seed makes the draws predictable for everybody who knows the seed; omit it when results matter")
	}
	return s, err
}

// refereeConfig configures a referee as the flags say. Its draws follow from key with
// --seed, and are unpredictable without it.
func (l *live) refereeConfig(d *drawing, key uint64) (referee.Config, error) {
	draw := d.Draw()
	seeded, own := d.Number != "", draw.String() != game.FairDraw().String()
	cfg := referee.Config{
		Config: l.agentConfig(), JoinTimeout: l.opt.JoinTimeout, ChoiceTimeout: l.opt.ChoiceTimeout,
		Verifiable: !seeded && !own && d.Draws != "plain",
		Draw: func(m referee.Match) (int, error) {
			if seeded {
				return draw.Pick(game.LiveWord(key, m.League, m.ID)), nil
			}
			word, err := l.p.Entropy()
			return draw.Pick(word), err
		},
	}
	if d.Draws != "verifiable" || cfg.Verifiable {
		return cfg, nil
	}
	if seeded {
		return cfg, command.Usagef("--draws verifiable excludes --seed: who knows the seed knows the numbers, so they prove nothing to players")
	}
	return cfg, command.Usagef("--draws verifiable excludes --draw %s: only draws from 1 to 10, each equally likely, are verifiable", draw)
}

// sumUpDraws prints what the players said of the drawn numbers, if they said anything.
func sumUpDraws(out *eventWriter, d league.Draws) {
	if text := screen.Draws(d); text != "" {
		out.write(struct {
			Event string `json:"event"`
			league.Draws
		}{"draws", d}, text)
	}
}

type playerOptions struct {
	Strategy string        `flag:"strategy STRATEGY" required:"yes" usage:"name or path of the strategy, such as markov-2"`
	Once     bool          `flag:"once" usage:"exit when the league is complete"`
	Watch    bool          `flag:"watch" usage:"reload an edited script between two matches"`
	IdleExit time.Duration `flag:"idle-exit" text:"5m with --once, else never" usage:"exit after this long without messages following a match"`
	command.Seeding
	command.Isolated
	agentOptions
}

func play(p *command.Process, c *cli.Context, o *playerOptions) (err error) {
	l, a, own, err := newAgent(p, c, &o.agentOptions, o.IdleExit, protocol.RolePlayer)
	if err != nil {
		return err
	}
	cat, e, edited, err := o.load(p, c)
	if err != nil {
		return err
	}
	defer cat.Close()
	if e.Factory != nil {
		p.WarnOfSlips(c, []catalog.Player{{Info: e.Info, Factory: e.Factory}}, true)
	}
	s, err := o.Seed(p)
	if err != nil {
		return err
	}
	seen, err := l.observe(c, game.Draw{})
	if err != nil {
		return err
	}
	defer seen.end(&err)
	a.Tap, a.Validation = seen.tap(a.Name), seen.Validation
	own.Name = cmp.Or(own.Name, e.Info.Name)
	took, wrong := new(lab.Latencies), new(screen.Mishaps)
	err = a.Player(c.Context, player.Config{
		Config: own, ChoiceTimeout: o.ChoiceTimeout, Factory: e.Factory, Versions: edited, Once: o.Once, Print: p.Logger(0),
		Key: game.StrategyKey(s, 0, 0), Coin: game.CoinKey(s, 0, 0),
		Events: func(e player.Event) {
			if e.Kind == player.Answered {
				took.Add(e.Took)
				return
			}
			l.remark(e.Player, e)
			wrong.Note(e)
			l.out.write(e, screen.Played(e))
		},
	})
	if errors.Is(err, player.ErrNoVersion) { // the file does not load, either
		return lab.NameError(e.Err)
	}
	if f, ok := took.Forecast(o.ChoiceTimeout, l.backoff.Retries); ok {
		l.out.write(map[string]any{"event": "forecast", "forecast": f}, screen.Forecast(f))
	}
	if l.recorded != nil { // not before the end: who knows the seed knows what comes
		l.out.say("seed %d: trace playback --seed %d repeats these choices", s, s)
	}
	if text := wrong.Summary(); text != "" {
		l.out.say("%s", text)
	}
	if err = agentError(c, o.Manager, err); err == nil && wrong.AllLost() {
		return command.ErrAllLost
	}
	return err
}
