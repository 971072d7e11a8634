package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/words"
)

// Schema is the version of the document that this package writes.
const Schema = "strategylab/experiment/v1"

// Document is what an experiment has shown. [New] fills it once; tables, pages, CSV and the
// answers of MCP tools render it. As JSON it is what "experiment --format json" prints and
// what summary.json holds: without NaN and infinities, a number that does not exist is null.
// If Reproducible is true, a rerun of the plan gives the same document, except Seconds,
// MatchesPerSecond, Processes, Spenders, Agents and Cluster, and whose strategies are yours.
type Document struct {
	Run `json:"-"`

	Schema string `json:"schema"`
	// Answer has the sentences that say who scores most, and how yours do.
	Answer []string `json:"answer"`

	Plan Plan `json:"plan"`

	Confirms *Confirms `json:"confirms,omitempty"` // the run that this one confirms with a fresh seed

	Leagues int   `json:"leagues"` // played; fewer than Plan.Runs if the run was stopped
	Matches int64 `json:"matches"`

	Facts

	Level float64 `json:"level"` // of every interval, and of all places and tiers together

	// VarianceRatio is how many times the variance of points exceeds that of
	// adjusted points; null if adjusted points do not vary.
	VarianceRatio analysis.Number `json:"variance_ratio"`
	// DifferenceRatio is the same for the differences between players.
	DifferenceRatio analysis.Number `json:"variance_ratio_differences"`

	// Tiers has the names of the players by tier, best first: in tier 1 is every
	// strategy that no other significantly beats.
	Tiers [][]string `json:"tiers"`
	// TiersMethod corrects the comparisons that tiers and place ranges follow from.
	TiersMethod analysis.Method `json:"tiers_method"`
	// Winner is the first by adjusted points, its estimate corrected for selection; null
	// if there is no ranking or leagues are too few.
	Winner *Winner `json:"winner"`

	Players []Player `json:"players"` // by adjusted points, most first
	Pairs   []Pair   `json:"pairs"`   // in field order

	OtherFields *OtherFields `json:"other_fields,omitempty"` // absent for fewer than four players or two leagues

	Since      *Since           `json:"since_quarantine,omitempty"`
	Warnings   []Warning        `json:"warnings,omitempty"` // why intervals and places may not hold
	Stopped    Stopped          `json:"stopped"`
	Sequential *Sequential      `json:"sequential,omitempty"` // absent for a fixed number of leagues
	RatioTest  *RatioTest       `json:"sprt,omitempty"`
	Assertions []assert.Outcome `json:"assertions,omitempty"` // in the order of the command line
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
	Seeds     []uint64 `json:"seeds,omitempty"` // of the runs that are pooled here, in their order
	Looks     []int    `json:"looks,omitempty"` // leagues at which the run was complete, and was then extended
}

// Stopped is how a run ended, for other programs.
type Stopped struct {
	Why     string `json:"why"`
	Leagues int    `json:"leagues"`
}

// Winner is the player with the most adjusted points per match.
type Winner struct {
	Name     string   `json:"name"`
	Adjusted Selected `json:"adjusted"`
}

// Selected is the interval of a number that was selected as the largest of several.
type Selected struct {
	// Estimate is null unless the player is alone in tier 1: in a close race one number
	// would say little. With a stopping rule it always is.
	Estimate analysis.Number `json:"estimate"`
	Low      float64         `json:"low"`
	High     float64         `json:"high"`
	Level    float64         `json:"level"`
	Method   analysis.Method `json:"method"`
}

func (r *Document) winner() *Winner {
	e := &r.Estimates
	if e.Winner == nil {
		return nil
	}
	x, shown := e.Winner.Adjusted, math.NaN()
	if len(e.Leaders()) == 1 {
		shown = x.Estimate
	}
	return &Winner{e.Players[e.Winner.Field].Name, Selected{analysis.Number(shown), x.Low, x.High, x.Level, x.Method}}
}

