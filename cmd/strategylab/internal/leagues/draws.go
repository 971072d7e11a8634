package leagues

import (
	"cmp"
	"fmt"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
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
	if text := proofText(d); text != "" {
		out.write(struct {
			Event string `json:"event"`
			league.Draws
		}{"draws", d}, text)
	}
}

// proofText says how many draws the players verified, and what is known of the others;
// empty if no player said anything.
func proofText(d league.Draws) string {
	if d.Verified+d.Unverified == 0 {
		return ""
	}
	text := verifiedText(d.Verified, d.Drawn) + " by the players"
	if d.Unverified > 0 {
		text += fmt.Sprintf("; %d that a player could NOT verify", d.Unverified)
	}
	if n := d.Unchecked(); n > 0 {
		text += fmt.Sprintf("; %d of which no player said whether it could", n)
	}
	return text
}

// verifiedText says how many draws are verified.
func verifiedText(verified, drawn int) string {
	return fmt.Sprintf("%d of %s verified", verified, words.Plain.Plural(int64(drawn), "draw"))
}

// unverifiedText says that a player could not verify a number, empty if it could.
func unverifiedText(e referee.Event) string {
	if e.Verified {
		return ""
	}
	return fmt.Sprintf("%-7s %s could not verify the number", e.Match, e.Player)
}

// drawText is a player's verdict on a number, empty for a plain draw.
func drawText(verdict string) string {
	switch verdict {
	case player.DrawVerified:
		return ", verified"
	case player.DrawBroken:
		return ", NOT verified"
	}
	return ""
}

// drawsText counts the draws that a player verified in a league, empty without
// verifiable draws.
func drawsText(d *player.Draws) string {
	if d == nil {
		return ""
	}
	text := "; " + verifiedText(d.Verified, d.Drawn)
	if d.Undrawn > 0 {
		text += fmt.Sprintf(", %s without a number after its choice", words.Plain.Plural(int64(d.Undrawn), "match"))
	}
	return text
}

// listedText is a verifiable draw with all that it follows from.
func listedText(v judge.VerifiableDraw) string {
	verdict := "verified"
	if v.Broken != "" {
		verdict = "BROKEN: " + v.Broken
	}
	return words.Printable(fmt.Sprintf("%-7s round %d  %s %s %s  %s %s %s  commitment %s  key %s  number %d  %s", v.Match, v.Round,
		v.Players[0], v.Choices[0], cmp.Or(v.Nonces[0], "-"), v.Players[1], v.Choices[1], cmp.Or(v.Nonces[1], "-"), v.Commitment, cmp.Or(v.Key, "-"), v.Number, verdict))
}
