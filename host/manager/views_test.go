package manager_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

func load(t testing.TB, name string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(content, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func TestTheFilesOfALeague(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, referee, players := whole(t, 3, func(m protocol.AnnouncedMatch) protocol.MatchResult {
		switch m.MatchID {
		case "R1M1":
			return result(m, game.Even, game.Odd, 8)
		case "R2M1":
			return result(m, game.Even, game.Even, 3)
		default:
			return result(m, game.NoParity, game.Odd, 0)
		}
	}, func(c *manager.Config) { c.DataDir = dir })

	agents := filepath.Join(dir, "config", "agents", "agents_config.json")
	config := load(t, agents)
	if len(config["players"].([]any)) != 3 || len(config["referees"].([]any)) != 1 || config["league_id"] != "cup" {
		t.Errorf("the agents are %v", config)
	}
	north := config["referees"].([]any)[0].(map[string]any)
	delete(north, "registered_at")
	want := map[string]any{
		"referee_id": "REF01", "display_name": "north", "version": "1.0.0", "game_types": []any{"even_odd"},
		"contact_endpoint": referee.url, "max_concurrent_matches": 2.0, "dialect": "contracts",
	}
	if diff := cmp.Diff(want, north); diff != "" {
		t.Errorf("the referee (-want +got):\n%s", diff)
	}

	standings := load(t, filepath.Join(dir, "data", "leagues", "cup", "standings.json"))
	lines := standings["standings"].([]any)
	first := r.m.Standings()[0]
	if top := lines[0].(map[string]any); len(lines) != 3 || top["player_id"] != first.PlayerID || top["points"] != float64(first.Points) ||
		top["technical_losses"] != float64(first.TechnicalLosses) || top["rank"] != 1.0 {
		t.Errorf("the table is %v", lines)
	}
	if standings["status"] != "completed" || standings["rounds_completed"] != 3.0 || standings["matches_completed"] != 3.0 {
		t.Errorf("the standings are %v", standings)
	}

	theirFiles(t, dir)
	guarded(t, dir, append(players, referee))
}

// theirFiles holds the files of the three matches to what was reported.
func theirFiles(t testing.TB, dir string) {
	t.Helper()
	schedule, err := game.NewSchedule(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]any{
		{"winner": "A", "score": map[string]any{"A": 3.0, "B": 0.0}, "details": map[string]any{
			"drawn_number": 8.0, "number_parity": "even", "choices": map[string]any{"A": "even", "B": "odd"}, "status": "WIN"}},
		{"winner": nil, "score": map[string]any{"A": 1.0, "B": 1.0}, "details": map[string]any{
			"drawn_number": 3.0, "number_parity": "odd", "choices": map[string]any{"A": "even", "B": "even"}, "status": "DRAW"}},
		{"winner": "B", "score": map[string]any{"A": 0.0, "B": 3.0}, "details": map[string]any{
			"drawn_number": nil, "number_parity": nil, "choices": map[string]any{"B": "odd"}, "status": "TECHNICAL_LOSS",
			"technical_loss_player_ids": []any{"A"}}},
	} {
		p := schedule.Matches()[i]
		match := load(t, filepath.Join(dir, "data", "matches", "cup", p.ID+".json"))
		named, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`"A"`, `"`+game.PlayerID(p.A)+`"`, `"B"`, `"`+game.PlayerID(p.B)+`"`).Replace(string(named))
		var result any
		if err := json.Unmarshal([]byte(text), &result); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(result, match["result"]); diff != "" {
			t.Errorf("the result of %s (-want +got):\n%s", p.ID, diff)
		}
		if match["match_id"] != p.ID || match["round_id"] != float64(p.Round) || match["referee_id"] != "REF01" || match["game_type"] != "even_odd" {
			t.Errorf("%s is %v", p.ID, match)
		}
	}
}

// guarded fails if a file holds a token, if one can be read by others that holds what tokens are
// compared with or where players listen, or if a file was left behind.
func guarded(t testing.TB, dir string, agents []*scripted) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		journal := strings.HasSuffix(name, "manager.journal")
		for _, s := range agents {
			if strings.Contains(string(content), s.token) {
				t.Errorf("%s holds the token of %s", name, s.id)
			}
			if !journal && strings.Contains(string(content), credential.NewVerifier(s.token).String()) {
				t.Errorf("%s holds the verifier of %s", name, s.id)
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if (journal || filepath.Base(name) == "agents_config.json") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
		if strings.HasPrefix(d.Name(), ".") {
			t.Errorf("%s was left behind", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestALeagueWithoutADirectoryWritesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	whole(t, 2, fair, nil)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// A crash can come between a result and its file; the next start writes it.
func TestFilesThatACrashLeftOutAreWritten(t *testing.T) {
	t.Parallel()
	log, _ := played(t, 2)
	dir := t.TempDir()
	if err := disk.WriteFile(manager.JournalName(dir, "cup"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *manager.Config) { c.DataDir = dir })
	r.run()
	r.finish()
	if match := load(t, filepath.Join(dir, "data", "matches", "cup", "R1M1.json")); match["match_id"] != "R1M1" {
		t.Errorf("the match is %v", match)
	}
}
