package player_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// author supplies versions as a test edits them.
type author struct {
	edits  chan edit
	source string
	loads  func(source string) (strategies.Factory, error)
}

type edit struct {
	made   *strategy
	source string
	err    error
}

func newAuthor() *author { return &author{edits: make(chan edit, 10), source: "first"} }

func (a *author) Next(ctx context.Context) (player.Version, error) {
	select {
	case e := <-a.edits:
		return player.Version{Factory: e.made, Source: []byte(e.source)}, e.err
	case <-ctx.Done():
		return player.Version{}, ctx.Err()
	}
}

func (a *author) Load(source []byte) (strategies.Factory, error) { return a.loads(string(source)) }
func (a *author) Source() []byte                                 { return []byte(a.source) }

// learns returns a strategy that chooses by all that it has received.
func learns(fingerprint string) *strategy {
	s, received := &strategy{fingerprint: fingerprint}, 0
	s.start = func(_ context.Context, setup strategies.Setup) error { received = int(setup.Key[0] % 7); return nil }
	s.choose = func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
		received = received*3 + t.Played + t.Points + 1
		return strategies.Choice(float64(received%5) / 4), nil // mostly by the coin
	}
	s.observe = func(_ context.Context, o *strategies.Outcome) error {
		received = (received*5 + int(o.OpponentChoice) + o.Points) % 9973
		return nil
	}
	return s
}

// unedited returns the choices of the strategy in n matches without an edit.
func unedited(t *testing.T, n int) []protocol.Choice {
	t.Helper()
	return leagueState(running(t, func(r *rig) { r.s = learns("first") }), 1, n)
}

// edited makes a player of an edited strategy.
func edited(t *testing.T, a *author, change func(*rig)) *rig {
	t.Helper()
	r := running(t, func(r *rig) {
		r.s, r.cfg.Versions = learns("first"), a
		if change != nil {
			change(r)
		}
	})
	return r
}

// TestEditInMidLeague: an edited strategy has received all that came before and answers
// like one that was there from the start; which version chose is in the journal.
func TestEditInMidLeague(t *testing.T) {
	t.Parallel()
	want := unedited(t, 6)
	a := newAuthor()
	r := edited(t, a, func(r *rig) { r.cfg.Data, r.cfg.Once = t.TempDir(), true })
	got := leagueState(r, 1, 3)
	second := learns("second")
	a.edits <- edit{made: learns("first")} // the same, saved again
	a.edits <- edit{made: second, source: "other text"}
	e := r.until(player.Reloaded)
	if e.Version != "second" || e.Former != "first" || e.Replayed != 3 || e.Error != "" {
		t.Errorf("event %+v", e)
	}
	got = append(got, leagueState(r, 4, 6)...)
	if !slices.Equal(got, want) {
		t.Errorf("with an edit that changes nothing: chose %v, want %v", got, want)
	}
	must[*protocol.Ack](r, r.leagueCompleted())
	if got := r.until(player.Completed).Versions; len(got) != 2 || got[0].Version != "first" || got[0].Chosen != 3 || got[0].Ended != 3 ||
		got[1].Version != "second" || got[1].First != "R4M1" || got[1].Chosen != 3 || got[1].Ended != 3 || got[0].Points+got[1].Points == 0 {
		t.Errorf("versions at the end: %+v", got)
	}
	r.finish()
	calls := []string{"start"}
	for i := 1; i <= 6; i++ {
		id := "R" + string(rune('0'+i)) + "M1"
		calls = append(calls, "choose "+id, "observe "+id)
	}
	if got := second.log(); !slices.Equal(got, append(calls, "close", "close factory")) {
		t.Errorf("calls of the new version: %q", got)
	}
	if got := r.s.log(); !slices.Equal(got, append(slices.Clone(calls[:7]), "close")) { // its factory belongs to others
		t.Errorf("calls of the former version: %q", got)
	}
	text := r.journal()
	if n, m := strings.Count(string(text), `"version":"first"`), strings.Count(string(text), `"version":"second"`); n != 3 || m != 3 {
		t.Errorf("the journal has %d choices of the first version and %d of the second:\n%s", n, m, text)
	}
}

