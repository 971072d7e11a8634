package page

import (
	"html/template"
	"math"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/words"
)

// content is the page as the template sees it: texts, and plots as elements.
type content struct {
	Styles            template.CSS
	Title, Subtitle   string
	Headline, Verdict string
	Notes             []string // warnings

	Ranking, Matrix, Places, Learning, Trajectory *figure

	Level     string // of intervals, "95 %"
	Fair      bool
	Worths    string // what the column of worths is; "" if there is none
	Rows      []row
	Tiers     []tier
	PairTable *pairTable
	Cards     []card
	Sample    string // the leagues behind the explanations; "" if there are none

	Population *populationPart
	Faults     []fault
	Processes  []process
	Method     []paragraph
	Facts      []fact
}

// row is a line of the ranking's table.
type row struct {
	Place, Places, Name, Kind         string
	Tier                              int
	Adjusted, AdjustedRange           string
	Points, PointsRange               string
	Win, AdjustedWin, Differ          string
	Titles, TitlesRange, Rank, Losses string
	Worth                             string
}

type tier struct {
	Number int
	Names  []string
}

type fault struct {
	Name, Kind, Count, Share, Where string
}

// process is a plugin or isolated script in words.
type process struct {
	Name, Kind, Players, CPU, Peak, Starts, Failures string
	Aside                                            bool
}

type paragraph struct{ Head, Text string }

type fact struct{ Name, Value string }

// source is what the parts of the page are made from.
type source struct {
	Input
	e      *analysis.Estimates
	tierOf []int // by field index, from 1
	view   *population.View
	refuse error // why there is no view
}

func newContent(in Input) (*content, error) {
	s := &source{Input: in, e: &in.Run.Estimates, tierOf: in.Run.Estimates.Ranking.TierOf()}
	g, err := population.NewGame(in.Run.Plan, s.e, in.Mirrors)
	if err != nil {
		s.refuse = err
	} else {
		s.view = population.NewView(g)
	}
	c := &content{
		Styles: styles(), Title: "strategylab: " + s.title(), Subtitle: s.subtitle(),
		Headline: words.Headline(s.e), Verdict: words.Typeset.Confidence(s.e), Notes: s.notes(),
		Level: words.Typeset.Level(s.e.Level), Fair: s.e.Fair, Worths: s.worths(), Rows: s.rows(), Tiers: s.tiers(), PairTable: s.pairTable(),
		Faults: s.faults(), Processes: s.processes(), Method: s.method(), Facts: s.facts(),
	}
	if err := s.draw(c); err != nil {
		return nil, err
	}
	c.Population = s.population()
	if len(in.Explanations.Players) == len(s.e.Players) {
		c.Sample = words.Typeset.Sample(&in.Explanations)
		c.Cards, err = s.cards()
	}
	return c, err
}

func (s *source) name(i int) string { return s.e.Players[i].Name }

func (s *source) rows() []row {
	var list []row
	adjusted := words.PlayerDecimals(s.e, func(p *analysis.Player) analysis.Estimate { return p.Adjusted })
	points := words.PlayerDecimals(s.e, func(p *analysis.Player) analysis.Estimate { return p.Points })
	for k, i := range s.e.Order {
		p := &s.e.Players[i]
		r := row{
			Place: words.Typeset.Count(int64(k + 1)), Name: p.Name, Kind: p.Kind, Tier: s.tierOf[i],
			Adjusted: words.Typeset.Number(p.Adjusted.Estimate, adjusted), AdjustedRange: words.Typeset.Range(p.Adjusted, 1, adjusted),
			Points: words.Typeset.Number(p.Points.Estimate, points), PointsRange: words.Typeset.Range(p.Points, 1, points),
			Win:    words.Typeset.Percent(p.WinRate.Estimate),
			Differ: words.Typeset.Percent(p.Differ.Estimate),
			Titles: words.Typeset.Percent(p.ChampionShare.Estimate), TitlesRange: words.Typeset.Range(p.ChampionShare, 100, 1),
			Rank: words.Typeset.Number(p.Rank.Estimate, 1), Losses: words.Typeset.Count(p.TechnicalLosses),
		}
		if !s.e.Fair { // under a fair draw it is half of differ
			r.AdjustedWin = words.Typeset.Percent(p.AdjustedWinRate.Estimate)
		}
		if s.Worths != nil {
			r.Worth = words.Typeset.Percent(s.Worths.Worth[i])
		}
		if i < len(s.e.Ranking.Places) {
			r.Places = words.Typeset.Places(s.e.Ranking.Places[i])
		}
		list = append(list, r)
	}
	return list
}

func (s *source) tiers() []tier {
	var list []tier
	for k, members := range s.e.Ranking.Tiers {
		list = append(list, tier{Number: k + 1, Names: s.e.Names(members)})
	}
	return list
}

