package strategytest_test

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// known is nil for a text that is empty because nobody told it.
func known(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func setupObject(s strategies.Setup, bug string) object {
	players := slices.Clone(s.Field)
	legs := s.Legs
	switch bug {
	case "live-field":
		players = s.Field
	case "no-legs":
		legs = 0
	}
	return object{"id": s.ID, "name": s.Name, "players": players, "rounds": s.Rounds, "legs": legs}
}

func turnObject(t *strategies.Turn, bug string) object {
	o := object{
		"match_id": known(t.MatchID), "round": t.Round, "opponent": known(t.Opponent), "role": known(t.Role.String()),
		"played": t.Played, "wins": t.Wins, "draws": t.Draws, "losses": t.Losses, "points": t.Points,
	}
	switch bug {
	case "live-turn":
		o["host"] = t
	case "empty-opponent":
		o["opponent"] = t.Opponent
	case "lower-role":
		o["role"] = strings.ToLower(t.Role.String())
	}
	return o
}

func outcomeObject(out *strategies.Outcome, bug string) object {
	o := object{
		"match_id": out.MatchID, "round": out.Round, "opponent": known(out.Opponent), "role": known(out.Role.String()),
		"result": known(out.Result.String()), "points": out.Points,
	}
	if out.Choice != game.NoParity {
		o["choice"] = out.Choice.String()
	}
	if out.OpponentChoice != game.NoParity || bug == "empty-choice" {
		o["opponent_choice"] = out.OpponentChoice.String()
	}
	if out.Drew && (out.Number != 0 || bug != "zero-absent") {
		o["drawn_number"] = out.Number
	}
	switch bug {
	case "live-outcome":
		o["host"] = out
	case "wire-result":
		o["result"] = strings.ToUpper(out.Result.String())
	}
	return o
}