// Player is one strategy of the field. Rates and points are per match.
type Player struct {
	analysis.Player
	Place int  `json:"place"`           // by adjusted points, from 1
	Tier  int  `json:"tier"`            // from 1; 0 if nothing is ranked
	Yours bool `json:"yours,omitempty"` // it is the user's
	// Ranks has the number of leagues by rank, such as "1" or, with as many points as
	// the next, "1.5".
	Ranks map[string]int64 `json:"ranks"`
	// Differ is the share of differing choices among the matches in which both players
	// made one; null if there was none.
	Differ analysis.Estimate `json:"differ"`
	// RankInterval is the place range by adjusted points; the ranges of all players
	// hold together.
	RankInterval       [2]int          `json:"rank_interval"`
	RankIntervalLevel  float64         `json:"rank_interval_level"` // of all ranges together
	RankIntervalMethod analysis.Method `json:"rank_interval_method"`
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
	PMethod    analysis.Method   `json:"p_method"`
	PLevel     float64           `json:"p_level"` // the players differ significantly if p is at most 1 - p_level
	Holm       float64           `json:"p_holm"`
	// Resolution is the smallest p that the simulation behind the step-down method can
	// give: where p is as small, the p-value is at most that. Absent without simulation.
	Resolution float64 `json:"p_resolution,omitempty"`
	// Effect is Difference in standard deviations of one league's raw points of A minus
	// B's; null if these do not vary.
	Effect analysis.Estimate `json:"effect"`

	// Above and Below are the chances that A has more raw points in a league than B, and B
	// more than A. TitlesA and TitlesB count the leagues in which one, and not the other,
	// had the most points of all. The p-values are those of sign tests, adjusted together
	// for both comparisons of all pairs by Holm's method, in a sequential experiment for all
	// looks, too.
	Above      analysis.Estimate `json:"above"`
	Below      analysis.Estimate `json:"below"`
	PAbove     analysis.Number   `json:"p_above"`
	TitlesA    int64             `json:"titles_a"`
	TitlesB    int64             `json:"titles_b"`
	PTitles    analysis.Number   `json:"p_titles"`
	OddsMethod analysis.Method   `json:"odds_method"` // of p_above and p_titles, significant if at most 1 - p_level
}

// Since is what the leagues after the last quarantine show about the players that still
// play, from matches among them.
type Since struct {
	From    int           `json:"from_league"`
	Leagues int           `json:"leagues"`
	Players []SincePlayer `json:"players"` // best first
}

// SincePlayer is a row of Since.
type SincePlayer struct {
	Name         string            `json:"name"`
	Adjusted     analysis.Estimate `json:"adjusted"`
	RankInterval [2]int            `json:"rank_interval"` // as of Player
}

func (d *Document) since() *Since {
	gone, e := d.Estimates.Absences(), d.Run.Since
	if e == nil || len(gone) == 0 {
		return nil
	}
	s := &Since{From: gone[len(gone)-1].From, Leagues: e.Leagues}
	for _, i := range e.Order {
		s.Players = append(s.Players, SincePlayer{e.Players[i].Name, e.Players[i].Adjusted, e.Ranking.Places[i]})
	}
	return s
}

