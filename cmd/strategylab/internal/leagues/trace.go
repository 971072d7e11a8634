package leagues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/audit"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/trace/playback"
)

type traceOptions struct {
	Match  string `flag:"match" usage:"only this match, such as R1M1"`
	Agent  string `flag:"agent" usage:"only messages of this agent: id or URL part"`
	Type   string `flag:"type" usage:"only this message type, such as CHOOSE_PARITY_CALL"`
	All    bool   `flag:"all" usage:"print MCP's own messages and probes, too"`
	Bodies bool   `flag:"bodies" usage:"print whole messages"`
	Both   bool   `flag:"both-sides" usage:"print messages between two recorded agents twice"`
}

// recording names the positional argument of the commands that read one.
const recording = "the recording"

func readTrace(p *command.Process, c *cli.Context) (*trace.Recording, error) {
	path := c.Args().First()
	rec, err := openTrace(p.Path(path))
	if errors.As(err, new(*fs.PathError)) {
		return nil, command.WithHint(fmt.Errorf("%s: %w", command.Name(c), err),
			"name a recording, which --record FILE of a live command makes")
	}
	if err != nil {
		return nil, command.Usagef("%s: %s: %w", command.Name(c), path, err)
	}
	if rec.Torn {
		p.Warn("%s is truncated, as after a kill; reading what is there", path)
	}
	return rec, nil
}

func openTrace(path string) (*trace.Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	return trace.Read(file)
}

func showTrace(p *command.Process, c *cli.Context, o *traceOptions) error {
	rec, err := readTrace(p, c)
	if err != nil {
		return err
	}
	f := trace.Filter{Match: o.Match, Agent: o.Agent, Type: protocol.Type(o.Type), Once: !o.Both}
	all := len(rec.Select(f))
	f.Bare = !o.All
	chosen := rec.Select(f)
	if len(chosen) == 0 {
		return command.WithHint(fmt.Errorf("the flags select none of the %d exchanges of the recording", len(rec.Exchanges)),
			"strategylab trace show FILE --all shows all")
	}
	remarks := slices.DeleteFunc(rec.Remarks, func(m trace.Remark) bool {
		return f.Match != "" && m.Match != f.Match || f.Agent != "" && m.Agent != f.Agent || f.Type != ""
	})
	if hidden := all - len(chosen); hidden > 0 {
		fmt.Fprintf(p.Stderr, "%s not shown, which are not the league's; --all shows them\n", words.Plain.Plural(int64(hidden), "exchange"))
	}
	return trace.Show(p.Stdout, chosen, trace.Format{Bodies: o.Bodies, Remarks: remarks})
}

type recorded struct {
	Record string `flag:"record FILE" usage:"recording of all messages, tokens masked"`
}

// recorder records the messages of a command. The zero value records nothing.
type recorder struct {
	rec   *trace.Recorder
	after func(*error) // runs the audit, if there is one
}

// startRecording starts a recording in a file, if one is named. after runs at its end.
func startRecording(p *command.Process, c *cli.Context, path string, after func(*error)) (recorder, error) {
	if path == "" {
		return recorder{}, nil
	}
	rec, err := trace.Create(p.Path(path), trace.Head{Command: c.Command.FullName()}, p.Now)
	if err != nil {
		return recorder{}, command.Usagef("--record: %w", err)
	}
	return recorder{rec, after}, nil
}

// tap returns what records the messages of an agent; nil for nothing.
func (r recorder) tap(agent string) jsonrpc.Tap {
	if r.rec == nil {
		return nil
	}
	return r.rec.Tap(agent)
}

// end ends the recording and runs the audit. It joins their errors to that of the
// command.
func (r recorder) end(err *error) {
	if r.rec != nil {
		*err = errors.Join(*err, r.rec.Close())
		r.after(err)
	}
}

var errUnfair = errors.New("the audit found violations")

type auditOptions struct {
	command.Drawing
	Draws  bool   `flag:"draws" usage:"list verifiable draws with all that they follow from"`
	Format string `flag:"format text|json" want:"one" usage:"output format"`
}

// announcedDraw is the draw that the user says the league announced, if any.
func announcedDraw(c *cli.Context, d *command.Drawing) (none game.Draw) {
	if c.IsSet("draw") {
		return d.Draw()
	}
	return none
}

func auditTrace(p *command.Process, c *cli.Context, o *auditOptions) error {
	rec, err := readTrace(p, c)
	if err != nil {
		return err
	}
	return auditAll(p.Stdout, rec, announcedDraw(c, &o.Drawing), o.Format, o.Draws)
}

// auditAll audits the leagues of a recording and writes what it finds: as text, as json,
// or as an event on one line. list adds the verifiable draws.
func auditAll(w io.Writer, rec *trace.Recording, draw game.Draw, format string, list bool) error {
	doc, err := audit.Of(rec, draw, list)
	if err != nil {
		return command.WithHint(fmt.Errorf("audit: %w", err), "strategylab trace show FILE shows its messages")
	}
	switch format {
	case "json":
		err = command.PrintJSON(w, doc)
	case "event":
		err = json.NewEncoder(w).Encode(struct {
			Event string `json:"event"`
			*audit.Document
		}{"audit", doc})
	default:
		err = doc.WriteText(w)
	}
	if err == nil && !doc.Fair {
		err = command.Reported(errUnfair)
	}
	return err
}

