package manager

import (
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// files are the JSON files for people and tools that are outdated, guarded by Manager.mu.
// They are written in the background at the ends of rounds.
type files struct {
	agents, table bool
	matches       []game.Match // over, and not written yet
}

// catchUp has what an earlier process has left out written.
func (m *Manager) catchUp() {
	m.files.agents, m.files.table = true, true
	for _, p := range m.state.Results() {
		if _, err := os.Stat(filepath.Join(m.cfg.DataDir, m.matchName(p.ID))); err != nil {
			m.files.matches = append(m.files.matches, m.state.Schedule.Matches()[p.Index])
		}
	}
}

func (m *Manager) matchName(id string) string {
	return filepath.Join("data", "matches", m.cfg.LeagueID, id+".json")
}

// outdate notes what an event makes outdated. It is called with m.mu held.
func (m *Manager) outdate(e league.Event) {
	f := &m.files
	if m.journal == nil {
		return
	}
	switch e := e.(type) {
	case *league.Assigned, *league.PaceSet:
		return
	case *league.Reported:
		p, _ := m.state.Find(e.Match)
		f.matches = append(f.matches, p)
		f.table = true // but not now
		return
	case *league.Joined:
		f.agents = true
	}
	f.table = true
	if m.ctx.Err() == nil {
		m.background.Go(m.writeFiles)
	}
}

// writeFiles writes what is outdated.
func (m *Manager) writeFiles() {
	m.writing.Lock()
	defer m.writing.Unlock()
	all := make(map[string]any) // by name; only referees know the endpoints of players
	m.mu.Lock()
	now := protocol.Timestamp(m.cfg.Now())
	if m.files.agents {
		all[filepath.Join("config", "agents", "agents_config.json")] = m.state.AgentsFile(now)
	}
	if m.files.table {
		all[filepath.Join("data", "leagues", m.cfg.LeagueID, "standings.json")] = m.state.TableFile(now)
	}
	for _, p := range m.files.matches {
		all[m.matchName(p.ID)] = m.state.MatchFile(p)
	}
	m.files = files{}
	m.mu.Unlock()
	for name, v := range all {
		content, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
		if err == nil {
			err = disk.WriteFile(filepath.Join(m.cfg.DataDir, name), append(content, '\n'), 0o600)
		}
		if err != nil {
			m.cfg.Log.Error("view not written; the journal is not affected", "error", err)
		}
	}
}
