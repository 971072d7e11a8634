package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestJournal recovers what was appended, under the name that the agent goes by
// before it has an id. What cannot be applied, or is not known, is damage.
func TestJournal(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct {
		role   protocol.Role
		name   string
		id     string
		folder string
	}{
		{protocol.RolePlayer, "Team 7!", "", "Team-7-"}, {protocol.RolePlayer, "***", "", "player"}, {protocol.RolePlayer, "x", "P07", "P07"},
		{protocol.RoleReferee, "Referee", "", "Referee"}, {protocol.RoleReferee, "Team 7!", "", "referee"}, {protocol.RoleReferee, "x", "REF02", "REF02"},
		{protocol.RolePlayer, "x", "../a: b", "%2E.%2Fa%3A%20b"},
	} {
		dir := t.TempDir()
		recovered := func() (*agent.Member, []string, error) {
			m := newMember(t, tt.role, agent.Config{Name: tt.name, ID: tt.id, Data: dir}, nobody)
			var words []string
			err := m.Recover("agents", map[string]agent.Apply{
				"said": agent.Into(func(w string) error { words = append(words, w); return nil }),
				"lied": func(json.RawMessage) error { return errBoom },
			})
			return m, words, err
		}
		m, _, err := recovered()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(m.Append(t.Context(), "said", "one"), m.Append(t.Context(), "said", "two"), m.Close()); err != nil {
			t.Fatal(err)
		}
		m, words, err := recovered()
		if err != nil || strings.Join(words, " ") != "one two" {
			t.Errorf("%s %q: recovered %q, %v", tt.role, tt.name, words, err)
		}
		if found, _ := filepath.Glob(filepath.Join(dir, "data", "agents", tt.folder, "journal")); len(found) != 1 {
			all, _ := filepath.Glob(filepath.Join(dir, "data", "agents", "*"))
			t.Errorf("%s %q: no journal in folder %q, but in %q", tt.role, tt.name, tt.folder, all)
		}
		bad := []string{"lied", "novelty"}[i%2]
		if err := errors.Join(m.Append(t.Context(), bad, 1), m.Close()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := recovered(); !errors.Is(err, journal.ErrDamaged) || errors.Is(err, errBoom) != (bad == "lied") || !strings.Contains(err.Error(), bad) {
			t.Errorf("the event %s: %v", bad, err)
		}
		if err := m.Append(t.Context(), "said", "late"); !errors.Is(err, journal.ErrClosed) || errors.Is(err, agent.ErrJournal) {
			t.Errorf("after the end: %v", err)
		}
	}
}

// TestWithoutAJournal: without a data directory nothing is kept and nothing fails.
func TestWithoutAJournal(t *testing.T) {
	t.Parallel()
	m := newMember(t, protocol.RolePlayer, agent.Config{}, nobody)
	if err := m.Recover("players", nil); err != nil {
		t.Error(err)
	}
	if err := errors.Join(m.Append(t.Context(), "said", 1), m.Close()); err != nil {
		t.Error(err)
	}
}

func TestABrokenJournalEndsTheStay(t *testing.T) {
	t.Parallel()
	m := newMember(t, protocol.RolePlayer, agent.Config{ID: "P07", Data: t.TempDir()}, nobody)
	if err := m.Recover("players", nil); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	bad := m.Append(t.Context(), "said", func() {}) // no JSON
	if !errors.Is(bad, agent.ErrJournal) {
		t.Fatalf("error %v", bad)
	}
	if err := m.Stay(t.Context(), agent.Stay{}); !errors.Is(err, agent.ErrJournal) {
		t.Errorf("the stay ends with %v", err)
	}
}

// Each kind of each agent is logged once, with its number at the end.
func TestTally(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var tally agent.Tally
	for range 3 {
		tally.Note(log, "refused", "P01", "GAME_OVER", errors.New("no"))
	}
	tally.Note(log, "refused", "P02", "GAME_OVER", errors.New("no"))
	if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "level=WARN") {
		t.Errorf("%d lines:\n%s", n, &out)
	}
	out.Reset()
	tally.Close(log)
	tally.Close(log)
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "agent=P01") || !strings.Contains(got, "times=3") {
		t.Errorf("at the end:\n%s", got)
	}
}
