package conformance

import (
	"maps"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// faultChecks are about matches that a player loses by its own doing.
func faultChecks() []Check {
	lost := func(scene string) func(p refereeT, look func(h *heard, o outcome)) {
		return func(p refereeT, look func(h *heard, o outcome)) {
			d := p.scene(scene)
			over, report := p.one(d, protocol.TypeGameOver, sideB), p.one(d, protocol.TypeMatchResultReport, atManager)
			look(over, over.told())
			look(report, report.reported())
		}
	}
	declined := lost("declined")
	return []Check{
		duelCheck("fault.declined", Must, "accept false is a forfeit: the player is not asked again, and takes a technical loss (league.v2, the game).", "Read accept; end the match with status TECHNICAL_LOSS.",
			func(p refereeT) { p.losesAtOnce("declined", protocol.TypeGameInvitation) }),
		duelCheck("fault.invalid", Must, "A choice that is not exactly even or odd is a technical loss at once (league.v2, errors, E004).", "Compare with the two words; do not change the case.",
			func(p refereeT) { p.losesAtOnce("invalid", protocol.TypeChooseParityCall) }),
		duelCheck("fault.score", Must, "After a technical loss the opponent is the winner, with 3 points to 0 (league.v2, the game).", "Name the opponent in winner and winner_player_id.",
			func(p refereeT) {
				winner, score := wonBy(sideB)
				declined(p, func(h *heard, o outcome) {
					if o.winner != winner || h.who == atManager && !maps.Equal(o.score, score) {
						p.show(h)
						p.Fail("%s did not join; the winner is %q in %s, want %q; score is %v, want %v", playerIDs[sideA], o.winner, h.Type, winner, o.score, score)
					}
				})
			}),
		duelCheck("fault.nodraw", Should, "A technical loss draws no number: drawn_number and number_parity are null, and choices hold only those that were made (league.v2, the game).", "Write null.",
			func(p refereeT) {
				declined(p, func(h *heard, o outcome) {
					if o.drawn || o.parity != "" || len(o.choices) > 0 {
						p.show(h)
						p.Fail("%s tells the number %d, %q, with the choices %v", h.Type, o.number, o.parity, o.choices)
					}
				})
			}),
		duelCheck("fault.names", Should, "technical_loss_player_ids names who was at fault (GAME_OVER, MATCH_RESULT_REPORT).", "Add the list to game_result and to details.",
			func(p refereeT) {
				declined(p, func(h *heard, o outcome) {
					if !slices.Equal(o.atFault, playerIDs[:1]) {
						p.show(h)
						p.Fail("technical_loss_player_ids of %s is %v, want %v", h.Type, o.atFault, playerIDs[:1])
					}
				})
			}),
		duelCheck("fault.both", Must, "Where both players are at fault, both lose: winner null, 0 points each (league.v2, the game).", "Judge both sides, and name neither as winner.",
			func(p refereeT) {
				lost("both")(p, func(h *heard, o outcome) {
					if o.status != protocol.StatusTechnicalLoss || o.winner != "" || h.who == atManager && !maps.Equal(o.score, map[string]int{playerIDs[0]: 0, playerIDs[1]: 0}) {
						p.show(h)
						p.Fail("neither player joined: status is %q, winner is %q, score is %v in %s", o.status, o.winner, o.score, h.Type)
					}
				})
			}),
		duelCheck("fault.join", Must, "A player that does not answer the invitation loses the match once the retries are spent (league.v2, timeouts; 5 s by default).", "Give each attempt a deadline, and the whole an end.",
			func(p refereeT) { p.losesInSilence("silent", protocol.TypeGameInvitation) }),
		duelCheck("fault.choice", Must, "A player that does not answer the call loses the match once the retries are spent (league.v2, timeouts; 30 s by default).", "Give each attempt a deadline, and the whole an end.",
			func(p refereeT) { p.losesInSilence("mute", protocol.TypeChooseParityCall) }),
	}
}

// losesAtOnce ends the check unless the first player has lost without having
// been asked again.
func (p refereeT) losesAtOnce(scene string, asked protocol.Type) {
	d := p.scene(scene)
	if list := p.all(d, asked, sideA); len(list) > 1 {
		p.show(list[0])
		p.show(list[1])
		p.Fail("player %s was sent %s %s", playerIDs[sideA], asked, times(len(list)))
	}
	p.lost(d)
}

func (p refereeT) losesInSilence(scene string, asked protocol.Type) {
	d := p.stage(scene)
	p.begunWithin(func() bool { return d.count(asked, sideA) > 1 || d.count(protocol.TypeGameOver, sideB) > 0 })
	if list := p.all(d, asked, sideA); len(list) > 1 && list[1].At.Sub(list[0].At) > p.patience() {
		p.tooLong() // the match began long ago
	}
	p.ends(d)
	p.lost(d)
}

// lost ends the check unless the first player has lost by its fault.
func (p refereeT) lost(d *duel) {
	h := p.one(d, protocol.TypeGameOver, sideB)
	if o := h.told(); o.status != protocol.StatusTechnicalLoss {
		p.Fail("status is %q, want %q", o.status, protocol.StatusTechnicalLoss)
	}
}
