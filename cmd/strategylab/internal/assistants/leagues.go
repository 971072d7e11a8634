package assistants

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// Bounds of what league_status answers.
const (
	maxLeagues   = 50
	maxStandings = 50
	maxTable     = 1 << 20 // bytes of a stored table

	queryTime = 5 * time.Second // for the answer of a manager
)

// leaguesFolder is where managers store the standings of their leagues.
const leaguesFolder = "data/leagues"

func (l *labTools) leagues(ctx context.Context, in LeagueInput, _ meter) (LeagueOutput, error) {
	out := LeagueOutput{Leagues: []League{}}
	for _, m := range l.cfg.managers {
		if in.League == "" || in.League == m.name {
			out.Leagues = append(out.Leagues, l.ask(ctx, m))
		}
	}
	stored, err := l.stored(in.League)
	if err != nil {
		return out, err
	}
	out.Leagues = append(out.Leagues, stored...)
	if err := context.Cause(ctx); err != nil {
		return out, err
	}
	switch n := len(out.Leagues); {
	case n == 0 && in.League != "":
		return out, command.Usagef("unknown league %q; call this tool without league to list all", in.League)
	case n == 0:
		out.Summary = "There is no league: this server was started without --manager, and its data folder has none."
	case n == 1:
		out.Summary = out.Leagues[0].sentence()
	default:
		out.Summary = fmt.Sprintf("There are %d leagues.", n)
		for _, g := range out.Leagues {
			out.Summary += " " + g.sentence()
		}
		out.Summary = strategies.Clip(out.Summary, 2000)
	}
	return out, nil
}

func (g League) sentence() string {
	if g.Error != "" {
		return fmt.Sprintf("League %s: %s.", g.ID, g.Error)
	}
	text := fmt.Sprintf("League %s is %s", g.ID, g.Status)
	if g.Rounds > 0 {
		text += fmt.Sprintf(", round %d of %d", g.Round, g.Rounds)
	}
	if len(g.Standings) > 0 && g.Standings[0].Played > 0 {
		text += fmt.Sprintf("; %s leads with %s", g.Standings[0].Player, plural(int64(g.Standings[0].Points), "point"))
	}
	return text + "."
}

func (l *labTools) ask(ctx context.Context, m manager) League {
	g := League{ID: m.name, Origin: "manager", Name: m.league, Standings: []Standing{}}
	var status protocol.StatusData
	var table protocol.StandingsData
	err := l.query(ctx, m, protocol.QueryStatus, &status)
	if err == nil {
		err = l.query(ctx, m, protocol.QueryStandings, &table)
	}
	if err != nil {
		g.Error = "its manager does not answer: " + strategies.OneLine(err.Error(), 300)
		return g
	}
	g.Status, g.Round, g.Rounds, g.Matches = strategies.OneLine(status.Status, 60), status.CurrentRound.Value(), status.TotalRounds.Value(), status.MatchesCompleted.Value()
	g.addStandings(table.Standings)
	return g
}

func (l *labTools) query(ctx context.Context, m manager, kind string, into any) error {
	q := &protocol.LeagueQuery{QueryType: kind}
	q.MessageType = protocol.TypeLeagueQuery
	answer, err := host.Ask{Manager: m.url, Token: l.cfg.AdminToken, League: m.league, Timeout: queryTime}.Tell(ctx, l.cfg.lab.Now(), q)
	if code := dialect.CodeOf(err); code == protocol.CodeTokenMissing || code == protocol.CodeTokenInvalid {
		return errors.New("it needs a token: start this server with --admin-token or STRATEGYLAB_ADMIN_TOKEN")
	}
	if err != nil {
		return err
	}
	r, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok || r.Data == nil {
		return errors.New("the answer has no data")
	}
	if err := json.Unmarshal(r.Data, into); err != nil {
		return fmt.Errorf("its answer to %s is not valid", kind)
	}
	return nil
}

// stored reads the standings of leagues in the data folder: of one, or of all.
func (l *labTools) stored(only string) ([]League, error) {
	root, err := os.OpenRoot(l.cfg.data)
	var entries []fs.DirEntry
	if err == nil {
		defer root.Close()
		entries, err = fs.ReadDir(root.FS(), leaguesFolder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the leagues in %s: %w", l.cfg.Data, disk.Pathless(err))
	}
	var leagues []League
	for _, e := range entries {
		id := e.Name()
		if !e.IsDir() || !isID(id) || (only != "" && only != id) {
			continue
		}
		if len(leagues) == maxLeagues {
			break
		}
		leagues = append(leagues, readTable(root, id))
	}
	return leagues, nil
}

func readTable(root *os.Root, id string) League {
	g := League{ID: id, Origin: "stored", Standings: []Standing{}}
	content, err := disk.ReadIn(root, filepath.Join(leaguesFolder, id, "standings.json"), maxTable)
	var table struct {
		League    string              `json:"league_id"`
		Updated   string              `json:"updated"`
		Status    string              `json:"status"`
		Rounds    int                 `json:"total_rounds"`
		Done      int                 `json:"rounds_completed"`
		Matches   int                 `json:"matches_completed"`
		Standings []protocol.Standing `json:"standings"`
	}
	if err == nil {
		err = json.Unmarshal(content, &table)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.Error = "it has no standings yet"
		return g
	case err != nil:
		g.Error = "its standings cannot be read: " + disk.Pathless(err).Error()
		return g
	}
	g.Name, g.Status, g.Updated = table.League, strategies.OneLine(table.Status, 60), strategies.OneLine(table.Updated, 60)
	g.Round, g.Rounds, g.Matches = table.Done, table.Rounds, table.Matches
	g.addStandings(table.Standings)
	return g
}

// addStandings adds the first lines of a table, whose texts may be anybody's.
func (g *League) addStandings(table []protocol.Standing) {
	for _, s := range table[:min(len(table), maxStandings)] {
		g.Standings = append(g.Standings, Standing{
			Rank: s.Rank, Player: strategies.OneLine(s.PlayerID, 64), Name: strategies.OneLine(s.DisplayName, 100), Played: s.Played.Value(),
			Wins: s.Wins.Value(), Draws: s.Draws.Value(), Losses: s.Losses.Value(), Points: s.Points,
		})
	}
}