// audited returns the path of the recording of a live command, and what audits it at the
// end if --audit is set. Without --record the recording is temporary.
func (o *liveOptions) audited(p *command.Process, draw game.Draw) (path string, after func(*error), err error) {
	path = o.Record
	if !o.Audit {
		return path, func(*error) {}, nil
	}
	format := "text"
	if o.Format == "json" {
		format = "event"
	}
	remove := func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", "strategylab-audit-")
		if err != nil {
			return path, nil, fmt.Errorf("--audit: %w", err)
		}
		path, remove = filepath.Join(dir, "recording.jsonl"), func() error { return os.RemoveAll(dir) }
	}
	return path, func(err *error) {
		*err = errors.Join(*err, auditFile(p, p.Path(path), draw, format), remove())
	}, nil
}

func auditFile(p *command.Process, path string, draw game.Draw, format string) error {
	rec, err := openTrace(path)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return auditAll(p.Stdout, rec, draw, format, false)
}

type playbackOptions struct {
	Strategy string `flag:"strategy STRATEGY" usage:"name or path, such as markov-2, for a player"`
	Agent    string `flag:"agent" usage:"agent to replay, such as player, P01 or REF01"`
	All      bool   `flag:"all" usage:"print equal answers, too"`
	command.Seeding
	command.Isolated
}

func playBack(p *command.Process, c *cli.Context, o *playbackOptions) error {
	rec, err := readTrace(p, c)
	if err != nil {
		return err
	}
	part, agents := playback.Part(rec, o.Agent)
	switch {
	case len(agents) == 0:
		return command.Usagef("trace playback: the recording has no request to an agent, so there is nothing to replay")
	case part == nil && o.Agent == "":
		return command.WithHint(fmt.Errorf("%d agents recorded: %s", len(agents), strings.Join(agents, ", ")), "choose one with --agent")
	case part == nil:
		return command.WithHint(fmt.Errorf("--agent: no recording of %q, only of %s", o.Agent, strings.Join(agents, ", ")), "choose one with --agent")
	}
	other := playback.New(part)
	a := host.Agent{Network: other, Name: "agent", Manager: playback.Manager(part)}
	run, closing, err := agentFor(p, c, o, part)
	if err != nil {
		return err
	}
	defer closing()
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, a); cancel() }()
	steps, err := other.Run(ctx)
	cancel()
	if failed := <-ended; errors.Is(err, context.Canceled) || err == nil {
		err = failed
	}
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(playback.WriteSteps(p.Stdout, steps, o.All), err)
}

// agentFor returns what runs the agent to replay: a player or a referee.
func agentFor(p *command.Process, c *cli.Context, o *playbackOptions, part []*trace.Exchange) (run func(context.Context, host.Agent) error, closing func(), err error) {
	const out, in = true, false
	asked := func(sent bool, t protocol.Type) bool {
		return slices.ContainsFunc(part, func(x *trace.Exchange) bool { return x.Sent == sent && x.Type == t })
	}
	s, err := o.Seed(p)
	if err != nil {
		return nil, nil, err
	}
	p.Note("seed %d", s)
	switch {
	case asked(in, protocol.TypeLeagueRegisterRequest), asked(in, protocol.TypeRefereeRegisterRequest), asked(in, protocol.TypeMatchResultReport):
		return nil, nil, command.Usagef("trace playback: this is the recording of a manager; only players and referees can be replayed")
	case asked(out, protocol.TypeGameInvitation):
		cfg := referee.Config{
			Config: agent.Config{Mode: protocol.Tolerant, Now: p.Now, Backoff: game.Backoff{Retries: 3, First: time.Millisecond, Most: time.Millisecond}},
			Draw: func(m referee.Match) (int, error) {
				return game.FairDraw().Pick(game.LiveWord(s, m.League, m.ID)), nil
			},
		}
		return func(ctx context.Context, a host.Agent) error { return a.Referee(ctx, cfg) }, func() {}, nil
	case o.Strategy == "":
		return nil, nil, command.WithHint(errors.New("trace playback: --strategy is missing, as this is the recording of a player"), "strategylab strategies list shows what there is")
	}
	cat, e, err := p.LoadStrategy(c.Context, p.Supply(c, command.Isolation{Isolated: o.Isolated}), o.Strategy)
	if err != nil {
		return nil, nil, err
	}
	cfg := player.Config{
		Config:  agent.Config{Mode: protocol.Tolerant, Now: p.Now},
		Factory: e.Factory,
		Watch:   -1,
		Print:   p.Logger(0),
		Key:     game.StrategyKey(s, 0, 0),
		Coin:    game.CoinKey(s, 0, 0),
	}
	return func(ctx context.Context, a host.Agent) error { return a.Player(ctx, cfg) }, func() { _ = cat.Close() }, nil // nothing was written
}
