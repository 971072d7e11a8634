package peertest

import (
	"regexp"
	"strings"
	"testing"
)

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
