package leagues

import (
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/screen"
)

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
