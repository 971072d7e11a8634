package conformance

import (
	"github.com/strategylab/strategylab/host/protocol"
)

// hostileChecks are about input that no good peer sends.
func hostileChecks() []Check {
	valid := func(t *T) letter {
		p := playerT{t, t.side.(*playerSide)}
		return letter{message: p.invitation(p.bout()), dialect: p.dialect}
	}
	bad := func(name, what, advice string, edit func(m map[string]any)) attack {
		return attack{name, Should, what, advice, 0, memberAttack(edit)}
	}
	all := append(attacks(protocol.TypeGameInvitation, "notify_match_result"),
		bad("match", "An invitation without match_id", "Check that match_id is there, and answer -32602 (E003).", func(m map[string]any) { delete(m, "match_id") }),
		bad("wrongtype", "An invitation whose match_id is a number", "Check that match_id is a string, and answer -32602 (E006).", with("match_id", 7)),
		bad("path", "An invitation whose match_id is a path",
			"Check ids against ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$ before they are used, above all in file names; answer -32602 (E006).", with("match_id", "../../R1M1")),
		bad("game", "An invitation to another game than even_odd", "Compare game_type with even_odd, and refuse others (2004, E045).", with("game_type", "chess")),
	)
	return append(attackChecks(Player, all, valid), Check{
		ID: "player.hostile.then", Level: Must, Needs: []string{joinAnswered, choiceAnswered},
		Rule:   "After all that, the player plays on.",
		Advice: "Let no input end or block the process: handle each request apart, and release locks when one fails.",
		run:    forPlayer(func(p playerT) { p.called() }),
	})
}