func (s *source) faults() []fault {
	var list []fault
	for _, i := range s.e.Order {
		p := &s.e.Players[i]
		for _, f := range p.Faults {
			list = append(list, fault{
				Name: p.Name, Kind: f.Kind.String(), Count: words.Typeset.Count(f.Count),
				Share: words.Typeset.Percent(float64(f.Count) / float64(p.Matches)), Where: f.Where,
			})
		}
	}
	return list
}

func (s *source) processes() []process {
	var rows []process
	for _, p := range s.Run.Facts.Processes {
		r := process{
			Name: p.Name, Kind: p.Kind, Players: strings.Join(p.Players, ", "), CPU: words.Typeset.Number(p.CPUSeconds, 2) + " s", Peak: "-",
			Starts: words.Typeset.Count(int64(p.Starts)), Failures: words.Typeset.Count(int64(p.Failures)), Aside: p.PutAside,
		}
		if p.PeakBytes != nil {
			r.Peak = words.Typeset.Number(float64(*p.PeakBytes)/(1<<20), 1) + " MiB"
		}
		rows = append(rows, r)
	}
	return rows
}

// pairTable is the pair matrix in words, for small fields.
type pairTable struct {
	Names []string
	Rows  []pairRow
}

type pairRow struct {
	Name  string
	Cells []string
}

const mostPairTable = 20 // players

func (s *source) pairTable() *pairTable {
	if len(s.e.Players) > mostPairTable {
		return nil
	}
	cells := s.differs()
	t := &pairTable{Names: s.e.Names(s.e.Order)}
	for _, i := range s.e.Order {
		r := pairRow{Name: s.name(i)}
		for _, j := range s.e.Order {
			r.Cells = append(r.Cells, words.Typeset.Share(cells[i][j]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// differs has the chance to differ by two field indices, with mirror matches on the
// diagonal if they are known.
func (s *source) differs() [][]analysis.Estimate {
	n := len(s.e.Players)
	cells := make([][]analysis.Estimate, n)
	for i := range cells {
		cells[i] = make([]analysis.Estimate, n)
		for j := range cells[i] {
			cells[i][j].Estimate = math.NaN()
		}
		for _, m := range s.Mirrors {
			if m.Strategy == s.name(i) {
				cells[i][i] = m.Differ
			}
		}
	}
	for _, p := range s.e.Pairs {
		cells[p.A][p.B], cells[p.B][p.A] = p.Differ, p.Differ
	}
	return cells
}

// worths says what the Plackett-Luce column is.
func (s *source) worths() string {
	if s.Worths == nil {
		return ""
	}
	return "Worth is from the Plackett-Luce model with ties, fitted to the placings in " + words.Typeset.Plural(int64(s.WorthLeagues), "league") +
		": the chance to come first, given that one strategy is first alone."
}

// card is what there is to say about one strategy.
type card struct {
	Name, Kind string
	Tier       int
	Curve      template.HTML
	Lines      []words.Line
}

// mostCardCurves bounds the size of the page for large fields.
const mostCardCurves = 60

func (s *source) cards() ([]card, error) {
	var list []card
	for _, i := range s.e.Order {
		p := &s.e.Players[i]
		c := card{Name: p.Name, Kind: p.Kind, Tier: s.tierOf[i], Lines: words.Typeset.Explanation(s.e, &s.Explanations, i)}
		if len(s.e.Players) <= mostCardCurves && len(s.Explanations.Legs) > 1 {
			var err error
			if c.Curve, err = s.curve(i); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// populationPart is the population view in words and a table.
type populationPart struct {
	Refused string // why there is none
	Text    string
	Rows    []memberRow
	Dynamic bool // shares and alpha-rank are known
}

type memberRow struct {
	Name, Self, Share, AlphaRank, Invades, Worst, WorstPayoff, Borda string
}

func (s *source) population() *populationPart {
	if s.refuse != nil {
		return &populationPart{Refused: s.refuse.Error()}
	}
	style := words.Typeset
	part := &populationPart{Dynamic: s.view.Trajectory != nil, Text: style.Population(s.view, 3, 8)}
	for _, i := range words.BySize(s.view) {
		m := s.view.Members[i]
		r := memberRow{
			Name: m.Name, Self: style.WithRange(m.Self, 3), Share: style.Percent(m.Share), AlphaRank: style.Percent(m.AlphaRank),
			Invades: style.Number(m.Invades, 2), Borda: style.Percent(m.Borda), Worst: "-",
		}
		if m.Worst >= 0 {
			r.Worst, r.WorstPayoff = s.view.Members[m.Worst].Name, style.WithRange(m.WorstPayoff, 3)
		}
		part.Rows = append(part.Rows, r)
	}
	return part
}
