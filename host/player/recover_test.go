package player_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal/journaltest"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// learner chooses by all that it has received, so that one that was rebuilt
// wrongly shows.
func learner(r *rig) {
	told := 0
	r.s.start = func(context.Context, strategies.Setup) error { told = 0; return nil }
	r.s.choose = func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
		told = told*3 + t.Played + 1
		return strategies.Choice(told % 2), nil
	}
	r.s.observe = func(_ context.Context, o *strategies.Outcome) error {
		told = told*5 + int(o.OpponentChoice) + o.Points
		return nil
	}
}

// leagueState plays matches from the i-th to the n-th and returns the choices.
func leagueState(r *rig, from, to int) []protocol.Choice {
	var out []protocol.Choice
	for i := from; i <= to; i++ {
		id := "R" + string(rune('0'+i)) + "M1"
		out = append(out, r.plays(id))
		over := r.over(id)
		if i%2 == 0 {
			over.GameResult.WinnerPlayerID = protocol.Some("P02")
		}
		must[*protocol.Ack](r, over)
		must[*protocol.Ack](r, r.roundCompleted())
	}
	return out
}

// TestCrashOfAPlayer cuts the journal after each of its events and within each, as a crash
// would, and goes on: what was answered stays, and the strategy is where it was.
func TestCrashOfAPlayer(t *testing.T) {
	t.Parallel()
	whole := running(t, learner)
	want := leagueState(whole, 1, 5)

	first := running(t, func(r *rig) { learner(r); r.cfg.Data = t.TempDir() })
	leagueState(first, 1, 3)
	first.stop()
	first.finish()
	full := first.journal()
	if info, err := os.Stat(first.file("journal")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the journal holds the token and has the mode %v (%v)", info.Mode(), err)
	}
	if n := bytes.Count(full, []byte("\n")); n != 1+3*3 {
		t.Fatalf("%d events in the journal:\n%s", n, full)
	}
	cuts := journaltest.Cuts(full, os.Getenv("LONG_TESTS") != "")
	for _, cut := range cuts {
		dir := t.TempDir()
		path := filepath.Join(dir, "data", "players", "Ada", "journal")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, full[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, func(r *rig) { learner(r); r.cfg.Data, r.cfg.Mode = dir, protocol.Tolerant }) // which repeats choices of matches that are over
		r.start()
		if len(journaltest.Whole(full[:cut])) == 0 || r.cfg.Endpoint != first.cfg.Endpoint {
			r.until(player.Registered)
		}
		got := leagueState(r, 1, 5)
		if !slices.Equal(got, want) {
			t.Errorf("cut at byte %d: chose %v, want %v", cut, got, want)
		}
		// The strategy of a player that was restarted lives through each match once.
		if n := len(r.s.log()); n != 1+5*2 {
			t.Errorf("cut at byte %d: calls %q", cut, r.s.log())
		}
	}
	t.Logf("crash: player: journal cut at %d places, with the same choices after each", len(cuts))
}

// TestRestartAfterTheInvitation: a player that has joined and comes back before
// it is called is still in the match, even where it must have been invited, and
// its strategy is told all that the invitation said. A repeated invitation is
// not written down again.
func TestRestartAfterTheInvitation(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Data = t.TempDir() })
	invitation := r.invitation("R1M1")
	invitation.RoleInMatch = protocol.PlayerB
	for range 3 {
		must[*protocol.GameJoinAck](r, invitation)
	}
	r.restart()
	r.run()
	r.choice("R1M1")
	if got := r.s.turns[0]; got.Role != game.RoleB || got.Opponent != "P02" || got.Round != 1 {
		t.Errorf("the strategy received %+v", got)
	}
	text := r.journal()
	if n := bytes.Count(text, []byte(" invited ")); n != 1 {
		t.Errorf("%d invitations in the journal:\n%s", n, text)
	}
}

