package referee_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// verifies is a player that understands verifiable draws.
func verifies(choice, nonce string) script {
	return except(except(plays(choice), protocol.TypeGameInvitation, func(_ context.Context, h *heard) jsonrpc.Response {
		return say(with(header(h, protocol.TypeGameJoinAck), "accept", true, "arrival_timestamp", "2026-01-01T00:00:00Z", "draw_scheme", draws.Scheme))
	}), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
		return say(with(header(h, protocol.TypeChooseParityResponse), "parity_choice", choice, "draw_nonce", nonce))
	})
}

// verifiable plays R1M1 between two scripts with a referee that commits to its draws.
func verifiable(t *testing.T, dir string, announce bool, scripts [2]script) (r *rig) {
	t.Helper()
	r = newRig(t, func(c *referee.Config) { c.Data, c.Verifiable = dir, true })
	r.meets(world{"P01": scripts[0], "P02": scripts[1]})
	r.run()
	if announce {
		r.must(round(match("R1M1", "P01", "P02")))
	}
	r.reports(1)
	synctest.Wait()
	r.end()
	return r
}

// keptBy checks that a player got a commitment, and with the number what opens it.
func keptBy(t *testing.T, r *rig, who string, players [2]draws.Player) {
	t.Helper()
	over := r.all(who, protocol.TypeGameOver)[0].body
	commitment, _ := r.all(who, protocol.TypeChooseParityCall)[0].body["draw_commitment"].(string)
	key, _ := over["draw_key"].(string)
	about := draws.Match{League: league, ID: "R1M1", Round: 1, Players: players}
	if err := about.Verify(commitment, key, int(over["game_result"].(obj)["drawn_number"].(float64))); err != nil {
		t.Errorf("%s: %v in %v", who, err, over)
	}
	for _, p := range players {
		if got, _ := over["draw_nonces"].(obj)[p.ID].(string); got != p.Nonce {
			t.Errorf("%s hears that the nonce of %s is %q, want %q", who, p.ID, got, p.Nonce)
		}
	}
}

// TestNoncesOfOthers: a player verifies its number whatever its opponent is: one that knows
// nothing of verifiable draws, or says what is no nonce.
func TestNoncesOfOthers(t *testing.T) {
	t.Parallel()
	const one = "00112233445566778899aabbccddeeff"
	for name, other := range map[string]script{"a stranger": plays("odd"), "a bad nonce": verifies("odd", "Not Hexadecimal")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := verifiable(t, "", true, [2]script{verifies("even", one), other})
				keptBy(t, r, "P01", [2]draws.Player{{ID: "P01", Choice: "even", Nonce: one}, {ID: "P02", Choice: "odd"}})
			})
		})
	}
}

// TestKeepsItsCommitment cuts the journal after each of its events. The referee that
// starts again commits to the same key, and reveals it with the same number.
func TestKeepsItsCommitment(t *testing.T) {
	t.Parallel()
	const nonce = "00112233445566778899aabbccddeeff"
	scripts := [2]script{verifies("even", nonce), verifies("odd", nonce)}
	whole := t.TempDir()
	var commitment, over string
	opening := func(r *rig) string {
		b := r.all("P01", protocol.TypeGameOver)[0].body
		return fmt.Sprint(b["draw_key"], b["draw_nonces"], b["game_result"])
	}
	synctest.Test(t, func(t *testing.T) {
		r := verifiable(t, whole, true, scripts)
		commitment, over = r.all("P01", protocol.TypeChooseParityCall)[0].body["draw_commitment"].(string), opening(r)
	})
	journal, err := os.ReadFile(filepath.Join(whole, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(journal, []byte("\n"))
	for cut := 2; cut < len(lines)-1; cut++ { // after assigned, chosen and finished
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			t.Parallel()
			dir := leave(t, bytes.Join(lines[:cut], nil))
			synctest.Test(t, func(t *testing.T) {
				r := verifiable(t, dir, false, scripts)
				for _, h := range r.all("P01", protocol.TypeChooseParityCall) {
					if h.body["draw_commitment"] != commitment {
						t.Errorf("commits to %v, before to %s", h.body["draw_commitment"], commitment)
					}
				}
				if got := opening(r); got != over {
					t.Errorf("reveals %s, before %s", got, over)
				}
			})
		})
	}
}
