package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/manager/managertest"
)

// processes is a league whose agents are processes of their own, each with a
// data directory.
type processes struct {
	t       *testing.T
	dir     string
	traces  traces
	line    map[string][]string // the command lines, by agent
	running map[string]*process
}

const crashLegs = 5

// patient agents try again for so long that whoever is killed is back in time.
var patient = []string{"--retries", "9", "--retry-delay", "20ms"}

// separately starts a manager, a referee and three players.
func separately(t *testing.T, flags []string) *processes {
	t.Helper()
	p := &processes{t: t, dir: t.TempDir(), traces: newTraces(t), line: make(map[string][]string), running: make(map[string]*process)}
	p.line["manager"] = []string{"manager", "--players", "3", "--legs", fmt.Sprint(crashLegs), "--data-dir", "manager", "--listen", jsonrpctest.Address(t)}
	p.start("manager") // the next one is to be found where this one is
	url := p.running["manager"].event("listening")["manager"].(string)
	p.line["REF01"] = []string{"referee", "--id", "REF01"}
	for name, strategy := range map[string]string{"Ada": "alternate", "Bob": "role", "Cleo": "always-even"} { // which a late or missing message does not change
		p.line[name] = []string{"player", "--strategy", strategy, "--once"}
	}
	for _, name := range []string{"REF01", "Ada", "Bob", "Cleo"} {
		// A port of the convention could be another player's after a kill.
		p.line[name] = slices.Concat(p.line[name], []string{"--name", name, "--manager", url, "--data-dir", name, "--listen", "127.0.0.1:0"}, flags)
		p.start(name)
		p.running[name].event("registered")
	}
	return p
}

// start runs an agent by its line, which is the same every time.
func (p *processes) start(name string) {
	p.running[name] = begin(p.t, p.traces.keep(commandLine(p.t.Context(), p.dir, append(p.line[name], "--format", "json")...)))
}

// complete waits for the end of the league, holds the table to the journal and
// returns the lines of the table by name.
func (p *processes) complete() map[string]league.Standing {
	p.t.Helper()
	p.running["manager"].ends(exitOK)
	table := make(map[string]league.Standing)
	for _, s := range managertest.Table(p.t, filepath.Join(p.dir, "manager"), manager.DefaultLeagueID) {
		if table[s.DisplayName] = s; s.Played != 2*crashLegs {
			p.t.Errorf("%+v: want %d matches", s, 2*crashLegs)
		}
	}
	return table
}

// leave waits for agents that hear of the end.
func (p *processes) leave(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.running[name].ends(exitOK)
	}
}

// verified checks that the manager has heard from the players of every draw, also of
// those before it was killed.
func (p *processes) verified() {
	p.t.Helper()
	seen := p.running["manager"].seen
	i := slices.IndexFunc(seen, func(e map[string]any) bool { return e["event"] == "draws" })
	if i < 0 || seen[i]["verified"] != 3.0*crashLegs || seen[i]["drawn"] != 3.0*crashLegs {
		p.t.Errorf("the manager says %v of the draws, want %d of as many", seen[max(i, 0)], 3*crashLegs)
	}
}

// healthy checks that nobody was at fault.
func healthy(t *testing.T, table map[string]league.Standing) {
	t.Helper()
	for name, s := range table {
		if s.TechnicalLosses > 0 {
			t.Errorf("%s has %d technical losses", name, s.TechnicalLosses)
		}
	}
}