// TestRestartTellsTheEndpoint: a player that is back where others would not
// look for it says so, under its token.
func TestRestartTellsTheEndpoint(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Data = t.TempDir() })
	r.plays("R1M1")
	r.restart()
	r.run()
	got := r.manager.registrations()
	if len(got) != 2 || got[1].AuthToken != r.manager.token || got[1].Sender != "player:P01" || got[1].Meta.ContactEndpoint != r.url {
		t.Fatalf("registrations %+v", got)
	}
	r.choice("R1M1")
	r.wants("start", "choose R1M1", "close")
}

// TestRestartAfterAFault keeps a failure as it keeps a choice.
func TestRestartAfterAFault(t *testing.T) {
	t.Parallel()
	fail := true
	r := running(t, func(r *rig) {
		r.cfg.Data = t.TempDir()
		r.s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) {
			if fail {
				return 0, errBoom
			}
			return strategies.Odd, nil
		}
	})
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	r.refused(r.call("R1M1"), 4005, protocol.CodeInvalidState)
	fail = false
	r.restart()
	r.run()
	r.refused(r.call("R1M1"), 4005, protocol.CodeInvalidState)
	if got := r.p.Faults()["R1M1"].Fault; got != game.FaultError {
		t.Errorf("fault %v", got)
	}
}

// TestRestartAfterTheEnd starts a new league if the journal's league is over.
func TestRestartAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Data, r.cfg.Once = t.TempDir(), true })
	leagueState(r, 1, 1)
	must[*protocol.Ack](r, r.leagueCompleted())
	r.finish()
	r.quit()
	r.open()
	if r.p.ID() != "" {
		t.Errorf("still %s of a league that is over", r.p.ID())
	}
	r.run()
	leagueState(r, 1, 1)
	r.wants("start", "choose R1M1", "observe R1M1", "close", "start", "choose R1M1", "observe R1M1")
}

// TestKilledBeforeItHadLeft: a player that is to leave when its league is over, and was killed
// between the two, does so from its journal, without its manager.
func TestKilledBeforeItHadLeft(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Data, r.cfg.Once = t.TempDir(), true })
	leagueState(r, 1, 1)
	must[*protocol.Ack](r, r.leagueCompleted())
	r.finish()
	r.quit()
	lines := bytes.SplitAfter(r.journal(), []byte("\n"))
	if last := lines[len(lines)-2]; !bytes.Contains(last, []byte(" left ")) {
		t.Fatalf("the journal ends with %s", last)
	}
	if err := os.WriteFile(r.file("journal"), bytes.Join(lines[:len(lines)-2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(r.manager.registrations())
	r.open()
	r.start()
	r.finish()
	if e := r.until(player.Completed); e.Standing.Played != 1 || len(r.manager.registrations()) != before {
		t.Errorf("it ended with %+v, and registered again: %v", e, len(r.manager.registrations()) != before)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Data, r.cfg.Name = t.TempDir(), "Ada Lovelace" })
	file := filepath.Join(r.cfg.Data, "data", "players", "P01", "history.json")
	r.plays("R1M1")
	must[*protocol.Ack](r, r.over("R1M1"))
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := json.Compact(&out, text); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	one := `{"match_id":"R1M1","round_id":1,"opponent_id":"P02","my_choice":"even","opponent_choice":"odd","drawn_number":8,"result":"win","points":3}`
	if got := read(); got != `{"matches":[`+one+`],"player_id":"P01"}` {
		t.Errorf("history: %s", got)
	}
	must[*protocol.GameJoinAck](r, r.invitation("R1M2"))
	over := r.over("R1M2")
	technical(over, "", map[string]protocol.Choice{}, "P01", "P02")
	must[*protocol.Ack](r, over)
	r.stop()
	r.finish()
	if got := read(); !strings.Contains(got, one) || !strings.Contains(got, `{"match_id":"R1M2","round_id":1,"opponent_id":"P02","drawn_number":null,"result":"technical_loss","points":0}`) {
		t.Errorf("history at the end: %s", got)
	}
	if _, err := os.Stat(filepath.Join(r.cfg.Data, "data", "players", "Ada-Lovelace", "journal")); err != nil {
		t.Error(err)
	}
}
