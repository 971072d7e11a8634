package referee_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/journal/journaltest"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

const journalFile = "data/referees/REF01/journal"

// playThree plays a match that is drawn, one that is lost and one that both lose,
// on a data directory, and returns the draws that were made.
func playThree(t *testing.T, dir string, draw func(referee.Match) (int, error), announce bool) (log []string, results map[string]string) {
	t.Helper()
	r := newRig(t, func(c *referee.Config) { c.Data, c.Draw = dir, draw })
	r.agent("manager", keeps)
	no := answering(refuse(7, obj{"error_code": "E007"}))
	for i, s := range []script{plays("even"), plays("odd"), plays("even"), except(plays("odd"), protocol.TypeChooseParityCall, no), no, no} {
		r.agent(fmt.Sprintf("P%02d", i+1), s)
	}
	r.run()
	if announce {
		r.must(round(match("R1M1", "P01", "P02"), match("R1M2", "P03", "P04"), match("R1M3", "P05", "P06")))
		r.reports(3)
	}
	synctest.Wait()
	results = make(map[string]string)
	for _, h := range r.all("manager", protocol.TypeMatchResultReport) {
		result := fmt.Sprint(h.body["result"])
		if before, twice := results[h.MatchID]; twice && before != result {
			t.Errorf("%s is reported as %s and as %s", h.MatchID, before, result)
		}
		results[h.MatchID] = result
	}
	log = r.log()
	r.end()
	return log, results
}

// TestCrashOfAReferee cuts the journal after every event and within every event. Whatever
// was journaled holds, and every match is finished with one result.
func TestCrashOfAReferee(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, results := playThree(t, whole, func(referee.Match) (int, error) { return 4, nil }, true)
		if len(results) != 3 {
			t.Fatalf("reported %v", results)
		}
	})
	journal, err := os.ReadFile(filepath.Join(whole, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(journal, []byte("\n"))
	lines = lines[:len(lines)-1]                       // nothing follows the last newline
	if want := 1 + 1 + 1 + 3 + 3; len(lines) != want { // registered, assigned, chosen once, finished, reported
		t.Fatalf("the journal has %d events, want %d:\n%s", len(lines), want, journal)
	}
	cuts := journaltest.Cuts(journal, os.Getenv("LONG_TESTS") != "")
	for _, cut := range cuts {
		t.Run(fmt.Sprintf("at byte %d", cut), func(t *testing.T) {
			t.Parallel()
			resume(t, journal[:cut], journaltest.Whole(journal[:cut]))
		})
	}
	t.Logf("crash: referee: journal cut at %d places, with one result for each match after each", len(cuts))
}

// TestMatchFiles: a referee that is to writes each result to a file.
func TestMatchFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bubble(t, func(c *referee.Config) { c.Data, c.MatchFiles = dir, true }, nil, func(t *testing.T, r *rig) {
		r.must(round(match("R1M1", "P01", "P02")))
		reported := r.reports(1)[0].body["result"]
		if over := r.all("P01", protocol.TypeGameOver)[0].body["game_result"].(obj); over["reason"] != "P01 chose the parity of the drawn number" {
			t.Errorf("the players are told %v", over)
		}
		synctest.Wait()
		text, err := os.ReadFile(filepath.Join(dir, "data", "matches", league, "R1M1.json"))
		if err != nil {
			t.Fatal(err)
		}
		var file obj
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		if file["match_id"] != "R1M1" || file["player_B_id"] != "P02" || file["referee_id"] != "REF01" || fmt.Sprint(file["result"]) != fmt.Sprint(reported) {
			t.Errorf("the file holds %s, and the report %v", text, reported)
		}
	})
}

// leave makes the data of a referee that was killed when its journal held so much.
func leave(t *testing.T, journal []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := disk.WriteFile(filepath.Join(dir, journalFile), journal, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// count is how many events of a match a journal has.
func count(journal []byte, event, match string) int {
	return len(regexp.MustCompile(`(?m) `+event+` .*`+match).FindAll(journal, -1))
}

// resume goes on with what is left of a journal.
func resume(t *testing.T, left, held []byte) {
	dir := leave(t, left)
	has := func(event, match string) bool { return count(held, event, match) > 0 }
	synctest.Test(t, func(t *testing.T) {
		draws := 0
		log, results := playThree(t, dir, func(referee.Match) (int, error) { draws++; return 7, nil }, !has("assigned", "R1M1"))
		number, once := "drawn_number:7", 1
		if has("finished", "R1M1") {
			number, once = "drawn_number:4", 0
		}
		if draws != once {
			t.Errorf("%d draws, want %d", draws, once)
		}
		if result, reported := results["R1M1"]; reported == has("reported", "R1M1") || reported && !strings.Contains(result, number) {
			t.Errorf("R1M1 is reported as %q, want %s", result, number)
		}
		for _, id := range []string{"R1M2", "R1M3"} {
			if _, reported := results[id]; reported == has("reported", id) {
				t.Errorf("%s: reported %v", id, reported)
			}
		}
		if want := has("chosen", "R1M1") || has("finished", "R1M1"); slices.Contains(log, "P01 CHOOSE_PARITY_CALL") == want {
			t.Errorf("P01 has chosen: %v; heard %q", want, log)
		}
	})
	journal, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"R1M1", "R1M2", "R1M3"} {
		if count(journal, "finished", id) != 1 || count(journal, "reported", id) != 1 {
			t.Errorf("%s is not finished once and reported once:\n%s", id, journal)
		}
	}
}

// A referee that starts again shows the token it has, keeps the conversations
// of its matches, and gives up a league that the manager has forgotten.
func TestARestartRenewsTheRegistration(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprintf("another league %v", other), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(c *referee.Config) { c.Data = dir })
				r.meets(world{"P01": hangs, "P02": hangs})
				r.run()
				r.must(round(match("R1M1", "P01", "P02")))
				synctest.Wait()
				conversation := r.all("P01", protocol.TypeGameInvitation)[0].ConversationID
				r.end()

				r = newRig(t, func(c *referee.Config) { c.Data = dir })
				var others world
				if other {
					others = world{"manager": except(keeps, protocol.TypeRefereeRegisterRequest,
						answering(say(obj{"status": "ACCEPTED", "referee_id": "REF02", "auth_token": "tok-REF02-x", "league_id": "cup2"})))}
				}
				r.meets(others)
				r.run()
				signup := r.all("manager", protocol.TypeRefereeRegisterRequest)[0]
				if signup.AuthToken != refereeToken || signup.Sender != "referee:REF01" {
					t.Errorf("registers again as %s with %q", signup.Sender, signup.AuthToken)
				}
				r.reports(1)
				if got := r.all("P01", protocol.TypeGameOver)[0].ConversationID; got != conversation {
					t.Errorf("the match goes on in conversation %s, not %s", got, conversation)
				}
				if other && r.ref.ID() != "REF02" {
					t.Errorf("the referee is still %s", r.ref.ID())
				}
				r.end()
			})
		})
	}
}

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
