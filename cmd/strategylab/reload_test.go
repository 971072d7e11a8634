package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// opponent plays by what it observes, and lets the test act before its choices.
type opponent struct {
	asked  chan int // receives the round
	resume chan struct{}
	seen   uint64
}

// join has an opponent play in the league of a manager.
func join(t *testing.T, manager string) *opponent {
	t.Helper()
	o := &opponent{asked: make(chan int), resume: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	var playing sync.WaitGroup
	t.Cleanup(func() { stop(); playing.Wait() })
	playing.Go(func() {
		err := host.Agent{Network: host.NewSockets(), Name: "opponent", Manager: manager}.Player(ctx, player.Config{
			Config: agent.Config{Mode: protocol.Tolerant}, Factory: o, Once: true, ChoiceTimeout: 10 * time.Minute, Key: game.StrategyKey(1, 0, 1), Coin: game.CoinKey(1, 0, 1),
		})
		if err != nil && ctx.Err() == nil {
			t.Errorf("opponent: %v", err)
		}
	})
	return o
}

// round waits until the opponent is asked for a choice in a round.
func (o *opponent) round(t *testing.T, want int) {
	t.Helper()
	until(t, fmt.Sprintf("round %d", want), func() bool {
		select {
		case got := <-o.asked:
			if got != want {
				t.Errorf("asked in round %d, want %d", got, want)
			}
			return true
		default:
			return false
		}
	})
}

func (o *opponent) Info() strategies.Info { return strategies.Info{Name: "opponent"} }
func (o *opponent) Close() error          { return nil }
func (o *opponent) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return o, nil
}

func (o *opponent) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	select {
	case o.asked <- t.Round:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case <-o.resume:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return strategies.Choice(o.seen % 2), nil
}

func (o *opponent) Observe(_ context.Context, e *strategies.Outcome) error {
	o.seen = o.seen*6364136223846793005 + uint64(e.OpponentChoice) + uint64(e.Points) + 1
	o.seen ^= o.seen >> 17
	return nil
}

const reloadRounds = 7

// rewrites are the edits of one script. Where is what an edit that does not play is
// refused with.
type rewrites struct {
	text, same, again string            // play alike
	broken            map[string]string // what is refused, by what the reason names
}

const luaText = `-- Mine.
local seen = 0
function choose(turn)
  if #turn.history > 2 and math.random() < 0.7 then return seen % 2 == 0 and "even" or "odd" end
  return math.random()
end
function observe(o)
  seen = (seen * 7 + o.points + (o.opponent_choice == "even" and 1 or 0)) % 9973
end
`

// scriptEdits are the edits of scripts by all that they observe, and by chance.
func scriptEdits() map[string]rewrites {
	module := string(wasmtest.Frequency().Bytes())
	section := "\x00\x05\x04note" // of a name that nobody reads
	return map[string]rewrites{
		"mine.lua": {luaText, "-- Edited.\n" + luaText, "-- Edited.\n-- Again.\n" + luaText, map[string]string{
			"mine.lua:8: load:":   strings.Replace(luaText, "(o)", "(o", 1),
			"mine.lua":            "while true do end\n" + luaText,
			"mine.lua:8: it does": strings.Replace(luaText, "\n  seen = (seen", "\n  if o.round > 2 then error('stale') end\n  seen = (seen", 1),
		}},
		"mine.wasm": {module, module + section, module + section + section, map[string]string{"mine.wasm: load:": module[:len(module)/2]}},
	}
}

// watched is a league over sockets between a script that is watched and an opponent
// that lets the test act before its choices.
type watched struct {
	t         *testing.T
	dir, file string
	lead, p   *process // the host, and the process that plays the script
	url       string
}

