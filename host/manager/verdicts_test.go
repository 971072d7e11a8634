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

// TestDrawsAreCountedFromWhatPlayersSay: P01 and P02 verify their numbers, P03 cannot, and
// P04 says nothing. A referee that says it counts for nothing, and a match without a
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
		if i < 3 {
			s.judges(i < 2)
		}
	})
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	// P03 meets all three others in each of two legs; each other match has P01 or P02.
	var want league.Draws
	for _, m := range r.m.Results() {
		switch {
		case !m.Drawn:
			continue
		case slices.Contains(m.Players[:], "P03"):
			want.Unverified++
		default:
			want.Verified++
		}
		want.Drawn++
	}
	d := r.m.Draws()
	if d != want || d.Drawn != 11 || d.Unchecked() != 0 {
		t.Errorf("%+v, want %+v", d, want)
	}
	if shot := r.m.Snapshot(); shot.Draws != d {
		t.Errorf("the snapshot has %+v, want %+v", shot.Draws, d)
	}
	r.kill()
	r.open(configure)
	if after := r.m.Draws(); after != d {
		t.Errorf("after a restart %+v, want %+v", after, d)
	}
}

// TestDrawsThatNobodyChecked: without a word of the players nothing is verified.
func TestDrawsThatNobodyChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 3 })
	r.run()
	r.conductor("north", fair)
	r.fieldOf(3, func(i int, s *scripted) {
		if i == 2 {
			s.judges(true)
		}
	})
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	if d := r.m.Draws(); d.Drawn != 3 || d.Verified != 2 || d.Unchecked() != 1 {
		t.Errorf("%+v, want 2 of 3 verified and one unchecked", d)
	}
}

// TestEditsAreHeardFromPlayers: a player that names another version of its strategy than
// before has edited it. What is no name of a version counts for nothing, nor does what a
// player says for another one.
func TestEditsAreHeardFromPlayers(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 4 })
	r.run()
	r.conductor("north", fair)
	said := map[string][]string{
		"P01": {"aaaa", "bbbb", "bbbb"}, "P02": {"", "cccc", "aaaa"}, "P03": {"dddd", "<img>", strings.Repeat("d", 65)},
		"P04": {"eeee", "ffff", "eeee"}, // in the name of P01
	}
	for i, s := range r.field(3) {
		s.tells(s.id, said[[]string{"P01", "P02", "P03"}[i]])
	}
	four := r.agent(protocol.RolePlayer, "four")
	four.tells("P01", said["P04"])
	four.register()
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.events.all() {
		if e.Kind == manager.StrategyEdited {
			got = append(got, fmt.Sprint(e.Agent, " ", e.Round, " ", e.Version))
		}
	}
	slices.Sort(got)
	if want := []string{"P01 2 bbbb", "P02 3 aaaa"}; !slices.Equal(got, want) {
		t.Errorf("heard of %q, want %q", got, want)
	}
}

// TestPlayersSayWhyTheyFail: why a strategy failed is known from the player, once a round,
// bounded, and for its own id only.
func TestPlayersSayWhyTheyFail(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 3 })
	r.run()
	r.conductor("north", fair)
	said := map[string][]string{
		"P01": {"mine.lua:2: not ready", "", "mine.lua:7: nil"}, "P02": {"", strings.Repeat("x", 400), ""}, "P03": {"", "", ""},
	}
	r.fieldOf(3, func(i int, s *scripted) {
		id := []string{"P01", "P02", "P03"}[i]
		s.says(s.known, func(ack *protocol.Ack, round int) { ack.StrategyError = said[id][round-1] })
	})
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.events.all() {
		if e.Kind == manager.StrategyFailed {
			got = append(got, fmt.Sprint(e.Agent, " ", e.Round, " ", e.Error))
		}
	}
	slices.Sort(got)
	want := []string{"P01 1 mine.lua:2: not ready", "P01 3 mine.lua:7: nil", "P02 2 " + strings.Repeat("x", 300) + "..."}
	if !slices.Equal(got, want) {
		t.Errorf("heard of %q, want %q", got, want)
	}
}

// tells has a player say with the end of each round, for an id, which version chose.
func (s *scripted) tells(id string, versions []string) {
	s.says(func() string { return id }, func(ack *protocol.Ack, round int) { ack.StrategyVersion = versions[round-1] })
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
