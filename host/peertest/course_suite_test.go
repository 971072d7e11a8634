package peertest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// courses are the programs of the suite.
func courses() []*course {
	return []*course{integers(), adopting(), ports(), requests(), tools(), bare(), messages(), fixed(), counting(), quiet(), assigning(), terse()}
}

// abreast limits the leagues that are played at the same time: they wait more than
// they compute, so there are more than go test would have.
var abreast = make(chan struct{}, 12)

// sample returns all of a list in the whole pass, and in a plain run every third, which are others
// from test to test.
func sample[T any](t testing.TB, all []T) (some []T) {
	step := sampleOrAll(3, 1)
	for i := len(t.Name()) % step; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// leagues runs a test for each program that has a part, several at once.
func leagues(t *testing.T, has func(c *course) bool, play func(w *world, c *course)) {
	t.Helper()
	eachCourse(t, sample(t, slices.DeleteFunc(courses(), func(c *course) bool { return !has(c) })), play)
}

// eachCourse runs a test for each program, several at once.
func eachCourse(t *testing.T, list []*course, play func(w *world, c *course)) {
	t.Helper()
	build(t)
	var all sync.WaitGroup
	defer all.Wait()
	for _, c := range list {
		all.Go(func() {
			abreast <- struct{}{}
			defer func() { <-abreast }()
			t.Run(c.name, func(t *testing.T) { play(newWorld(t), c) })
		})
	}
}

// TestPlayerCompletesLeaguesOfPrograms: our player, which knows only where the
// manager is, takes the last place in a league of each program and plays all its
// matches.
func TestPlayerCompletesLeaguesOfPrograms(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.league != nil }, func(w *world, c *course) {
		const players = 4
		w.native = true
		c.league(w, players)
		join := func() {
			for n := range players - 1 {
				c.player(w, c.at(), n+1)
			}
		}
		if !c.first {
			join()
		}
		args := []string{"player", "--strategy", "random", "--manager", c.at(), "--once"}
		ours := w.strategylab(args...)
		if c.first {
			w.prints(ours, "registered as")
			join()
		}
		w.spawn(func() {
			<-ours.ended
			w.note(func() { w.left = true })
		})
		if w.await(func() bool { return w.complete || w.left }); w.played() < players*(players-1)/2 {
			w.Fatalf("the league is not over: %d matches", len(w.outcomes))
		}
		if c.endless {
			w.stop(ours)
		} else {
			w.wait(ours)
		}
		if ours.err != nil {
			w.Errorf("our player ended with %v", ours.err)
		}
		w.checkMatches(players*(players-1)/2, c.lessons)
		w.audited(ours)
	})
}

// checkMatches checks that all matches were played, and without technical losses
// beyond a number.
func (w *world) checkMatches(matches, losses int) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.outcomes) != matches {
		w.Errorf("%d of %d matches", len(w.outcomes), matches)
	}
	var absent []string
	for id, o := range w.outcomes {
		for side, choice := range o.choices {
			if choice == "" {
				absent = append(absent, fmt.Sprintf("%s: %s", id, o.ids[side]))
			}
		}
	}
	slices.Sort(absent)
	if len(absent) > losses {
		w.Errorf("technical losses, want at most %d: %q", losses, absent)
	}
}

// TestHostSeatsPlayersOfPrograms: three players of each program play a league of
// our tolerant host without a technical loss.
func TestHostSeatsPlayersOfPrograms(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.player != nil && !c.unseated }, func(w *world, c *course) {
		const players = 3
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--players", fmt.Sprint(players), "--format", "json")
		w.prints(ours, "listening")
		for n := range players {
			c.player(w, "http://127.0.0.1:8000/mcp", n+1)
		}
		w.wait(ours)
		w.checkHosted(ours, players)
	})
}

// TestHostSeatsPlayersOfAllProgramsAtOnce: the same in one league.
func TestHostSeatsPlayersOfAllProgramsAtOnce(t *testing.T) {
	t.Parallel()
	list := sample(t, slices.DeleteFunc(courses(), func(c *course) bool { return c.player == nil || c.unseated }))
	eachCourse(t, []*course{{name: "all"}}, func(w *world, _ *course) {
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--players", fmt.Sprint(len(list)), "--format", "json")
		w.prints(ours, "listening")
		for i, c := range list {
			c.player(w, "http://127.0.0.1:8000/mcp", i+1)
		}
		w.wait(ours)
		w.checkHosted(ours, len(list))
	})
}

// checkHosted checks a league of our host: complete, without technical losses,
// and consistent with the rules.
func (w *world) checkHosted(ours *command, players int) {
	w.Helper()
	if ours.err != nil {
		w.Errorf("our host ended with %v", ours.err)
	}
	l := ours.league()
	if want := players * (players - 1) / 2; len(l.matches) != want || !l.completed {
		w.Errorf("%d of %d matches, completed: %v", len(l.matches), want, l.completed)
	}
	for id, absent := range l.matches {
		if len(absent) > 0 {
			w.Errorf("%s: no choice of %v", id, absent)
		}
	}
	w.audited(ours)
}

// TestProgramsPlayAmongThemselves: the programs of the suite are correct. Each
// completes its league with players of its own.
func TestProgramsPlayAmongThemselves(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.league != nil }, func(w *world, c *course) {
		const players = 4
		w.native = true
		c.league(w, players)
		for n := range players {
			c.player(w, c.at(), n+1)
		}
		w.note(func() { w.ready = true })
		w.await(func() bool { return w.complete })
		w.checkMatches(players*(players-1)/2, 0)
	})
}

// TestRefereesOfProgramsUnderOurManager: a referee of each program that takes
// matches from others conducts a league of our players under our manager.
func TestRefereesOfProgramsUnderOurManager(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.referee != nil }, func(w *world, c *course) {
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--referees", "0", "--field", "random,alternate,frequency", "--players", "3", "--format", "json")
		w.prints(ours, `"P03"`)
		c.referee(w, "http://127.0.0.1:8000/mcp")
		w.wait(ours)
		w.checkHosted(ours, 3)
	})
}
