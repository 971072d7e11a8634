package player_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestUnsaidEnd: where a manager never says that the league is over, its schedule shows it
// within seconds, and its table after a longer silence; one that leaves matches open does not.
func TestUnsaidEnd(t *testing.T) {
	t.Parallel()
	match := func(id, a, b, status string) protocol.ScheduledMatch {
		return protocol.ScheduledMatch{MatchID: id, PlayerAID: a, PlayerBID: b, Status: status}
	}
	schedule := func(matches ...protocol.ScheduledMatch) any {
		return protocol.ScheduleData{Rounds: []protocol.ScheduledRound{{RoundID: protocol.RoundNumber(1), Matches: matches}}}
	}
	table := func(played ...int) any {
		var rows []protocol.Standing
		for i, n := range played {
			rows = append(rows, protocol.Standing{Rank: i + 1, PlayerID: []string{"P01", "P02", "P03"}[i], Played: protocol.Some(n), Points: 3 * n})
		}
		return protocol.StandingsData{Standings: rows}
	}
	for name, tt := range map[string]struct {
		query string
		data  any
		after time.Duration // 0: not within a minute
	}{
		"a schedule that is over":     {protocol.QuerySchedule, schedule(match("R1M1", "P01", "P02", "FINISHED")), 5 * time.Second},
		"a schedule without statuses": {protocol.QuerySchedule, schedule(match("R1M1", "P02", "P01", ""), match("R1M2", "P03", "P04", "")), 5 * time.Second},
		"another own match":           {protocol.QuerySchedule, schedule(match("R1M1", "P01", "P02", "FINISHED"), match("R2M1", "P01", "P02", "PENDING")), 0},
		"a match of others":           {protocol.QuerySchedule, schedule(match("R1M1", "P01", "P02", "FINISHED"), match("R1M2", "P03", "P04", "RUNNING")), 0},
		"a table that is full":        {protocol.QueryStandings, table(1, 1), 20 * time.Second},
		"a table of three":            {protocol.QueryStandings, table(1, 1, 0), 0},
		"neither":                     {protocol.QueryPlayers, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := running(t, func(r *rig) {
					r.cfg.Mode, r.cfg.League, r.cfg.Watch = protocol.Tolerant, nil, time.Hour
					r.manager.queries[tt.query] = func(*protocol.LeagueQuery) (any, error) { return tt.data, nil }
				})
				r.plays("R1M1")
				must[*protocol.Ack](r, r.over("R1M1"))
				over := func() (said bool) {
					for len(r.events) > 0 {
						e := <-r.events
						said = said || e.Kind == player.Completed && e.Standing.Played == 1
					}
					return said
				}
				if tt.after == 0 {
					tt.after = time.Hour
				}
				time.Sleep(min(tt.after, time.Minute) - time.Second)
				if over() {
					t.Errorf("the league is over before %v", tt.after)
				}
				if time.Sleep(2 * time.Second); over() != (tt.after < time.Minute) {
					t.Errorf("over after %v: %v", tt.after, tt.after >= time.Minute)
				}
				r.quit()
				synctest.Wait()
			})
		})
	}
}
