package strategytest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// A bare seat must do the same work as a seat: it is what seats are timed against. Scripts
// that draw random numbers are left out, since a bare seat has others.
func TestBareSeatChoosesAlike(t *testing.T) {
	t.Parallel()
	tried := make(map[string]bool)
	for _, ext := range []string{".lua", ".js"} {
		paths, err := filepath.Glob("../../scripts/*" + ext)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(source), "random(") {
				continue
			}
			tried[ext] = true
			f, err := compile(path, string(source), budget.Limits{Time: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			setup := strategies.Setup{ID: "P01", Field: []string{"P01", "P02", "P03"}, Legs: 10, Rand: game.NewRand(game.Key{1})}
			bare, err := f.(interface {
				NewBare(strategies.Setup) (strategies.Strategy, error)
			}).NewBare(setup)
			if err != nil {
				t.Fatal(err)
			}
			seat, err := f.New(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 60 {
				turn := strategies.Turn{MatchID: fmt.Sprintf("R%dM1", i+1), Round: i + 1, Opponent: game.PlayerID(1 + i%2), Role: game.RoleA + game.Role(i%2)}
				want, err1 := seat.Choose(t.Context(), &turn)
				got, err2 := bare.Choose(t.Context(), &turn)
				o := strategies.Outcome{
					MatchID: turn.MatchID, Round: turn.Round, Opponent: turn.Opponent, Role: turn.Role, Choice: game.ParityOf(i / 3),
					OpponentChoice: game.ParityOf(i / 7), Number: 1 + i%10, Drew: true, Result: game.Win + game.Result(i%3), Points: i % 4,
				}
				if err := errors.Join(err1, err2, seat.Observe(t.Context(), &o), bare.Observe(t.Context(), &o)); err != nil || got != want {
					t.Fatalf("%s, match %d: bare %v, seat %v, %v", path, i, got, want, err)
				}
			}
			if err := errors.Join(bare.Close(), seat.Close(), f.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if len(tried) != 2 {
		t.Errorf("only %v were tried", tried)
	}
}