// newWatched starts a host, with the script as a house player if house says so.
func newWatched(t *testing.T, file, text string, house bool) *watched {
	t.Helper()
	w := &watched{t: t, dir: t.TempDir(), file: file}
	w.save(text)
	args := []string{"host", "--listen", "127.0.0.1:0", "--players", "2", "--legs", fmt.Sprint(reloadRounds), "--seed", "7", "--choice-timeout", "10m",
		"--join-timeout", "1m", "--retries", "7"} // two minutes for a player that is started again
	if house {
		args = append(args, "--field", "./"+file, "--watch")
	}
	w.lead = start(t, w.dir, args...)
	w.url = w.lead.event("listening")["manager"].(string)
	if w.p = w.lead; !house {
		w.startPlayer()
		w.p.event("registered")
	}
	return w
}

// startPlayer starts a process that plays the script.
func (w *watched) startPlayer() {
	w.t.Helper()
	w.p = start(w.t, w.dir, "player", "--strategy", "./"+w.file, "--watch", "--manager", w.url, "--seed", "3", "--once",
		"--data-dir", "kept", "--listen", "127.0.0.1:0", "--choice-timeout", "10m")
}

// save edits the script.
func (w *watched) save(text string) {
	w.t.Helper()
	write(w.t, w.dir, w.file, text)
}

// refused saves texts that are refused, each with a reason that names a place.
func (w *watched) refused(broken map[string]string) {
	w.t.Helper()
	for where, text := range broken {
		w.save(text)
		if why := fmt.Sprint(w.p.event("kept")["error"]); !strings.Contains(why, where) {
			w.t.Errorf("the edit is refused with %q, want %s in it", why, where)
		}
	}
}

// play plays the league. act is called in each round, before the opponent answers. The
// result is the final table.
func (w *watched) play(act func(round int)) (table string) {
	w.t.Helper()
	other := join(w.t, w.url)
	for round := 1; round <= reloadRounds; round++ {
		other.round(w.t, round)
		act(round)
		other.resume <- struct{}{}
	}
	table = fmt.Sprint(w.lead.event("league_completed")["standings"])
	w.lead.ends(exitOK)
	return table
}

// TestReloadInMidLeague edits a strategy of a player, or of a house player of a host, while it plays over sockets:
// edits that change nothing, that do not load, hang, or fail the check, and a kill of the player. The standings are
// those of a league without edits.
func TestReloadInMidLeague(t *testing.T) {
	t.Parallel()
	whole(t, "package player edits strategies in mid-league")
	for _, c := range []struct {
		file  string
		house bool
	}{{"mine.lua", false}, {"mine.wasm", false}, {"mine.lua", true}} {
		t.Run(fmt.Sprintf("%s, house player %v", c.file, c.house), func(t *testing.T) {
			t.Parallel()
			edits := scriptEdits()[c.file]
			want := newWatched(t, c.file, edits.text, c.house).play(func(int) {})
			var played []string // versions
			w := newWatched(t, c.file, edits.text, c.house)
			got := w.play(func(round int) {
				switch {
				case round == 3:
					w.save(edits.same)
					e := w.p.event("reloaded")
					played = append(played, fmt.Sprint(e["former_version"]), fmt.Sprint(e["version"]))
				case round == 4:
					w.refused(edits.broken)
				case round == 5 && !c.house:
					w.p.kill()
					w.startPlayer()
					if why := fmt.Sprint(w.p.events("registered", "kept")["kept"]["error"]); !strings.Contains(why, c.file) {
						t.Errorf("what is in the file is refused with %q after a start, want %s in it", why, c.file)
					}
				case round == 6:
					w.save(edits.again)
					played = append(played, fmt.Sprint(w.p.event("reloaded")["version"]))
				}
			})
			if got != want {
				t.Errorf("standings with edits: %s\nand without: %s", got, want)
			}
			if c.house {
				return
			}
			records, _ := w.p.event("completed")["versions"].([]any)
			w.p.ends(exitOK)
			var chosen []string
			for _, r := range records {
				r := r.(map[string]any)
				chosen = append(chosen, fmt.Sprint(r["version"], " from ", r["first"]))
			}
			if len(chosen) < 3 || len(played) != 3 || chosen[0] != played[0]+" from R1M1" || !strings.HasPrefix(chosen[1], played[1]) || !strings.HasPrefix(chosen[2], played[2]) {
				t.Errorf("the versions %q have played, says the end; reloaded were %q", chosen, played)
			}
		})
	}
}
