package manager

import (
	"os"
	"path/filepath"
	"time"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// views are the JSON files for people and tools. They are written in the
// background from what the journal holds already; recovery never reads them.
// What changes often is written at the end of a round: a match's file once, the
// table once a round.
type views struct {
	m *Manager

	// Guarded by Manager.mu:
	agents, table bool  // outdated
	matches       []int // over, and not written yet
	due           bool  // the files are to be written now
	writing       bool
}

// catchUp lists the matches that are over and have no file.
func (v *views) catchUp() {
	s := v.m.state
	if s.schedule == nil {
		return
	}
	for _, p := range s.schedule.Matches() {
		if !s.matches[p.Index].outcome.over() {
			continue
		}
		if _, err := os.Stat(v.matchName(p.ID)); err != nil {
			v.matches = append(v.matches, p.Index)
		}
	}
}

func (v *views) leagueDir() string {
	return filepath.Join(v.m.cfg.DataDir, "data", "leagues", v.m.cfg.LeagueID)
}

func (v *views) matchName(id string) string {
	return filepath.Join(v.m.cfg.DataDir, "data", "matches", v.m.cfg.LeagueID, id+".json")
}

// follow notes what an event makes outdated. It is called with m.mu held.
func (v *views) follow(e event) {
	switch e := e.(type) {
	case *assigned, *paceSet:
		return
	case *reported:
		p, _ := v.m.state.schedule.Find(e.Match)
		v.matches = append(v.matches, p.Index)
		v.table = true // but not now
		return
	case *registered:
		v.agents = true
	}
	v.table, v.due = true, true
	if v.writing || v.m.stopped {
		return
	}
	v.writing = true
	v.m.background.Go(v.write)
}

// write brings the files up to date until none is outdated.
func (v *views) write() {
	for {
		v.m.mu.Lock()
		if !v.due || v.m.stopped {
			v.writing = false
			v.m.mu.Unlock()
			return
		}
		v.m.mu.Unlock()
		v.flush()
	}
}

// flush writes what is outdated. It is called by one goroutine at a time.
func (v *views) flush() {
	m := v.m
	m.mu.Lock()
	v.due = false
	var agents *agentsView
	if v.agents {
		agents = v.agentsView()
	}
	var table *tableView
	if v.table {
		table = v.tableView()
	}
	matches := make([]matchView, 0, len(v.matches))
	for _, i := range v.matches {
		matches = append(matches, v.matchView(m.state.schedule.Matches()[i]))
	}
	v.agents, v.table, v.matches = false, false, nil
	m.mu.Unlock()
	if agents != nil {
		// Only referees know the endpoints of players.
		v.put(filepath.Join(m.cfg.DataDir, "config", "agents", "agents_config.json"), agents, 0o600)
	}
	if table != nil {
		v.put(filepath.Join(v.leagueDir(), "standings.json"), table, 0o600)
	}
	for i := range matches {
		v.put(v.matchName(matches[i].MatchID), &matches[i], 0o600)
	}
}

func (v *views) put(name string, content any, perm os.FileMode) {
	if err := disk.WriteJSON(name, content, perm); err != nil {
		v.m.cfg.Log.Error("view not written; the journal is not affected", "error", err)
	}
}

type agentsView struct {
	LeagueID string      `json:"league_id"`
	Updated  string      `json:"updated"`
	Referees []agentView `json:"referees"`
	Players  []agentView `json:"players"`
}

type agentView struct {
	RefereeID  string   `json:"referee_id,omitempty"`
	PlayerID   string   `json:"player_id,omitempty"`
	Name       string   `json:"display_name"`
	Version    string   `json:"version,omitempty"`
	Games      []string `json:"game_types,omitempty"`
	Endpoint   string   `json:"contact_endpoint"`
	Capacity   int      `json:"max_concurrent_matches,omitempty"`
	Dialect    string   `json:"dialect"`
	Registered string   `json:"registered_at"`
}

func (v *views) agentsView() *agentsView {
	s := v.m.state
	view := &agentsView{LeagueID: s.league, Updated: v.now(), Referees: []agentView{}, Players: []agentView{}}
	describe := func(a *member) agentView {
		return agentView{
			Name: a.reg.Name, Version: a.reg.Version, Games: a.reg.Games, Endpoint: a.reg.Endpoint, Capacity: a.reg.Capacity,
			Dialect: a.reg.Dialect, Registered: protocol.Timestamp(a.reg.At),
		}
	}
	for _, a := range s.referees {
		view.Referees = append(view.Referees, describe(a))
		view.Referees[len(view.Referees)-1].RefereeID = a.id
	}
	for _, a := range s.seating() {
		view.Players = append(view.Players, describe(a))
		view.Players[len(view.Players)-1].PlayerID = a.id
	}
	return view
}

type tableView struct {
	LeagueID         string     `json:"league_id"`
	Updated          string     `json:"updated"`
	Status           string     `json:"status"`
	RoundsCompleted  int        `json:"rounds_completed"`
	TotalRounds      int        `json:"total_rounds"`
	MatchesCompleted int        `json:"matches_completed"`
	Standings        []Standing `json:"standings"`
}

func (v *views) tableView() *tableView {
	s := v.m.state
	view := &tableView{
		LeagueID: s.league, Updated: v.now(), Status: protocol.LeagueWaiting, RoundsCompleted: s.closed,
		TotalRounds: s.rounds(), MatchesCompleted: s.reports, Standings: s.standings(),
	}
	switch {
	case s.over():
		view.Status = protocol.LeagueFinished
	case s.running():
		view.Status = protocol.LeagueRunning
	}
	return view
}

type matchView struct {
	LeagueID  string     `json:"league_id"`
	RoundID   int        `json:"round_id"`
	MatchID   string     `json:"match_id"`
	GameType  string     `json:"game_type"`
	PlayerA   string     `json:"player_A_id"`
	PlayerB   string     `json:"player_B_id"`
	RefereeID string     `json:"referee_id"`
	Reported  string     `json:"reported_at"`
	Result    resultView `json:"result"`
}

// resultView has the form of the result in MATCH_RESULT_REPORT.
type resultView struct {
	Winner  *string        `json:"winner"`
	Score   map[string]int `json:"score"`
	Details detailsView    `json:"details"`
}

type detailsView struct {
	DrawnNumber  *int              `json:"drawn_number"`
	NumberParity *string           `json:"number_parity"`
	Choices      map[string]string `json:"choices"`
	Status       string            `json:"status"`
	Offenders    []string          `json:"technical_loss_player_ids,omitempty"`
}

func (v *views) matchView(p game.Match) matchView {
	known, told := &v.m.state.matches[p.Index], v.m.state.finished(p)
	view := matchView{
		LeagueID: v.m.state.league, RoundID: p.Round, MatchID: p.ID, GameType: protocol.GameEvenOdd,
		PlayerA: told.Players[0], PlayerB: told.Players[1], RefereeID: told.RefereeID,
		Reported: protocol.Timestamp(time.Unix(0, known.at)),
		Result: resultView{
			Score:   map[string]int{told.Players[0]: told.Points[0], told.Players[1]: told.Points[1]},
			Details: detailsView{Choices: map[string]string{}, Status: told.Status()},
		},
	}
	if winner := told.Winner(); winner != "" {
		view.Result.Winner = &winner
	}
	d := &view.Result.Details
	if told.Drawn {
		parity := game.ParityOf(told.Number).String()
		d.DrawnNumber, d.NumberParity = &told.Number, &parity
	}
	for i, id := range told.Players {
		if told.Choices[i] != game.NoParity {
			d.Choices[id] = told.Choices[i].String()
		}
		if told.Results[i] == game.TechnicalLoss {
			d.Offenders = append(d.Offenders, id)
		}
	}
	return view
}

func (v *views) now() string { return protocol.Timestamp(v.m.cfg.Now()) }
