package leagues

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// organizing is a command by which the organiser of a league changes the status of a
// player.
type organizing struct {
	name, usage string
	status      league.Life
	follows     string // what follows for the player
}

var organizings = []organizing{
	{
		"withdraw", "take a player out for good; before the start, remove its registration", league.Withdrawn,
		"withdrawn: it loses its remaining matches, and nobody waits for it; before the start its place is free again",
	},
	{
		"suspend", "take a player out of a running league for a while", league.Suspended,
		"suspended: it loses its matches, and nobody waits for it, until it is readmitted",
	},
	{
		"readmit", "let a player back in that is suspended or lost its token", league.Active,
		"readmitted: it plays, and when it registers again it needs no token and gets a new one",
	},
}

// statusCommands are the commands for the organiser of a league.
func statusCommands(p *command.Process) []*cli.Command {
	var all []*cli.Command
	for _, o := range organizings {
		all = append(all, command.New(p, &cli.Command{
			Name: o.name, ArgsUsage: "PLAYER", Usage: o.usage,
			Description: "Tells the manager, which keeps it over restarts. PLAYER is an id such as P03; strategylab query players lists them.",
		}, new(asking), o.set, "PLAYER"))
	}
	return all
}

// set sends SET_PLAYER_STATUS.
func (o organizing) set(p *command.Process, c *cli.Context, a *asking) error {
	player := c.Args().First()
	if !protocol.ValidID(player) {
		return command.Usagef("league %s: %q cannot be the id of a player, such as P03", o.name, player)
	}
	m := &protocol.PlayerStatus{PlayerID: player, Status: string(o.status)}
	m.MessageType = protocol.TypeSetPlayerStatus
	told, err := a.ask(p, c, m)
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.name, player, err)
	}
	who := player
	if status, ok := told.Message.(*protocol.PlayerStatus); ok {
		who = strings.TrimSpace(player + " " + status.DisplayName)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is %s\n", who, o.follows)
	return err
}
