package peertest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
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

// examined runs the conformance suite against a program, and checks the verdict:
// what our agents can play with breaks no rule that they need.
func (w *world) examined(start func(), args ...string) {
	w.Helper()
	w.record.probing = true
	ours := w.launch(append([]string{"conformance", "--quiet", "--level", "must", "--timeout", "2s", "--wait", "20s"}, args...)...)
	start()
	w.wait(ours)
	text := ours.out.String()
	if ours.err != nil {
		w.Errorf("it ended with %v", ours.err)
	}
	if !regexp.MustCompile(`must +[1-9][0-9]* passed, 0 failed`).MatchString(text) || !strings.Contains(text, "our tolerant agents can play with it") || !strings.Contains(text, "strict agents ca") {
		w.Errorf("the verdict is not that our agents can play with it:\n%s", text)
	}
}

// TestConformanceOfManagersOfPrograms: the agents of the suite play the league of
// each program to its end, and their answers are read.
func TestConformanceOfManagersOfPrograms(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.league != nil }, func(w *world, c *course) {
		const players = 4
		c.league(w, players)
		w.examined(func() {}, "manager", c.at(), "--players", "4")
		w.checkMatches(players*(players-1)/2, c.lessons*players)
	})
}

// TestConformanceOfPlayersOfPrograms: players that our tolerant host seats break
// no rule that it needs.
func TestConformanceOfPlayersOfPrograms(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.player != nil && !c.unseated }, func(w *world, c *course) {
		w.examined(func() {
			w.listening("http://127.0.0.1:8000/mcp")
			c.player(w, "http://127.0.0.1:8000/mcp", 1)
		}, "player", playerURL(1))
	})
}

// TestConformanceOfRefereesOfPrograms: the same of referees that conduct leagues of
// our manager.
func TestConformanceOfRefereesOfPrograms(t *testing.T) {
	t.Parallel()
	leagues(t, func(c *course) bool { return c.referee != nil }, func(w *world, c *course) {
		w.examined(func() {
			w.listening("http://127.0.0.1:8000/mcp")
			c.referee(w, "http://127.0.0.1:8000/mcp")
		}, "referee", "http://127.0.0.1:8001/mcp")
	})
}

// refusals are the ways in which a program refuses everything.
var refusals = map[string]reply{
	"method not found": {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32601, "message": "Method not found"}}},
	"internal error":   {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32603, "message": "Internal error"}}},
	"invalid params":   {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32602, "message": "Sender not registered"}}},
	"refused":          {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32602, "message": "I refuse"}}},
	"token":            {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32001, "message": "no", "data": object{"error_code": "E012"}}}},
	"acknowledges all": {body: object{"jsonrpc": "2.0", "id": 1, "result": object{"status": "ok"}}},
	"not found":        {404, object{"detail": "Not Found"}},
	"unprocessable":    {422, object{"detail": []any{object{"loc": []any{"body", "league_name"}, "msg": "Field required", "type": "missing"}}}},
	"server error":     {500, "<html><body>Internal Server Error</body></html>"},
	"error":            {body: object{"error": "Unknown message type"}},
	"empty":            {body: object{}},
}

// mostWhileRefused is how many requests a server may get that refuses all of them
// in a league of three matches.
const mostWhileRefused = 150

// refuse serves a refusal on a port.
func (w *world) refuse(port int, r reply) {
	w.serve(port, func(_ string, in object) reply {
		if body, ok := r.body.(object); ok && body["jsonrpc"] != nil {
			return reply{r.status, with(body, object{"id": in["id"]})}
		}
		return r
	})
}

// bounded checks the number of requests that a server got.
func (w *world) bounded(server string) {
	w.Helper()
	w.record.mu.Lock()
	defer w.record.mu.Unlock()
	if n := w.record.number[server]; n > mostWhileRefused {
		w.Errorf("%s refuses everything, and got %d requests", server, n)
	}
}

// refusing runs a test for each way of refusing but some.
func refusing(t *testing.T, play func(w *world, r reply), but ...string) {
	t.Helper()
	var all []*course
	for _, name := range slices.Sorted(maps.Keys(refusals)) {
		if !slices.Contains(but, name) {
			all = append(all, &course{name: strings.ReplaceAll(name, " ", "-")})
		}
	}
	eachCourse(t, sample(t, all), func(w *world, c *course) { play(w, refusals[strings.ReplaceAll(c.name, "-", " ")]) })
}

// TestPlayerLeavesManagerThatRefusesEverything: our player ends by itself with an
// error.
func TestPlayerLeavesManagerThatRefusesEverything(t *testing.T) {
	t.Parallel()
	refusing(t, func(w *world, r reply) {
		w.refuse(8000, r)
		ours := w.strategylab("player", "--strategy", "random", "--manager", "http://127.0.0.1:8000/mcp", "--once")
		w.wait(ours)
		if ours.err == nil || !strings.Contains(ours.out.String(), "register") {
			w.Errorf("our player ended with %v", ours.err)
		}
		w.bounded("127.0.0.1:8000")
	}, "acknowledges all") // it may be about to say who the player is, so it is waited for
}

// TestHostOutlivesPlayerThatRefusesEverything: the league is complete, and the
// player has lost its matches.
func TestHostOutlivesPlayerThatRefusesEverything(t *testing.T) {
	t.Parallel()
	refusing(t, func(w *world, r reply) {
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--field", "random,alternate", "--players", "3", "--format", "json", "--retry-delay", "200ms", "--join-timeout", "500ms")
		w.prints(ours, `"P02"`)
		w.refuse(8103, r)
		w.post("http://127.0.0.1:8000/mcp", rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", "player:P03"), signup("No", 3)), 1))
		w.wait(ours)
		l := ours.league()
		if absent := fmt.Sprint(l.matches); len(l.matches) != 3 || !l.completed || strings.Count(absent, "P03") != 2 {
			w.Errorf("completed: %v, without a choice: %v", l.completed, absent)
		}
		w.bounded("127.0.0.1:8103")
	}, "acknowledges all") // it may be about to choose, so it is waited for
}

// TestManagerReplacesRefereeThatRefusesEverything: its matches go to another, and the manager says why.
func TestManagerReplacesRefereeThatRefusesEverything(t *testing.T) {
	t.Parallel()
	refusing(t, func(w *world, r reply) {
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--field", "random,alternate,frequency", "--players", "4", "--format", "json", "--retry-delay", "200ms", "--join-timeout", "1s")
		w.prints(ours, `"P03"`)
		w.refuse(8002, r)
		w.post("http://127.0.0.1:8000/mcp", rpc("register_referee", with(head("REFEREE_REGISTER_REQUEST", "referee:REF02"), object{
			"referee_meta": object{"display_name": "No", "version": "1.0.0", "game_types": []any{"even_odd"}, "contact_endpoint": "http://localhost:8002/mcp", "max_concurrent_matches": 20},
		}), 1))
		ports().player(w, "http://127.0.0.1:8000/mcp", 4)
		w.wait(ours)
		w.checkHosted(ours, 4)
		w.bounded("127.0.0.1:8002")
		if !strings.Contains(ours.out.String(), `"referee_unable"`) && r.status != 500 { // which says that nobody is there
			w.Error("nobody says that the referee conducts nothing")
		}
	})
}
