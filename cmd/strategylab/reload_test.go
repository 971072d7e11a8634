package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

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

const jsText = `// Mine.
let seen = 0;
function choose(turn) {
  if (turn.history.length > 2 && Math.random() < 0.7) return seen % 2 == 0 ? "even" : "odd";
  return Math.random();
}
function observe(o) {
  seen = (seen * 7 + o.points + (o.opponent_choice == "even" ? 1 : 0)) % 9973;
}
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
		"mine.js": {jsText, "// Edited.\n" + jsText, "// Edited.\n// Again.\n" + jsText, map[string]string{
			"mine.js:7: load:":   strings.Replace(jsText, "(o)", "(o", 1),
			"mine.js":            "for (;;) {}\n" + jsText,
			"mine.js:8: it does": strings.Replace(jsText, "\n  seen = (seen", "\n  if (o.round > 2) throw new Error('stale');\n  seen = (seen", 1),
		}},
		"mine.wasm": {module, module + section, module + section + section, map[string]string{
			"mine.wasm: load:": module[:len(module)/2],
		}},
	}
}

// watched is a league over sockets between a script that is watched and an opponent
// that lets the test act before its choices.
type watched struct {
	t         *testing.T
	dir, file string
	lead, p   *running // the host, and the process that plays the script
	url       string
	other     *opponent
}

// newWatched starts a host, with the script as a house player if house says so.
func newWatched(t *testing.T, file, text string, house bool) *watched {
	t.Helper()
	w := &watched{t: t, dir: t.TempDir(), file: file, other: &opponent{asked: make(chan int), resume: make(chan struct{})}}
	w.save(text)
	args := []string{"host", "--listen", "127.0.0.1:0", "--players", "2", "--legs", fmt.Sprint(reloadRounds), "--seed", "7", "--choice-timeout", "10m"}
	if house {
		args = append(args, "--field", "./"+file, "--watch")
	}
	w.lead = start(t, w.dir, args...)
	w.url = w.lead.until("listening")["manager"].(string)
	if w.p = w.lead; !house {
		w.startPlayer()
		w.p.until("registered")
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

// refused waits until an edit is refused.
func (w *watched) refused(where string) {
	w.t.Helper()
	if why := fmt.Sprint(w.p.until("kept")["error"]); !strings.Contains(why, where) {
		w.t.Errorf("the edit is refused with %q, want %s in it", why, where)
	}
}

// play plays the league. act is called in each round, before the opponent answers. The
// result is the final table.
func (w *watched) play(act func(round int)) (table string) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	var playing sync.WaitGroup
	defer playing.Wait()
	defer stop()
	playing.Go(func() {
		err := host.Agent{Network: host.NewSockets(), Name: "opponent", Manager: w.url}.Player(ctx, player.Config{
			Config: agent.Config{Mode: protocol.Tolerant}, Factory: w.other, Once: true, Key: game.StrategyKey(1, 0, 1), Coin: game.CoinKey(1, 0, 1),
		})
		if err != nil && ctx.Err() == nil {
			w.t.Errorf("opponent: %v", err)
		}
	})
	for round := 1; round <= reloadRounds; round++ {
		select {
		case got := <-w.other.asked:
			if got != round {
				w.t.Errorf("asked in round %d, want %d", got, round)
			}
		case <-w.lead.timeUp:
			w.t.Fatalf("round %d does not begin; the host: %v; the player: %v", round, w.lead.seen, w.p.seen)
		}
		act(round)
		w.other.resume <- struct{}{}
	}
	table = fmt.Sprint(w.lead.until("league_completed")["standings"])
	if code := w.lead.ended(); code != exitOK {
		w.t.Errorf("the host ends with %d", code)
	}
	return table
}

// ended returns what the player has said at its end.
func (w *watched) ended() map[string]any {
	w.t.Helper()
	last := w.p.until("completed")
	if code := w.p.ended(); code != exitOK {
		w.t.Errorf("the player ends with %d", code)
	}
	return last
}

// TestReloadInMidLeague edits a strategy while it plays over sockets: edits that change
// nothing, that do not load, hang, or fail the check, and a kill. The standings are
// those of a league without edits.
func TestReloadInMidLeague(t *testing.T) {
	t.Parallel()
	for file, edits := range scriptEdits() {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if file != "mine.lua" {
				whole(t, "one language is a sample")
			}
			plain := newWatched(t, file, edits.text, false)
			want := plain.play(func(int) {})
			plain.ended()
			var played []string // versions
			w := newWatched(t, file, edits.text, false)
			got := w.play(func(round int) {
				switch round {
				case 3:
					w.save(edits.same)
					e := w.p.until("reloaded")
					played = append(played, fmt.Sprint(e["former_version"]), fmt.Sprint(e["version"]))
				case 4:
					for where, text := range edits.broken {
						w.save(text)
						w.refused(where)
					}
				case 5:
					w.p.signal(syscall.SIGKILL)
					w.p.ended()
					w.startPlayer()
					if why := fmt.Sprint(w.p.untilAll("registered", "kept")["kept"]["error"]); !strings.Contains(why, file) {
						t.Errorf("what is in the file is refused with %q after a start, want %s in it", why, file)
					}
				case 6:
					w.save(edits.again)
					played = append(played, fmt.Sprint(w.p.until("reloaded")["version"]))
				}
			})
			if got != want {
				t.Errorf("standings with edits: %s\nand without: %s", got, want)
			}
			records, _ := w.ended()["versions"].([]any)
			chosen := make([]string, len(records))
			for i, r := range records {
				r := r.(map[string]any)
				chosen[i] = fmt.Sprint(r["version"], " from ", r["first"])
			}
			if len(chosen) < 3 || len(played) != 3 || chosen[0] != played[0]+" from R1M1" || !strings.HasPrefix(chosen[1], played[1]) || !strings.HasPrefix(chosen[2], played[2]) {
				t.Errorf("the versions %q have played, says the end; reloaded were %q", chosen, played)
			}
		})
	}
}

// TestReloadOfAHousePlayer edits the script of a house player of a host.
func TestReloadOfAHousePlayer(t *testing.T) {
	t.Parallel()
	whole(t, "TestReloadInMidLeague reloads a player")
	edits := scriptEdits()["mine.lua"]
	want := newWatched(t, "mine.lua", edits.text, true).play(func(int) {})
	w := newWatched(t, "mine.lua", edits.text, true)
	got := w.play(func(round int) {
		switch round {
		case 2:
			w.save(edits.same)
			w.p.until("reloaded")
		case 4:
			for where, text := range edits.broken {
				w.save(text)
				w.refused(where)
			}
		case 5:
			w.save(edits.again)
			w.p.until("reloaded")
		}
	})
	if got != want {
		t.Errorf("standings with edits: %s\nand without: %s", got, want)
	}
}
