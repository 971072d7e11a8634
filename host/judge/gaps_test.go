package judge_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/trace"
)

// members are what a recording of foreign programs may lack anywhere.
var members = []string{
	"player_id", "sender", "league_id", "round_id", "opponent_id", "role_in_match", "conversation_id", "auth_token",
	"timestamp", "deadline", "contact_endpoint", "player_A_endpoint", "player_B_endpoint", "choices", "winner_player_id",
	"winner", "score", "details", "drawn_number", "number_parity", "status", "technical_loss_player_ids", "reason",
	"played", "wins", "draws", "losses", "champion", "byes", "context", "affected_player", "accept", "parity_choice",
}

// kinds are the messages that a recording may lack altogether.
var kinds = []string{
	"ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_ERROR", "MATCH_RESULT_REPORT",
	"LEAGUE_STANDINGS_UPDATE", "LEAGUE_COMPLETED", "ROUND_COMPLETED", "LEAGUE_QUERY", "LEAGUE_REGISTER_REQUEST",
}

// line is one line of a recording.
type line map[string]any

func (l line) is(kind string) bool { return l["message_type"] == kind }

// lines returns the recording of an honest league, or that of one of its agents.
func lines(t *rapid.T) []line {
	file, err := recording()
	if err != nil {
		t.Fatal(err)
	}
	agent := rapid.SampledFrom([]string{"", "manager", "REF01", "P01", "P03"}).Draw(t, "agent")
	var all []line
	for raw := range bytes.Lines(file) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if l["trace"] != nil || agent == "" || l["agent"] == agent {
			all = append(all, l)
		}
	}
	return all
}

// without removes members anywhere below v.
func without(v any, names []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range names {
			delete(v, name)
		}
		for _, inner := range v {
			without(inner, names)
		}
	case []any:
		for _, inner := range v {
			without(inner, names)
		}
	}
}

// lose removes from a recording what recordings of real leagues lack.
func lose(t *rapid.T, all []line) []line {
	everywhere := rapid.SliceOfNDistinct(rapid.SampledFrom(members), 0, 4, rapid.ID).Draw(t, "members lost everywhere")
	sometimes := rapid.SliceOfNDistinct(rapid.SampledFrom(members), 0, 4, rapid.ID).Draw(t, "members lost at times")
	gone := rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 0, 3, rapid.ID).Draw(t, "messages lost")
	share := rapid.IntRange(0, 40).Draw(t, "percentage of lost exchanges")
	chance := rapid.IntRange(1, 1<<20).Draw(t, "chance")
	roll := func(exchange any, salt int) int { // the same for both lines of an exchange
		n := uint64(exchange.(float64))*2654435761 + uint64(chance)*uint64(salt)*40503
		n ^= n >> 15
		n *= 2246822519
		return int(n >> 13 % 100)
	}
	lost := map[any]bool{}
	for _, l := range all {
		if l["exchange"] != nil && (slices.ContainsFunc(gone, l.is) || roll(l["exchange"], 1)%100 < share) && l["part"] == "request" {
			lost[l["exchange"]] = true
		}
	}
	own := rapid.Bool().Draw(t, "the referee has a league id of its own")
	anonymous := rapid.Bool().Draw(t, "choices without ids")
	var kept []line
	for _, l := range all {
		if l["exchange"] == nil {
			kept = append(kept, l)
			continue
		}
		if lost[l["exchange"]] {
			continue
		}
		without(l["body"], everywhere)
		if roll(l["exchange"], 2)%100 < 30 {
			without(l["body"], sometimes)
		}
		raw, err := json.Marshal(l["body"])
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if sender, _ := l["sender"].(string); own && strings.HasPrefix(sender, "referee") {
			text = strings.ReplaceAll(text, `"league_id":"cup"`, `"league_id":"league_of_its_own"`)
		}
		if anonymous && l.is("GAME_OVER") {
			for i := range 5 {
				text = strings.ReplaceAll(text, fmt.Sprintf(`"P%02d":`, i+1), fmt.Sprintf(`"player%d":`, i+1))
			}
		}
		l["body"] = json.RawMessage(text)
		kept = append(kept, l)
	}
	return kept
}

func read(t *rapid.T, all []line) []*trace.Exchange {
	var file bytes.Buffer
	for _, l := range all {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(raw, '\n'))
	}
	rec, err := trace.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Exchanges
}

// The audit accuses nobody of what a recording lacks: members, messages, ids.
func TestGapsAccuseNobody(t *testing.T) {
	t.Parallel()
	if os.Getenv("WHOLE_TESTS") == "" {
		_ = flag.Set("rapid.checks", "30") // nothing else of the package draws
	}
	rapid.Check(t, func(t *rapid.T) {
		xs := read(t, lose(t, lines(t)))
		for _, e := range divide(xs) {
			for id, texts := range findings(e.Apply(rules)) {
				t.Errorf("league %q: %s: %q", e.ID, id, texts)
			}
		}
		if err := trace.Show(&bytes.Buffer{}, xs, trace.Format{}); err != nil {
			t.Error(err)
		}
	})
}
