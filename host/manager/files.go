package manager

import (
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// catchUp has what an earlier process has left out written.
func (m *Manager) catchUp() {
	m.files.agents, m.files.table = true, true
	for _, p := range m.state.Results() {
		if _, err := os.Stat(filepath.Join(m.cfg.DataDir, "data", "matches", m.cfg.LeagueID, p.ID+".json")); err != nil {
			m.files.matches = append(m.files.matches, m.state.Schedule.Matches()[p.Index])
		}
	}
}

// outdate notes what an event makes outdated. It is called with m.mu held.
func (m *Manager) outdate(e league.Event) {
	later := m.journal == nil || m.ctx.Err() != nil
	switch e := e.(type) {
	case *league.Assigned, *league.PaceSet:
		return
	case *league.Reported:
		if p, _ := m.state.Find(e.Match); m.journal != nil {
			m.files.matches = append(m.files.matches, p)
		}
		later = true
	case *league.Joined:
		m.files.agents = true
	}
	if m.files.table = true; !later {
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
		all[filepath.Join("data", "matches", m.cfg.LeagueID, p.ID+".json")] = m.state.MatchFile(p)
	}
	m.files.agents, m.files.table, m.files.matches = false, false, nil
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
