package peertest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	draws    = flag.Int("draws", drawsFromEnv("PEERTEST_DRAWS", sampleOrAll(4, 12)), "number of drawn leagues, and of leagues of drawn players")
	drawSeed = flag.Int("draw-seed", drawsFromEnv("PEERTEST_SEED", 1), "seed of the first draw; the others follow it")
)

// drawsFromEnv returns a number from the environment, for runs of all packages.
func drawsFromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// sampleOrAll returns the second number if nothing is to be left out.
func sampleOrAll(sample, all int) int {
	if os.Getenv("WHOLE_TESTS") != "" {
		return all
	}
	return sample
}

// inLeague is how long a drawn league may take: all of it answers at once.
const inLeague = 40 * time.Second

// playersDrawn is the number of players in a drawn league.
const playersDrawn = 4

// drawnLeague is a league of a drawn program.
type drawnLeague struct {
	*world
	league *league
	style  *style
	own    []*contestant
}

func newDrawnLeague(t testing.TB, s *style) *drawnLeague {
	w := newWorld(t)
	w.limit(inLeague)
	d := &drawnLeague{world: w, league: foreignIn(w, w, s), style: s}
	d.league.expected = playersDrawn
	w.Cleanup(func() { d.league.note(func() { d.league.left = true }) })
	d.league.judge.patience = 5 * time.Second // as the course has it
	return d
}

// seat starts player n of the program and registers it.
func (d *drawnLeague) seat(n int) {
	name := fmt.Sprintf("Team %d", n)
	if d.style.assigns == "sender" || d.style.assigns == "honour" {
		name = playerID(n)
	}
	c := contestIn(d, d.world, 8100+n, d.style, name, habit(n))
	c.flat = d.style.lists
	if err := c.register(d.ctx, d.league.manager.url); err != nil {
		d.Fatal(err)
	}
	d.own = append(d.own, c)
}

// losses returns the matches of a player in which it lost by technical loss, and
// the number of its matches.
func losses(reports map[string]object, id string) (lost []string, matches int) {
	for match, r := range reports {
		result, _ := r["result"].(object)
		if score := inner(result, "score"); score[id] == nil {
			continue
		}
		matches++
		if absent, _ := r["technical_loss_player_ids"].([]any); slices.Contains(absent, any(id)) {
			lost = append(lost, match)
		}
	}
	slices.Sort(lost)
	return lost, matches
}

// playDrawn plays a league of a drawn program: with players of its own or, at the
// last place, with ours.
func playDrawn(t testing.TB, s *style, ours bool) {
	const players = playersDrawn
	d := newDrawnLeague(t, s)
	played := make(chan map[string]object, 1) // it may begin within the last registration
	d.spawn(func() { played <- d.league.play(d.ctx, players, 0) })
	first := 1
	if s.latecome {
		first = 2
	}
	others := func() {
		for n := range players - 1 {
			d.seat(first + n)
		}
	}
	if !s.latecome {
		others()
	}
	var guest *command
	if ours {
		url := d.league.manager.url
		if !slices.Contains(guessed, s.path) { // its README says where it is, more or less
			url = strings.TrimSuffix(url, s.path) + "/mcp"
		}
		guest = d.strategylab("player", "--strategy", "random", "--manager", url, "--once")
		d.spawn(func() {
			<-guest.ended
			d.league.note(func() { d.league.left = true })
		})
		if s.latecome {
			d.prints(guest, "registered as")
		}
		defer d.startedBy(url)()
	} else {
		d.league.note(func() { d.league.started = s.start != "within" })
		d.seat(map[bool]int{false: players, true: 1}[s.latecome])
	}
	if s.latecome {
		others()
	}
	reports := <-played
	if reports == nil {
		d.Fatalf("the league is not complete%s", guest.lastWords())
	}
	d.league.mu.Lock()
	all := slices.Clone(d.league.players)
	d.league.mu.Unlock()
	if len(all) != players {
		d.Errorf("%d registrations: %v", len(all), all)
	}
	allowed := 0
	if ours {
		allowed = lessonsOf(s)
		if s.endless {
			d.stop(guest)
		} else {
			d.wait(guest)
		}
		if guest.err != nil {
			d.Errorf("our player ended with %v", guest.err)
		}
		d.audited(guest)
	}
	for _, r := range all {
		lost, matches := losses(reports, r.id)
		if len(lost) > allowed || matches == 0 {
			d.Errorf("%s %s: technical losses in %q of %d matches", r.id, r.name, lost, matches)
		}
	}
}

// startedBy starts the league by our command, if that is how it starts, once all have
// registered. What it returns waits for that.
func (d *drawnLeague) startedBy(url string) (wait func()) {
	if s := d.style.start; s == "" || s == "within" {
		return func() {}
	}
	done := make(chan struct{})
	d.spawn(func() {
		defer close(done)
		d.league.await(d.ctx, "all players", func() bool { return len(d.league.players) >= playersDrawn })
		d.record.share() // with the player, which has asked for descriptions, too
		starter := d.strategylab("start", "--manager", url)
		d.wait(starter)
		if starter.err != nil && !d.style.single { // which answers when the league is over, perhaps too late
			d.Errorf("start ended with %v: %s", starter.err, starter.lastWords())
		}
	})
	return func() { <-done }
}

// lessonsOf is how many matches a player may lose before it can know what a
// referee of this kind reads.
func lessonsOf(s *style) int {
	if s.reads == "params" {
		return 2
	}
	return 0
}