// TestEditThatFails: the version before plays on, and the event says why.
func TestEditThatFails(t *testing.T) {
	t.Parallel()
	want := unedited(t, 6)
	a := newAuthor()
	r := edited(t, a, nil)
	got := leagueState(r, 1, 3)
	fails := func(change func(*strategy)) *strategy {
		s := learns("broken")
		change(s)
		return s
	}
	at := &strategies.Error{Source: "scripts/mine.lua", Line: 14, Op: strategies.OpChoose, Err: errBoom}
	for i, c := range []struct {
		edit edit
		want string
	}{
		{edit{err: errors.New("scripts/mine.lua:3: load: unfinished string")}, "scripts/mine.lua:3: load: unfinished string"},
		{edit{made: fails(func(s *strategy) {
			s.start = func(context.Context, strategies.Setup) error { return errBoom }
		})}, "boom"},
		{edit{made: fails(func(s *strategy) {
			s.choose = func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
				if t.MatchID == "R2M1" {
					return 0, at
				}
				return strategies.Odd, nil
			}
		})}, "scripts/mine.lua:14: choose: boom; in match R2M1, replayed"},
		{edit{made: fails(func(s *strategy) {
			s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) { return 7, nil }
		})}, "in match R1M1, replayed"},
		{edit{made: fails(func(s *strategy) {
			s.observe = func(context.Context, *strategies.Outcome) error { panic("ouch") }
		})}, "panic: ouch; in match R1M1, replayed"},
	} {
		a.edits <- c.edit
		e := r.until(player.Kept)
		if e.Version != "first" || !strings.Contains(e.Error, c.want) {
			t.Errorf("edit %d: %+v, want the error %q", i, e, c.want)
		}
		if s := c.edit.made; s != nil && !slices.Contains(s.log(), "close factory") {
			t.Errorf("edit %d: calls %q, and the factory is not closed", i, s.log())
		}
	}
	if got = append(got, leagueState(r, 4, 6)...); !slices.Equal(got, want) {
		t.Errorf("after broken edits: chose %v, want %v", got, want)
	}
}

// TestEditMendsAFailure: a seat that is out is in again with a version that comes
// through what it failed in.
func TestEditMendsAFailure(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	r := edited(t, a, func(r *rig) {
		r.s.observe = func(context.Context, *strategies.Outcome) error { return errBoom }
	})
	leagueState(r, 1, 1)
	must[*protocol.GameJoinAck](r, r.invitation("R2M1"))
	r.refused(r.call("R2M1"), 4005, protocol.CodeInvalidState)
	a.edits <- edit{made: learns("mended")}
	r.until(player.Reloaded)
	r.refused(r.call("R2M1"), 4005, protocol.CodeInvalidState) // what is answered stays
	leagueState(r, 3, 4)
}

// TestAnswersDuringAReplay: a match that comes while a version is replayed does not
// wait for it.
func TestAnswersDuringAReplay(t *testing.T) {
	t.Parallel()
	want := unedited(t, 5)
	a := newAuthor()
	r := edited(t, a, nil)
	got := leagueState(r, 1, 2)
	slow := learns("slow")
	started, release := make(chan struct{}), make(chan struct{})
	begin := slow.start
	slow.start = func(ctx context.Context, s strategies.Setup) error {
		close(started)
		<-release
		return begin(ctx, s)
	}
	a.edits <- edit{made: slow}
	<-started
	got = append(got, leagueState(r, 3, 4)...)
	close(release)
	if e := r.until(player.Reloaded); e.Replayed != 4 {
		t.Errorf("replayed %d matches, want those that came meanwhile, too", e.Replayed)
	}
	if got = append(got, leagueState(r, 5, 5)...); !slices.Equal(got, want) {
		t.Errorf("chose %v, want %v", got, want)
	}
}

