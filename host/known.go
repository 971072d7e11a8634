package host

import (
	"cmp"
	"os"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
)

// known is what the players of a league can be told of it beforehand, all of
// them at once; nil if there will be others, who may take any id, or if the
// league has begun in an earlier process. It spares asking the manager, whose
// schedule of a large league is long.
func (l *League) known() *player.League {
	if dir := l.Manager.DataDir; dir != "" {
		if _, err := os.Stat(manager.JournalName(dir, cmp.Or(l.Manager.LeagueID, "league"))); err == nil {
			return nil
		}
	}
	for i, s := range l.Seats {
		if s.ID != "" && s.ID != game.PlayerID(i) {
			return nil
		}
	}
	legs := max(1, l.Manager.Legs)
	schedule, err := game.NewSchedule(len(l.Seats), legs)
	if err != nil || l.Manager.Players != len(l.Seats) {
		return nil
	}
	return knownLeague(schedule, len(l.Seats), legs)
}

func knownLeague(s *game.Schedule, players, legs int) *player.League {
	known := &player.League{Rounds: s.Rounds(), Legs: legs, Index: make(map[string]int, len(s.Matches()))}
	for seat := range players {
		known.Field = append(known.Field, game.PlayerID(seat))
	}
	for _, m := range s.Matches() {
		known.Index[m.ID] = m.Index
	}
	return known
}
