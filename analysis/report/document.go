package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
)

// Schema is the version of the document that this package writes.
const Schema = "strategylab/experiment/v1"

// Document is an experiment's outcome for other programs: what "experiment --format
// json" prints and what summary.json holds. It has no NaN and no infinities; a number
// that does not exist is null. If Reproducible is true, a rerun of the plan gives the
// same document, except Seconds, MatchesPerSecond and Processes.
type Document struct {
	Schema  string `json:"schema"`
	Plan    Plan   `json:"plan"`
	Leagues int    `json:"leagues"` // played; fewer than Plan.Runs if the run was stopped
	Matches int64  `json:"matches"`

	Facts

	Level float64 `json:"level,omitempty"` // of every interval, if it is not 0.95

	// VarianceRatio is how many times the variance of points exceeds that of
	// adjusted points; null if adjusted points do not vary.
	VarianceRatio analysis.Number `json:"variance_ratio"`

	// Tiers has the names of the players by tier, best first: in tier 1 is every
	// strategy that no other significantly beats.
	Tiers [][]string `json:"tiers"`
	// Winner is the first by adjusted points, its estimate corrected for selection; null
	// if there is no ranking or leagues are too few.
	Winner *Winner `json:"winner"`

	Players []Player `json:"players"` // by adjusted points, most first
	Pairs   []Pair   `json:"pairs"`   // in field order

	Stopped    Stopped          `json:"stopped"`
	Sequential *Sequential      `json:"sequential,omitempty"` // absent for a fixed number of leagues
	RatioTest  *RatioTest       `json:"sprt,omitempty"`
	Assertions []assert.Outcome `json:"assertions,omitempty"` // in the order of the command line

	Processes []Process `json:"processes,omitempty"` // of plugins and isolated scripts, by their first player
}

// Plan is the part of a plan that says what was played, without where the
// players' code lies.
type Plan struct {
	Runs      int      `json:"runs"`
	Legs      int      `json:"legs"`
	Seed      uint64   `json:"seed"`
	Field     []string `json:"field"` // names, by field index
	Draw      string   `json:"draw"`
	Transport string   `json:"transport"`
}

// Winner is the player with the most adjusted points per match.
type Winner struct {
	Name     string            `json:"name"`
	Adjusted analysis.Estimate `json:"adjusted"`
}

// Player is one strategy of the field. Rates and points are per match.
type Player struct {
	analysis.Player
	// Ranks has the number of leagues by rank, such as "1" or, with as many points as
	// the next, "1.5".
	Ranks map[string]int64 `json:"ranks"`
	// RankInterval is the place range by adjusted points; the ranges of all players
	// hold together.
	RankInterval [2]int `json:"rank_interval"`
}

// Pair is two players' matches against each other.
type Pair struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Matches int64  `json:"matches"`
	// Differ is the share of differing choices among the matches in which both
	// made one; null if there was none.
	Differ analysis.Estimate `json:"differ"`
	WinsA  int64             `json:"wins_a"`
	WinsB  int64             `json:"wins_b"`
	Draws  int64             `json:"draws"` // the rest of Matches were technical losses of both

	// Difference is A's adjusted points per match, over all opponents, minus B's.
	// Its interval stands alone; the p-values are corrected for comparing all
	// pairs, by Romano and Wolf's method (Holm's if leagues are few) and by Holm's.
	Difference analysis.Estimate `json:"difference"`
	P          float64           `json:"p"`
	Holm       float64           `json:"p_holm"`
}

// Document puts the report into the form that programs read.
func (r Run) Document() Document {
	e := &r.Estimates
	d := Document{
		Schema: Schema,
		Plan: Plan{
			Runs: r.Plan.Runs, Legs: r.Plan.Legs, Seed: r.Plan.Seed, Field: make([]string, len(e.Players)),
			Draw: r.Plan.Draw, Transport: r.Plan.Transport,
		},
		Leagues: e.Leagues, Matches: e.Matches, Facts: r.Facts,
		VarianceRatio: analysis.Number(e.VarianceRatio),
		Tiers:         make([][]string, len(e.Ranking.Tiers)),
		Players:       make([]Player, 0, len(e.Players)),
		Pairs:         make([]Pair, 0, len(e.Pairs)),
	}
	if !(d.MatchesPerSecond > 0) {
		d.MatchesPerSecond = 0
	}
	for i, p := range e.Players {
		d.Plan.Field[i] = p.Name
	}
	for k, tier := range e.Ranking.Tiers {
		d.Tiers[k] = e.Names(tier)
	}
	if w := e.Winner; w != nil {
		d.Winner = &Winner{Name: e.Players[w.Field].Name, Adjusted: w.Adjusted}
	}
	for _, i := range e.Order {
		p := Player{Player: e.Players[i], Ranks: map[string]int64{}, RankInterval: e.Ranking.Places[i]}
		for _, share := range p.Player.Ranks {
			p.Ranks[cell(share.Rank)] = share.Leagues
		}
		d.Players = append(d.Players, p)
	}
	for k, c := range r.differences() {
		p := &e.Pairs[k]
		d.Pairs = append(d.Pairs, Pair{
			A: e.Players[p.A].Name, B: e.Players[p.B].Name, Matches: p.Matches,
			Differ: p.Differ, WinsA: p.WinsA, WinsB: p.WinsB, Draws: p.Draws,
			Difference: c.Difference, P: c.Corrected, Holm: c.Holm,
		})
	}
	if e.Level != analysis.DefaultLevel {
		d.Level = e.Level
	}
	d.Stopped, d.Sequential, d.RatioTest = r.stopped(), r.sequential(), r.ratioTest()
	d.Assertions = r.Assertions
	d.Processes = r.Facts.Processes
	return d
}

// WriteJSON writes the document and a line feed, indented by two spaces.
func WriteJSON(w io.Writer, d Document) error { return writeDocument(w, "report", d) }

func writeDocument(w io.Writer, what string, d any) error {
	enc := json.NewEncoder(w) // which writes all at once
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write JSON %s: %w", what, err)
	}
	return nil
}