// verdict of a draw.
type verdictOf struct {
	seed   int
	style  fmt.Stringer
	failed *attempt
}

// drawAll runs a league for each seed, several at once, and returns those that
// failed.
func drawAll(t *testing.T, one func(t testing.TB, seed int) fmt.Stringer) (failed []verdictOf) {
	t.Helper()
	build(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range *draws {
		all.Go(func() {
			abreast <- struct{}{}
			defer func() { <-abreast }()
			seed := *drawSeed + i
			var s fmt.Stringer
			a := try(t, func(t testing.TB) { s = one(t, seed) })
			if a.Failed() {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, verdictOf{seed, s, a})
			}
		})
	}
	all.Wait()
	slices.SortFunc(failed, func(a, b verdictOf) int { return a.seed - b.seed })
	return failed
}

// judgeDraws fails the test if more than one in a hundred leagues failed, and shows
// each that did.
func judgeDraws(t *testing.T, failed []verdictOf) {
	t.Helper()
	for _, f := range failed {
		t.Logf("draw %d failed: %s\n  %s\n  %s", f.seed, f.style, strings.Join(f.failed.failures, "\n  "), strings.Join(f.failed.notes, "\n"))
	}
	incomplete := slices.DeleteFunc(slices.Clone(failed), func(f verdictOf) bool {
		return !slices.ContainsFunc(f.failed.failures, func(why string) bool { return !strings.HasPrefix(why, auditFailure) })
	})
	n := *draws
	t.Logf("%d of %d leagues complete (%.1f %%), seeds %d to %d", n-len(incomplete), n, 100*float64(n-len(incomplete))/float64(n), *drawSeed, *drawSeed+n-1)
	if 100*len(incomplete) > n {
		t.Errorf("%d of %d leagues failed, want at most one in a hundred", len(incomplete), n)
	}
}

// TestDrawnProgramsAreCorrect: each drawn program completes a league with players
// of its own.
func TestDrawnProgramsAreCorrect(t *testing.T) {
	t.Parallel()
	failed := drawAll(t, func(t testing.TB, seed int) fmt.Stringer {
		s := programsSeen.Example(seed)
		playDrawn(t, s, false)
		return s
	})
	if judgeDraws(t, failed); len(failed) > 0 {
		t.Error("every drawn program must be correct")
	}
}

// TestPlayerCompletesDrawnLeagues: our player, which knows only where the manager
// is, plays all matches of a league of each drawn program.
func TestPlayerCompletesDrawnLeagues(t *testing.T) {
	t.Parallel()
	judgeDraws(t, drawAll(t, func(t testing.TB, seed int) fmt.Stringer {
		s := programsSeen.Example(seed)
		playDrawn(t, s, true)
		return s
	}))
}

// drawnPlayers are the players of one league of ours.
type drawnPlayers []*style

func (all drawnPlayers) String() string {
	var lines []string
	for i, s := range all {
		lines = append(lines, fmt.Sprintf("\n  P%02d: %s", i+1, s))
	}
	return strings.Join(lines, "")
}

// TestHostSeatsDrawnPlayers: players of drawn programs play leagues of our tolerant
// host without technical losses.
func TestHostSeatsDrawnPlayers(t *testing.T) {
	t.Parallel()
	const players = 4
	judgeDraws(t, drawAll(t, func(t testing.TB, seed int) fmt.Stringer {
		var all drawnPlayers
		for i := range players {
			s := programsSeen.Example(players*seed + i)
			if !s.wantsSender {
				s.registered = ""
			}
			s.reads = strings.TrimPrefix(s.reads, "params") // only referees read answers so
			all = append(all, s)
		}
		seatDrawn(t, all)
		return all
	}))
}

func seatDrawn(t testing.TB, all drawnPlayers) {
	w := newWorld(t)
	w.limit(inLeague)
	ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--players", fmt.Sprint(len(all)), "--format", "json")
	w.prints(ours, "listening")
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	for i, s := range all {
		c := contestIn(w, w, 8101+i, s, fmt.Sprint("Drawn ", i+1), habit(i))
		if err := c.register(ctx, "http://127.0.0.1:8000/mcp"); err != nil {
			w.Fatal(err)
		}
	}
	w.wait(ours)
	w.checkHosted(ours, len(all))
}

// attempt is a test whose failure is a result: it is counted, not fatal.
type attempt struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	notes    []string
	cleanups []func()
}

// try runs f to its end, or to its Fatal, and returns why it failed.
func try(t testing.TB, f func(t testing.TB)) *attempt {
	a := &attempt{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(a.cleanups) - 1; i >= 0; i-- {
				a.cleanups[i]()
			}
		}()
		f(a)
	}()
	<-done
	return a
}

func (a *attempt) fail(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = append(a.failures, text)
}

func (a *attempt) Helper()                      {}
func (a *attempt) Error(args ...any)            { a.fail(fmt.Sprint(args...)) }
func (a *attempt) Errorf(text string, v ...any) { a.fail(fmt.Sprintf(text, v...)) }
func (a *attempt) Fatal(args ...any)            { a.Error(args...); runtime.Goexit() }
func (a *attempt) Fatalf(text string, v ...any) { a.Errorf(text, v...); runtime.Goexit() }
func (a *attempt) Cleanup(f func())             { a.cleanups = append(a.cleanups, f) }
func (a *attempt) Log(args ...any)              { a.Logf("%s", fmt.Sprint(args...)) }

func (a *attempt) Logf(text string, v ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes = append(a.notes, fmt.Sprintf(text, v...))
}

func (a *attempt) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.failures) > 0
}
