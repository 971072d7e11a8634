package manager_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	_, referee, players := whole(t, 3, func(m protocol.AnnouncedMatch) protocol.MatchResult {
		switch m.MatchID {
		case "R1M1":
			return result(m, game.Even, game.Odd, 8)
		case "R2M1":
			return result(m, game.Even, game.Even, 3)
		default:
			return result(m, game.NoParity, game.Odd, 0)
		}
	}, func(c *manager.Config) { c.DataDir = dir })

	for name, want := range map[string]string{
		"config/agents/agents_config.json": `{"league_id":"cup","players":[{"contact_endpoint":"http://player-1/mcp","dialect":"contracts","display_name":"player-1","game_types":["even_odd"],"player_id":"P01","registered_at":"T","version":"1.0.0"},{"contact_endpoint":"http://player-2/mcp","dialect":"contracts","display_name":"player-2","game_types":["even_odd"],"player_id":"P02","registered_at":"T","version":"1.0.0"},{"contact_endpoint":"http://player-3/mcp","dialect":"contracts","display_name":"player-3","game_types":["even_odd"],"player_id":"P03","registered_at":"T","version":"1.0.0"}],"referees":[{"contact_endpoint":"http://north/mcp","dialect":"contracts","display_name":"north","game_types":["even_odd"],"max_concurrent_matches":2,"referee_id":"REF01","registered_at":"T","version":"1.0.0"}],"updated":"T"}`,
		"data/leagues/cup/standings.json":  `{"league_id":"cup","matches_completed":3,"rounds_completed":3,"standings":[{"display_name":"player-2","draws":0,"losses":0,"played":2,"player_id":"P02","points":6,"rank":1,"technical_losses":0,"wins":2},{"display_name":"player-3","draws":1,"losses":1,"played":2,"player_id":"P03","points":1,"rank":2,"technical_losses":0,"wins":0},{"display_name":"player-1","draws":1,"losses":1,"played":2,"player_id":"P01","points":1,"rank":3,"technical_losses":1,"wins":0}],"status":"completed","total_rounds":3,"updated":"T"}`,
		"data/matches/cup/R1M1.json":       `{"game_type":"even_odd","league_id":"cup","match_id":"R1M1","player_A_id":"P02","player_B_id":"P03","referee_id":"REF01","reported_at":"T","result":{"details":{"choices":{"P02":"even","P03":"odd"},"drawn_number":8,"number_parity":"even","status":"WIN"},"score":{"P02":3,"P03":0},"winner":"P02"},"round_id":1}`,
		"data/matches/cup/R2M1.json":       `{"game_type":"even_odd","league_id":"cup","match_id":"R2M1","player_A_id":"P03","player_B_id":"P01","referee_id":"REF01","reported_at":"T","result":{"details":{"choices":{"P01":"even","P03":"even"},"drawn_number":3,"number_parity":"odd","status":"DRAW"},"score":{"P01":1,"P03":1},"winner":null},"round_id":2}`,
		"data/matches/cup/R3M1.json":       `{"game_type":"even_odd","league_id":"cup","match_id":"R3M1","player_A_id":"P01","player_B_id":"P02","referee_id":"REF01","reported_at":"T","result":{"details":{"choices":{"P02":"odd"},"drawn_number":null,"number_parity":null,"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P01"]},"score":{"P01":0,"P02":3},"winner":"P02"},"round_id":3}`,
	} {
		content, err := json.Marshal(load(t, filepath.Join(dir, name)))
		if got := moment.ReplaceAllString(string(content), "T"); err != nil || got != want {
			t.Errorf("%s is %v\n%s, want\n%s", name, err, got, want)
		}
	}
	guarded(t, dir, append(players, referee))
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`)

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
