package manager_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// judges has a player say with every end of a round whether it could verify its number.
func (s *scripted) judges(verified bool) {
	s.says(s.known, func(ack *protocol.Ack, _ int) { ack.DrawVerified = protocol.Some(verified) })
}

// TestDrawsAreCountedFromWhatPlayersSay: P01 verifies its numbers, P03 cannot, and
// P02 and P04 say nothing. A referee that says it counts for nothing, and a match without a
// number is no draw. The counts survive the manager.
func TestDrawsAreCountedFromWhatPlayersSay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	configure := func(c *manager.Config) { c.Players, c.Legs, c.DataDir = 4, 2, dir }
	r := newRig(t, configure)
	r.run()
	referee := r.conductor("north", func(m protocol.AnnouncedMatch) protocol.MatchResult {
		if m.MatchID == "R6M2" {
			return result(m, game.Even, game.NoParity, 0)
		}
		return fair(m)
	})
	referee.judges(false)
	r.fieldOf(4, func(i int, s *scripted) {
		if i%2 == 0 {
			s.judges(i == 0)
		}
	})
	r.finish()
	var want league.Draws
	for _, m := range r.m.Results() {
		switch {
		case !m.Drawn:
			continue
		case slices.Contains(m.Players[:], "P03"):
			want.Unverified++
		case slices.Contains(m.Players[:], "P01"):
			want.Verified++
		}
		want.Drawn++
	}
	d := r.m.Draws()
	if d != want || d.Drawn != 11 || d.Unchecked() == 0 {
		t.Errorf("%+v, want %+v", d, want)
	}
	r.kill()
	r.open(configure)
	if after := r.m.Draws(); after != d {
		t.Errorf("after a restart %+v, want %+v", after, d)
	}
}

// TestPlayersSayWhatBecameOfTheirStrategy: a player that names another version of its
// strategy than before has edited it, and why it failed is known once a round, bounded. What
// is no name of a version counts for nothing, nor does what a player says for another one.
func TestPlayersSayWhatBecameOfTheirStrategy(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 4 })
	r.run()
	r.conductor("north", fair)
	versions := [][]string{{"aaaa", "bbbb", "bbbb"}, {"", "cccc", "aaaa"}, {"dddd", "<img>", strings.Repeat("d", 65)}, {"eeee", "ffff", "eeee"}}
	failures := [][]string{{"mine.lua:2: not ready", "", "mine.lua:7: nil"}, {"", strings.Repeat("x", 400), ""}, {"", "", ""}, {"a", "b", "c"}}
	r.fieldOf(4, func(i int, s *scripted) {
		id := s.known
		if i == 3 {
			id = func() string { return "P01" } // in the name of another
		}
		s.says(id, func(ack *protocol.Ack, round int) {
			ack.StrategyVersion, ack.StrategyError = versions[i][round-1], failures[i][round-1]
		})
	})
	r.finish()
	for kind, want := range map[manager.EventKind][]string{
		manager.StrategyEdited: {"P01 2 bbbb", "P02 3 aaaa"},
		manager.StrategyFailed: {"P01 1 mine.lua:2: not ready", "P01 3 mine.lua:7: nil", "P02 2 " + strings.Repeat("x", 300) + "..."},
	} {
		var got []string
		for _, e := range r.told(kind) {
			got = append(got, fmt.Sprint(e.Agent, " ", e.Round, " ", e.Version, e.Error))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: heard of %q, want %q", kind, got, want)
		}
	}
}

// says has an agent acknowledge the end of each round for an id, with what fill adds.
func (s *scripted) says(id func() string, fill func(ack *protocol.Ack, round int)) {
	s.on(protocol.TypeRoundCompleted, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		h := in.Header
		ack := &protocol.Ack{
			Header: protocol.NewHeader(in.Type.Answer(), protocol.Sender(s.role, s.known()), h.Timestamp, h.ConversationID),
			Status: protocol.StatusAcknowledged, PlayerID: id(),
		}
		fill(ack, h.RoundID.Number())
		return ack, nil
	})
}