// TestCrashOfAgents kills an agent of leagues at random moments, again and again, and
// starts it with the same line, at another port: every match is played and counts once,
// and nobody loses one by technical loss. The players verify the draws of every other
// league; the others have seeds, and the table of a league without kills.
func TestCrashOfAgents(t *testing.T) {
	t.Parallel()
	seeded := append([]string{"--seed", "5"}, patient...)
	want := separately(t, seeded).complete()
	for i, tt := range []struct{ kind, who string }{{"manager", "manager"}, {"referee", "REF01"}, {"player", "Ada"}} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			if tt.kind != "manager" {
				whole(t, "packages kill the others")
			}
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			kills, leagues := 0, 0
			for ; kills < someKills(); leagues++ {
				flags, tables := patient, leagues%2 == i%2
				if tables {
					flags = seeded
				}
				p := separately(t, flags)
				for range 5 {
					if kills == someKills() || !p.killed(tt.who, rnd) {
						break
					}
					kills++
					p.start(tt.who)
				}
				got := p.complete()
				healthy(t, got)
				if diff := cmp.Diff(want, got); tables && diff != "" {
					t.Errorf("another table after %d kills (-want +got):\n%s", kills, diff)
				} else if !tables {
					p.verified()
				}
				p.end(tt.who)
			}
			t.Logf("crash: %s: %d kills in %d leagues, in each of which %d matches were played once", tt.kind, kills, leagues, 3*crashLegs)
		})
	}
}

// end waits until all have ended, of whom one was killed, and looks for what they leave.
func (p *processes) end(killed string) {
	p.t.Helper()
	for name, r := range p.running {
		if name == killed {
			_ = r.Process.Signal(os.Interrupt) // a player that was killed before it heard of the end waits for its manager
		}
		if code := r.end(); code != exitOK && name != killed {
			p.t.Errorf("%s ended with %d", name, code)
		}
		if i := slices.IndexFunc(r.seen, func(e map[string]any) bool { return e["event"] == "alarm" }); i >= 0 {
			p.t.Errorf("%s raises an alarm: %v", name, r.seen[i])
		}
	}
	p.traces.gone(p.dir)
}

// killed kills an agent at a random moment; false if it has ended before.
func (p *processes) killed(name string, rnd *rand.Rand) bool {
	p.t.Helper()
	r := p.running[name]
	for range rnd.IntN(4) {
		if _, ok := r.next(); !ok {
			break
		}
	}
	<-time.After(time.Duration(rnd.Int64N(int64(30 * time.Millisecond))))
	_ = r.Process.Kill()
	return r.end() < 0
}

// TestCrashByAFullDisk starts agents that soon cannot write their journal. They end, with
// an error that says which file and why. What they have acknowledged is on disk: started
// again with room, they go on, and the league ends as if nothing had been.
func TestCrashByAFullDisk(t *testing.T) {
	t.Parallel()
	step, most := sampled(3000, 300), 4000
	cases := 0
	for _, who := range []string{"manager", "REF01", "Ada"} {
		if who != "manager" && !wholeSets {
			continue // TestCrashOfALeague has the disk be full for all of them
		}
		for size := step; size <= most; size += step {
			cases++
			t.Run(fmt.Sprintf("%s, %d bytes", who, size), func(t *testing.T) {
				t.Parallel()
				fullDisk(t, who, size)
			})
		}
	}
	t.Logf("crash: manager, referee, player: the disk full at %d moments", cases)
}

// fullDisk kills an agent and starts it again where it can write files of a size only.
func fullDisk(t *testing.T, who string, size int) {
	needsFullDisks(t)
	p := separately(t, patient)
	p.running[who].kill()
	full := commandLine(t.Context(), p.dir, append(p.line[who], "--format", "json")...)
	full.Env = append(os.Environ(), fmt.Sprintf("%s=%d", fileSizeEnv, size))
	p.running[who] = begin(t, full)
	p.running[who].ends(exitFailure)
	for _, want := range []string{"journal", "file too large", "start again"} {
		p.running[who].err.until(want)
	}
	p.start(who)
	healthy(t, p.complete())
	p.leave("Ada", "Bob", "Cleo", "REF01")
	if i := slices.IndexFunc(p.running["REF01"].seen, func(e map[string]any) bool { return e["event"] == "alarm" }); i >= 0 {
		t.Errorf("the referee raises an alarm: %v", p.running["REF01"].seen[i])
	}
}