// TestEditBetweenCalls takes edits up before the league, whose seat is that of the new version,
// and after the choice of a match and before its result: the choice stays, and the new version
// observes the result.
func TestEditBetweenCalls(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	r := edited(t, a, nil)
	second, odd := learns("second"), &strategy{fingerprint: "third"}
	a.edits <- edit{made: second}
	if e := r.until(player.Reloaded); e.Replayed != 0 {
		t.Errorf("event %+v", e)
	}
	chose := r.plays("R1M1")
	a.edits <- edit{made: odd}
	r.until(player.Reloaded)
	if again := r.choice("R1M1"); again != chose {
		t.Errorf("answered %v after the edit and %v before", again, chose)
	}
	must[*protocol.Ack](r, r.over("R1M1"))
	r.wants() // of the version before the league
	for s, want := range map[*strategy][]string{
		second: {"start", "choose R1M1", "close", "close factory"}, odd: {"start", "choose R1M1", "observe R1M1"},
	} {
		if got := s.log(); !slices.Equal(got, want) {
			t.Errorf("calls of version %s: %q", s.fingerprint, got)
		}
	}
}

// TestReplayIsSilent: what was printed is not printed again.
func TestReplayIsSilent(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	var printed bytes.Buffer // by one goroutine at a time
	r := edited(t, a, func(r *rig) { r.cfg.Print = slog.New(slog.NewTextHandler(&printed, nil)) })
	leagueState(r, 1, 3)
	chatty := learns("chatty")
	var log *slog.Logger
	begin, choose := chatty.start, chatty.choose
	chatty.start = func(ctx context.Context, s strategies.Setup) error { log = s.Log; return begin(ctx, s) }
	chatty.choose = func(ctx context.Context, turn *strategies.Turn) (strategies.Choice, error) {
		log.Info("asked")
		return choose(ctx, turn)
	}
	a.edits <- edit{made: chatty}
	r.until(player.Reloaded)
	if printed.Len() > 0 {
		t.Errorf("in the replay was printed\n%s", &printed)
	}
	leagueState(r, 4, 5)
	if n := strings.Count(printed.String(), "asked"); n != 2 {
		t.Errorf("%d lines were printed in two matches", n)
	}
}

// TestRestartAfterAnEdit: the version that chose last plays, even if the file holds
// another by now; without its code the present one plays, and the agent says so.
func TestRestartAfterAnEdit(t *testing.T) {
	t.Parallel()
	want := unedited(t, 5)
	a := newAuthor()
	r := edited(t, a, func(r *rig) { r.cfg.Data = t.TempDir() })
	got := leagueState(r, 1, 2)
	a.edits <- edit{made: learns("second"), source: "second text"}
	r.until(player.Reloaded)
	got = append(got, leagueState(r, 3, 4)...)
	back := learns("second")
	a.loads = func(source string) (strategies.Factory, error) {
		if source != "second text" {
			t.Errorf("loads %q", source)
		}
		return back, nil
	}
	r.restart()
	r.start()
	if got = append(got, leagueState(r, 5, 5)...); !slices.Equal(got, want) {
		t.Errorf("chose %v, want %v", got, want)
	}
	if n := len(back.log()); n != 1+5*2 {
		t.Errorf("calls of the restored version: %q", back.log())
	}
	if err := os.RemoveAll(r.file("versions")); err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.start()
	if e := r.until(player.Reloaded); e.Version != "first" || e.Former != "second" || !strings.Contains(e.Error, "not kept") {
		t.Errorf("event %+v", e)
	}
	leagueState(r, 6, 6)
}