// New fills the document of a run.
func New(run Run) *Document {
	e := &run.Estimates
	d := &Document{
		Run: run, Schema: Schema, Facts: run.Facts, Assertions: run.Assertions,
		Plan: Plan{
			Seeds: run.Seeds, Looks: run.Plan.Looks, Runs: run.Plan.Runs, Legs: run.Plan.Legs, Seed: run.Plan.Seed, Field: make([]string, len(e.Players)),
			Draw: run.Plan.Draw, Transport: run.Plan.Transport,
		},
		Leagues: e.Leagues, Matches: e.Matches, Level: e.Level,
		VarianceRatio: analysis.Number(e.VarianceRatio), DifferenceRatio: analysis.Number(e.DifferenceRatio),
		Tiers: make([][]string, len(e.Ranking.Tiers)), TiersMethod: e.Ranking.Method,
		Players: make([]Player, 0, len(e.Players)), Pairs: make([]Pair, 0, len(e.Pairs)),
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
	tiers := e.Ranking.TierOf()
	for k, i := range e.Order {
		p := Player{
			Player: e.Players[i], Place: k + 1, Tier: tiers[i], Yours: slices.Contains(run.Yours, i), Ranks: map[string]int64{}, Differ: e.Players[i].Differ,
			RankInterval: e.Ranking.Places[i], RankIntervalLevel: e.Ranking.Level, RankIntervalMethod: e.Ranking.Method,
		}
		for _, share := range p.Player.Ranks {
			p.Ranks[cell(share.Rank)] = share.Leagues
		}
		d.Players = append(d.Players, p)
	}
	for k := range e.Pairs {
		p, o := &e.Pairs[k], &e.Odds[k]
		c, _ := e.Compared(p.A, p.B)
		d.Pairs = append(d.Pairs, Pair{
			A: e.Players[p.A].Name, B: e.Players[p.B].Name, Matches: p.Matches,
			Differ: p.Differ, WinsA: p.WinsA, WinsB: p.WinsB, Draws: p.Draws,
			Difference: c.Difference, P: c.Corrected, PMethod: e.Ranking.Method, PLevel: e.Ranking.Level, Holm: c.Holm, Resolution: e.Ranking.Resolution, Effect: o.Effect(c.Difference),
			Above: o.Above, Below: o.Below, PAbove: analysis.Number(o.P),
			TitlesA: o.TitlesA, TitlesB: o.TitlesB, PTitles: analysis.Number(o.TitlesP), OddsMethod: o.Method,
		})
	}
	d.Winner, d.Since, d.OtherFields, d.Confirms = d.winner(), d.since(), d.otherFields(), d.confirms()
	d.Stopped = Stopped{cmp.Or(run.Stopping.Why, AllRuns), e.Leagues}
	d.Sequential, d.RatioTest, d.Warnings = d.sequential(), d.ratioTest(), d.warnings()
	d.Answer = d.Sentences(words.Plain)
	return d
}

// Player returns a player by field index.
func (d *Document) Player(field int) *Player { return &d.Players[d.Estimates.Place(field)-1] }

// Sentences is the Answer in a style.
func (d *Document) Sentences(style words.Style) []string {
	if q := d.Stopping.Ratio; q != nil {
		doubt := slices.ContainsFunc(d.Warnings, func(w Warning) bool { return w.Kind == "asymptotic" })
		return style.Say("tested", struct {
			*Ratio
			Doubt, Mixed bool
		}{q, doubt, len(d.Estimates.Absences()) > 0})
	}
	return style.Answer(&d.Estimates, d.Robustness, d.Yours)
}

// WriteJSON writes the document and a line feed, indented by two spaces.
func WriteJSON(w io.Writer, d *Document) error { return writeDocument(w, "report", d) }

func writeDocument(w io.Writer, what string, d any) error {
	enc := json.NewEncoder(w) // which writes all at once
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write JSON %s: %w", what, err)
	}
	return nil
}

// OtherFields says how far the order depends on who is in the field. Fields without some
// strategies, and fields whose opponents are resampled from this one, are put together
// from the points of the pairs: nothing of them was played, and what two strategies
// score against each other is taken as independent of the others in the field.
type OtherFields struct {
	Resamples int               `json:"resamples"` // fields, with opponents drawn with replacement
	Level     float64           `json:"level"`     // share of them that the range of places of a player holds
	Players   []OtherFieldsOf   `json:"players"`   // by adjusted points, most first
	Families  [][]string        `json:"families"`  // strategies that play alike, two or more each
	Without   []WithoutStrategy `json:"without"`   // each single strategy, then each family; the first is never left out
}

// OtherFieldsOf is how one player does in other fields, by adjusted points.
type OtherFieldsOf struct {
	Name string `json:"name"`
	robust.Player
}

// WithoutStrategy is a field without some strategies.
type WithoutStrategy struct {
	Out   []string `json:"out"`
	First string   `json:"first"` // who has the most points
	Place int      `json:"place"` // of the first of the run
	Ahead bool     `json:"ahead"` // First is another, and significantly ahead of the first of the run
	Leads bool     `json:"leads"` // First is significantly ahead of all others
}

func (r *Document) otherFields() *OtherFields {
	x, e := r.Robustness, &r.Estimates
	if x == nil {
		return nil
	}
	f := &OtherFields{Resamples: x.Resamples, Level: e.Level, Families: [][]string{}, Without: []WithoutStrategy{}}
	for _, i := range e.Order {
		f.Players = append(f.Players, OtherFieldsOf{e.Players[i].Name, x.Players[i]})
	}
	for _, family := range x.Families {
		f.Families = append(f.Families, e.Names(family))
	}
	for _, w := range x.Without {
		f.Without = append(f.Without, WithoutStrategy{e.Names(w.Out), e.Players[w.First].Name, w.Place, w.Ahead, w.Leads})
	}
	return f
}
