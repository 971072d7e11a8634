package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/export"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// run returns a plan and leagues with all that rows can hold: faults with and
// without a choice, a biased draw, names that CSV must quote.
func run(leagues int) (results.Plan, []results.League) {
	plan := results.Plan{Schema: results.PlanSchema, Runs: leagues, Legs: 3, Seed: 1, Draw: "weights:1=1,2=3", Transport: "direct"}
	for _, n := range []string{"a", `b "the, quoted"`, "c\u00e9", "d"} {
		plan.Field = append(plan.Field, results.Entrant{Name: n})
	}
	sched := attest.Must(game.NewSchedule(4, 3))
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]results.League, leagues)
	for k := range list {
		l := &list[k]
		l.Index, l.Seats = k, game.Seats(1, k, 4)
		for range sched.Matches() {
			side := func() game.Side { return game.Side{Choice: game.Even + game.Parity(r.IntN(2))} }
			m := results.Match{A: side(), B: side(), Number: int32(1 + r.IntN(2))}
			switch r.IntN(12) {
			case 0:
				m.A, m.Number = game.Side{Fault: game.FaultTimeout}, results.NoNumber
			case 1:
				m.B.Fault, m.Number = game.FaultError, results.NoNumber
			}
			l.Matches = append(l.Matches, m)
		}
	}
	return plan, list
}

func written(t testing.TB, f export.Format, k export.Kind, plan results.Plan, leagues []results.League) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := attest.Must(export.NewWriter(&buf, f, k, plan))
	for i := range leagues {
		attest.OK(t, w.Append(&leagues[i]))
	}
	attest.OK(t, w.Close())
	return buf.Bytes()
}