// TestKeptVersions: a version that chose stays in the folder, whatever comes after it, and
// one that was replaced before it chose is removed with the next.
func TestKeptVersions(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	r := edited(t, a, func(r *rig) { r.cfg.Data = t.TempDir() })
	kept := func() []string {
		t.Helper()
		files, err := os.ReadDir(r.file("versions"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		return names
	}
	leagueState(r, 1, 1)
	for _, name := range []string{"second", "third", "fourth", "fifth"} {
		if name == "fourth" {
			leagueState(r, 2, 2) // by the third
		}
		a.edits <- edit{made: learns(name), source: name + " text"}
		r.until(player.Reloaded)
	}
	if got, want := kept(), []string{"fifth", "first", "fourth", "third"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	a.loads = func(source string) (strategies.Factory, error) {
		if source != "third text" {
			t.Errorf("loads %q", source)
		}
		return learns("third"), nil
	}
	r.restart()
	r.start()
	leagueState(r, 3, 3)
	if got := kept(); !slices.Contains(got, "first") || !slices.Contains(got, "third") || slices.Contains(got, "second") {
		t.Errorf("kept %q after a restart", got)
	}
}

// said plays a match in a round and returns what the player says at its end. A foreign manager does not show the token that belongs to the player.
func (r *rig) said(round int, match string, foreign bool) *protocol.Ack {
	r.t.Helper()
	invitation, call, over, end := r.invitation(match), r.call(match), r.over(match), r.roundCompleted()
	for _, h := range []*protocol.Header{&invitation.Header, &call.Header, &over.Header, &end.Header} {
		h.RoundID = protocol.RoundNumber(round)
	}
	if foreign {
		end.AuthToken = ""
	}
	must[*protocol.GameJoinAck](r, invitation)
	must[*protocol.ChooseParityResponse](r, call)
	must[*protocol.Ack](r, over)
	return must[*protocol.Ack](r, end)
}

// TestNamesTheVersionOfAnEditedStrategy: the manager hears at the end of a round which
// version chose in it; one that is not of this program does not, and without edits nobody.
func TestNamesTheVersionOfAnEditedStrategy(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	r := edited(t, a, nil)
	if got := r.said(1, "R1M1", false).StrategyVersion; got != "first" {
		t.Errorf("the version of round 1 is %q", got)
	}
	a.edits <- edit{made: learns("second")}
	r.until(player.Reloaded)
	if got := r.said(2, "R2M1", false).StrategyVersion; got != "second" {
		t.Errorf("the version of round 2 is %q", got)
	}
	end := r.roundCompleted()
	end.RoundID = protocol.RoundNumber(3)
	if got := must[*protocol.Ack](r, end).StrategyVersion; got != "" {
		t.Errorf("the version of a round without a match is %q", got)
	}

	abroad := edited(t, newAuthor(), func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	if got := abroad.said(1, "R1M1", true).StrategyVersion; got != "" {
		t.Errorf("a foreign manager hears of version %q", got)
	}
	plain := running(t, func(r *rig) { r.s = learns("first") })
	if got := plain.said(1, "R1M1", false).StrategyVersion; got != "" {
		t.Errorf("without edits the manager hears of version %q", got)
	}
}

// TestTellsWhyItsStrategyFailed: the manager hears at the end of a round why the strategy
// failed in it; a foreign one does not.
func TestTellsWhyItsStrategyFailed(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{false, true} {
		r := running(t, func(r *rig) {
			r.s, r.cfg.Mode = learns("first"), protocol.Tolerant
			r.s.observe = func(_ context.Context, o *strategies.Outcome) error {
				if o.MatchID == "R2M1" {
					return errors.New("mine.lua:3: boom")
				}
				return nil
			}
		})
		if got := r.said(1, "R1M1", foreign).StrategyError; got != "" {
			t.Errorf("in a round without a failure it says %q", got)
		}
		if got := r.said(2, "R2M1", foreign).StrategyError; strings.Contains(got, "mine.lua:3: boom") == foreign {
			t.Errorf("foreign %t: it says %q", foreign, got)
		}
	}
}
