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

// files are the JSON files for people and tools. They are written in the
// background from what the journal holds already; recovery never reads them.
// What changes often is written at the end of a round: a match's file once, the
// table once a round. They are guarded by Manager.mu.
type files struct {
	agents, table bool         // outdated
	matches       []game.Match // over, and not written yet
	due           bool         // the files are to be written now
	writing       bool
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
	f.table, f.due = true, true
	if f.writing || m.ctx.Err() != nil {
		return
	}
	f.writing = true
	m.background.Go(func() {
		for m.writesNow() {
			m.writeFiles()
		}
	})
}

// writesNow reports whether there is something to write; without, writing ends.
func (m *Manager) writesNow() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files.writing = m.files.due && m.ctx.Err() == nil
	return m.files.writing
}

// writeFiles writes what is outdated. It is called by one goroutine at a time.
func (m *Manager) writeFiles() {
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
	m.files = files{writing: m.files.writing}
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