func fromJSON[R any](t *testing.T, file []byte) []R {
	t.Helper()
	var rows []R
	for dec := json.NewDecoder(bytes.NewReader(file)); ; {
		var r R
		if err := dec.Decode(&r); err == io.EOF {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
}

// The formats say the same, cell by cell.
func TestFormatsAgree(t *testing.T) {
	plan, leagues := run(20)
	for kind, columns := range map[export.Kind]string{
		export.Leagues: `{"name":"league","type":"int32"},{"name":"player","type":"string","encoding":"dict"},`,
		export.Pairs:   `{"name":"league","type":"int32"},{"name":"player_a","type":"string","encoding":"dict"},`,
		export.Matches: `{"name":"league","type":"int32"},{"name":"match","type":"string","encoding":"dict"},{"name":"round","type":"int32","encoding":"delta"},`,
	} {
		lines := written(t, export.NDJSON, kind, plan, leagues)
		head, rows, _ := bytes.Cut(written(t, export.Parquet, kind, plan, leagues), []byte("\n"))
		if !bytes.HasPrefix(head, []byte(`{"columns":[`+columns)) || !bytes.Equal(rows, lines) {
			t.Errorf("%s: a Parquet file is made of %s and %d bytes of rows, want columns %s and %d bytes", kind, head, len(rows), columns, len(lines))
		}
		var described struct{ Metadata map[string]string }
		var kept results.Plan
		err := json.Unmarshal(head, &described)
		if err := errors.Join(err, json.Unmarshal([]byte(described.Metadata["strategylab.plan"]), &kept)); err != nil || !cmp.Equal(kept, plan) {
			t.Errorf("%s: the plan is kept as %s: %v", kind, head, err)
		}
		text := attest.Must(csv.NewReader(bytes.NewReader(written(t, export.CSV, kind, plan, leagues))).ReadAll())
		objects := fromJSON[map[string]any](t, lines)
		var array []map[string]any
		if err := json.Unmarshal(written(t, export.JSON, kind, plan, leagues), &array); err != nil || cmp.Diff(objects, array) != "" {
			t.Errorf("the array (%v) is not the objects that stand a line each", err)
		}
		if len(text) != len(objects)+1 {
			t.Fatalf("%d lines of CSV, %d of JSON", len(text), len(objects))
		}
		for i, line := range text[1:] {
			for c, cell := range line {
				want := ""
				switch v := objects[i][text[0][c]].(type) {
				case string:
					want = v
				case float64:
					want = strconv.FormatFloat(v, 'g', -1, 64)
				}
				if cell != want {
					t.Fatalf("%s, row %d, %s: CSV %q, JSON %q", kind, i, text[0][c], cell, want)
				}
			}
		}
	}
}

// Means over the rows are the estimates that the lab prints.
func TestRowsComeToTheEstimates(t *testing.T) {
	plan, leagues := run(50)
	acc := attest.Must(analysis.NewAccumulator(plan))
	for i := range leagues {
		attest.OK(t, acc.Add(leagues[i]))
	}
	type sums struct{ leagues, matches, points, adjusted, wins, technical, clean, differ, rank, titles float64 }
	byLeague, byMatch, byPair := map[string]*sums{}, map[string]*sums{}, map[string]*sums{}
	for _, f := range plan.Field {
		byLeague[f.Name], byMatch[f.Name], byPair[f.Name] = new(sums), new(sums), new(sums)
	}
	for _, r := range fromJSON[export.LeagueRow](t, written(t, export.NDJSON, export.Leagues, plan, leagues)) {
		s := byLeague[r.Player]
		*s = sums{s.leagues + 1, s.matches + float64(r.Matches), s.points + float64(r.Points), s.adjusted + r.Adjusted, s.wins + float64(r.Wins),
			s.technical + float64(r.TechnicalLosses), s.clean + float64(r.Clean), s.differ + float64(r.Differ), s.rank + r.Rank, s.titles + r.ChampionShare}
	}
	yes := map[bool]float64{true: 1}
	for _, r := range fromJSON[export.MatchRow](t, written(t, export.NDJSON, export.Matches, plan, leagues)) {
		for i, s := range []*sums{byMatch[r.PlayerA], byMatch[r.PlayerB]} {
			s.matches++
			s.points += float64([]int32{r.PointsA, r.PointsB}[i])
			s.adjusted += []float64{r.AdjustedA, r.AdjustedB}[i]
			s.technical += yes[[]string{r.FaultA, r.FaultB}[i] != ""]
			s.clean += yes[r.Number != nil]
			s.differ += yes[r.Number != nil && r.ChoiceA != r.ChoiceB]
		}
	}
	for _, r := range fromJSON[export.PairRow](t, written(t, export.NDJSON, export.Pairs, plan, leagues)) {
		for i, s := range []*sums{byPair[r.PlayerA], byPair[r.PlayerB]} {
			s.matches, s.clean, s.differ = s.matches+float64(r.Matches), s.clean+float64(r.Clean), s.differ+float64(r.Differ)
			s.points += float64([]int32{r.PointsA, r.PointsB}[i])
			s.adjusted += []float64{r.AdjustedA, r.AdjustedB}[i]
		}
	}
	for _, p := range acc.Estimates(0.95).Players {
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s %s: %v, want %v", p.Name, what, got, want)
			}
		}
		for _, s := range []*sums{byLeague[p.Name], byMatch[p.Name], byPair[p.Name]} {
			near("points", s.points/s.matches, p.Points.Estimate)
			near("adjusted", s.adjusted/s.matches, p.Adjusted.Estimate)
			near("differ", s.differ/s.clean, p.Differ.Estimate)
		}
		l := byLeague[p.Name]
		near("technical", l.technical, float64(p.TechnicalLosses))
		near("technical", byMatch[p.Name].technical, float64(p.TechnicalLosses))
		near("wins", l.wins, float64(p.Wins))
		near("rank", l.rank/l.leagues, p.Rank.Estimate)
		near("titles", l.titles/l.leagues, p.ChampionShare.Estimate)
	}
}

func TestBadInput(t *testing.T) {
	plan, _ := run(1)
	_, err := export.NewWriter(io.Discard, "yaml", export.Leagues, plan)
	attest.Fails(t, err, "yaml", "format yaml")
	for _, kind := range []export.Kind{export.Leagues, export.Pairs, export.Matches} {
		w := attest.Must(export.NewWriter(io.Discard, export.CSV, kind, plan))
		attest.Fails(t, w.Append(&results.League{Index: 3}), "league 3", "a league of nothing")
		bad := plan
		bad.Draw = "?"
		if _, err := export.NewWriter(io.Discard, export.CSV, kind, bad); err == nil {
			t.Error("a plan without a draw is exported")
		}
	}
}
