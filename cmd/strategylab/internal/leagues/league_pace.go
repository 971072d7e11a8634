package leagues

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// paceCommands are the commands by which an organiser pauses a league and sets its pace.
func paceCommands(p *command.Process) []*cli.Command {
	const kept = "The manager keeps it over restarts."
	return []*cli.Command{
		command.New(p, &cli.Command{
			Name: "pause", Usage: "pause a league after its current round",
			Description: "No round begins then, and no deadline runs; one that has begun is played to its end. " + kept,
		}, new(asking), pausing("pause", true)),
		command.New(p, &cli.Command{Name: "resume", Usage: "resume a paused league"}, new(asking), pausing("resume", false)),
		command.New(p, &cli.Command{
			Name: "pace", ArgsUsage: "DURATION", Usage: "set the pause after each round of a league",
			Description: "DURATION is such as 2s, or 0s for no pause. It holds instead of --pace from the current pause on. " + kept,
		}, new(asking), setPace, "DURATION"),
	}
}

// pausing returns the action that pauses a league, or lets it go on.
func pausing(name string, paused bool) func(*command.Process, *cli.Context, *asking) error {
	return func(p *command.Process, c *cli.Context, a *asking) error {
		return a.putPace(p, c, name, &protocol.Pace{Paused: protocol.Some(paused)})
	}
}

func setPace(p *command.Process, c *cli.Context, a *asking) error {
	text := c.Args().First()
	pace, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return command.Usagef("league pace: %q is not a duration, such as 2s or 500ms", text)
	case pace < 0 || pace > league.MaxPace || pace%time.Millisecond != 0:
		return command.Usagef("league pace: %v, want whole milliseconds from 0s to %v", pace, league.MaxPace)
	}
	return a.putPace(p, c, "pace", &protocol.Pace{PaceMS: protocol.Some(int(pace.Milliseconds()))})
}

// putPace sends SET_PACE and prints the pace that the league has now.
func (a *asking) putPace(p *command.Process, c *cli.Context, name string, m *protocol.Pace) error {
	m.MessageType = protocol.TypeSetPace
	told, err := a.ask(p, c, m)
	if err != nil {
		return fmt.Errorf("league %s: %w", name, err)
	}
	if now, ok := told.Message.(*protocol.Pace); ok {
		m = now
	}
	text := "the league is not paused"
	if m.Paused.Value() {
		text = "the league is paused: no round begins before 'strategylab league resume', and one that has begun is played to its end"
	}
	_, err = fmt.Fprintf(p.Stdout, "%s; pause after each round: %v\n", text, time.Duration(m.PaceMS.Value())*time.Millisecond)
	return err
}
