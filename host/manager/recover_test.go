package manager_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/journal/journaltest"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/manager/managertest"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// recount fails unless the journal says what the manager says.
func (r *rig) recount(dir string, players, legs int) {
	r.t.Helper()
	again := managertest.Table(r.t, dir, "cup")
	if diff := cmp.Diff(r.m.Standings(), again); diff != "" {
		r.t.Errorf("the table, and what the journal makes of it (-manager +journal):\n%s", diff)
	}
	if diff := cmp.Diff(table(r.t, players, legs), rows(again)); diff != "" {
		r.t.Errorf("the table, and what the rules make of it (-rules +journal):\n%s", diff)
	}
}

// played plays a league with a data directory to its end, and returns the journal and the agents.
func played(t *testing.T, players int) (log []byte, agents []*scripted) {
	t.Helper()
	dir := t.TempDir()
	r, referee, field := whole(t, players, fair, func(c *manager.Config) { c.DataDir = dir })
	agents = append(field, referee)
	r.recount(dir, players, 1)
	log, err := os.ReadFile(manager.JournalName(dir, "cup"))
	if err != nil {
		t.Fatal(err)
	}
	return log, agents
}

// again is an agent of another rig on this one: with its id and its token, if
// the journal has them, as it would be after a crash of the manager.
func (r *rig) again(old *scripted, log []byte) *scripted {
	s := r.silent(old.role, old.name)
	if bytes.Contains(log, []byte(credential.NewVerifier(old.token).String())) {
		s.id, s.token = old.id, old.token
		close(s.named)
	}
	s.listen(old.name)
	return s
}

// TestCrashOfAManager cuts off the journal of a whole league after every event and
// within every event, as a crash at any moment leaves it. Each time the league is played
// to its end, and the table is what it would have been.
func TestCrashOfAManager(t *testing.T) {
	t.Parallel()
	const players = 4
	log, agents := played(t, players)
	cuts := journaltest.Cuts(log, os.Getenv("LONG_TESTS") != "")
	if want := 2*(1+players+1+3*4+1) + 1; len(cuts) < want {
		t.Fatalf("%d places to cut, want %d", len(cuts), want)
	}
	t.Logf("crash: manager: journal cut at %d places, played to the end after each", len(cuts))
	for _, at := range cuts {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			whole := journaltest.Whole(log[:at])
			if err := disk.WriteFile(manager.JournalName(dir, "cup"), log[:at], 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, func(c *manager.Config) { c.Players, c.DataDir = players, dir })
			acked := len(r.m.Results())
			if n := bytes.Count(whole, []byte(" reported ")); acked != n {
				t.Errorf("%d results of %d are known", acked, n)
			}
			var all []*scripted
			for _, old := range agents {
				s := r.again(old, whole)
				if s.role == protocol.RoleReferee {
					s.conducts(fair)
				}
				all = append(all, s)
			}
			r.run()
			for _, s := range all {
				if s.token == "" {
					s.register()
				}
			}
			r.finish()
			r.recount(dir, players, 1)
			told := bytes.Count(whole, []byte(" completed ")) > 0
			for _, s := range all {
				if n := len(got[*protocol.LeagueCompleted](s.inbox.all())); n != 1 && !told || n != 0 && told {
					t.Errorf("%s was told %d times that the league is over", s.id, n)
				}
			}
		})
	}
}

func TestARestartAnnouncesOnlyWhatIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	configure := func(c *manager.Config) { c.DataDir = dir }
	r := newRig(t, configure)
	referee := r.referee("north")
	players := r.begin(4)
	told := referee.announcements(1).Matches
	done, left := told[0], told[1]
	referee.report(done, 1, result(done, game.Even, game.Odd, 8))
	r.kill()

	r.open(configure)
	r.run()
	after := referee.announcements(2)
	if diff := cmp.Diff([]string{left.MatchID}, ids(after.Matches)); diff != "" {
		t.Errorf("the referee is informed of (-want +got):\n%s", diff)
	}
	if k := after.Matches[0].PlayerAKeys; k == nil || k.Send != left.PlayerAKeys.Send || k.Expect != left.PlayerAKeys.Expect {
		t.Error("the match keys have changed")
	}
	if n := len(players[0].announcements(2).Matches); n != 2 {
		t.Errorf("the players are informed of %d matches, want all 2 of the round", n)
	}
	if a, b := got[*protocol.RoundAnnouncement](players[0].inbox.all())[0], players[0].announcements(2); a.AuthToken != b.AuthToken {
		t.Error("the manager makes itself known by another token")
	}
	// The referee never saw the answer to its report, and repeats it.
	refusal := refuses(t, 5003, protocol.CodeDuplicateReport)(referee.call(referee.reportOf(done, 1, result(done, game.Even, game.Odd, 8))))
	wantData(t, refusal, map[string]any{"same_result": true})
}

func TestALeagueGoesOnWithTheLegsItStartedWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, func(c *manager.Config) { c.DataDir, c.Legs = dir, 2 })
	r.referee("north")
	r.field(2)
	r.start()
	if err := r.m.Close(); err != nil {
		t.Fatal(err)
	}
	var log book
	newRig(t, func(c *manager.Config) { c.DataDir, c.Log = dir, log.logger() })
	if n := len(log.lines("legs=2 configured=1")); n != 1 {
		t.Errorf("the log says:\n%s", strings.Join(log.all(), ""))
	}
}

// The journal of another league, or of a manager that was different, is not gone on with.
func TestAJournalThatDoesNotFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _, err := journal.Open(manager.JournalName(dir, "cup"), journal.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	registered := &league.Joined{Registration: league.Registration{Role: protocol.RoleReferee, ID: "REF01", Verifier: strings.Repeat("0", 64)}}
	for _, e := range []league.Event{registered, &league.Started{Legs: 1, Seats: []string{"P01", "P02"}}} { // without players
		if err := j.Append(t.Context(), e.Kind(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	caller := &wire.Caller{Client: jsonrpc.NewClient(new(jsonrpc.Loopback).From("x"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
	_, err = manager.New(manager.Config{LeagueID: "cup", DataDir: dir, Caller: caller})
	if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "event 2 (started)") {
		t.Errorf("the error is %v", err)
	}
}

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
