package analysis

import (
	"math"
	"slices"

	"github.com/strategylab/strategylab/host/game"
)

// Estimates is what the leagues added so far have shown.
type Estimates struct {
	Level   float64 // of every interval, for example 0.95
	Leagues int
	Matches int64
	Players []Player // by field index
	Pairs   []Pair   // (0,1), (0,2), ..., (1,2), ...
	Odds    []Odds   // of single leagues, in the order of Pairs

	// Order has the field indices from most to fewest adjusted points; players with
	// equal points stand in field order.
	Order []int
	// Ranking compares all players with all others.
	Ranking Ranking
	// Winner is the estimate of the first in Order, corrected for selection; nil if
	// there was no selection.
	Winner *Winner

	// VarianceRatio is the variance of points per match over that of adjusted points,
	// both averaged over the players: raw points need that many times more leagues, and
	// adjusted intervals are narrower by its square root. NaN if adjusted points do not
	// vary, or with fewer than two leagues.
	VarianceRatio float64
	// DifferenceRatio is the same for differences between players, over all pairs; NaN if
	// adjusted differences do not vary.
	DifferenceRatio float64

	// Skewed has the players that intervals and comparisons do not hold for, because a
	// few leagues decide their points; nil in nearly every field.
	Skewed []Skewed

	// Copies has, by field index, the first player that is the same strategy, which may be
	// the player itself; nil if all are different.
	Copies []int

	// Fair says that even and odd numbers are equally likely.
	Fair bool
	// Reproducible is false if a fault decided a match that a rerun need not have; see
	// game.Fault.Reproducible.
	Reproducible bool
}

// Player is what one strategy did. Rates and points are per match and include technical
// losses.
type Player struct {
	Field           int     `json:"-"` // field index
	Name            string  `json:"name"`
	Kind            string  `json:"kind"` // "builtin", "lua", "js", "wasm" or "plugin"
	Matches         int64   `json:"matches"`
	Wins            int64   `json:"wins"`
	Draws           int64   `json:"draws"`
	Losses          int64   `json:"losses"` // technical ones among them
	TechnicalLosses int64   `json:"technical_losses"`
	Faults          []Fault `json:"faults"` // by kind; empty, not nil, if none

	WinRate         Estimate    `json:"win_rate"`
	AdjustedWinRate Estimate    `json:"adjusted_win_rate"` // P(win) given both choices
	DrawRate        Estimate    `json:"draw_rate"`
	TechnicalRate   Estimate    `json:"technical_loss_rate"`
	Points          Estimate    `json:"points"`
	Adjusted        Estimate    `json:"adjusted"`       // expected points given both choices
	Differ          Estimate    `json:"-"`              // P(differ) over all opponents; see Pair.Differ
	ChampionShare   Estimate    `json:"champion_share"` // of titles by raw points, divided among all with the most
	First           Estimate    `json:"first"`          // chance of having more raw points in a league than all others
	Rank            Estimate    `json:"rank"`           // mean mid-rank by raw points, 1 to the number of players
	Ranks           []RankShare `json:"-"`
}

// RankShare is how often a player had a rank: mid-rank by raw points, so a multiple of
// one half.
type RankShare struct {
	Rank    float64
	Leagues int64
	Share   Estimate // of leagues
}

// Estimates computes every estimate at a confidence level in (0, 1). It changes nothing
// and can be called at any time. It panics if the level is out of range.
func (a *Accumulator) Estimates(level float64) Estimates { return a.complete(level, 1) }

// Verdicts is [Accumulator.Estimates] in less time: where no difference is significant,
// the corrected p-values of the ranking may be 1. Everything else is the same.
func (a *Accumulator) Verdicts(level float64) Estimates { return a.complete(level, 1-level) }

func (a *Accumulator) complete(level, enough float64) Estimates {
	e := a.estimates(newIntervals(level))
	e.Ranking = a.ranking(level, enough)
	e.Winner = a.winner(e.Order, level)
	return e
}

// PointVerdicts is what [Accumulator.Verdicts] says about adjusted points, in much less
// time: the ranking, who is skewed, and of players names, kinds, technical losses and
// adjusted points. Everything else is missing.
func (a *Accumulator) PointVerdicts(level float64) Estimates {
	c := newIntervals(level)
	e := a.summary(c)
	for i := range e.Players {
		e.Players[i] = Player{
			Field: i, Name: a.field[i].Name, Kind: a.field[i].Kind,
			TechnicalLosses: a.players[i].technical, Adjusted: c.of(a.adjSample(i), a.adjustedPoints(a.technical)),
		}
	}
	e.Ranking = a.ranking(level, 1-level)
	return e
}

// summary has what concerns all players.
func (a *Accumulator) summary(c *intervals) Estimates {
	return Estimates{
		Level: c.level, Leagues: int(a.leagues), Matches: a.leagues * int64(len(a.matches)), Players: make([]Player, len(a.players)),
		Order: a.order(), Skewed: a.skewed(), Copies: a.copies, Fair: 2*a.even == a.unit, Reproducible: true,
	}
}

// estimates computes everything but the ranking and the winner.
func (a *Accumulator) estimates(c *intervals) Estimates {
	e := a.summary(c)
	e.Pairs, e.Odds = a.pairEstimates(c), a.odds(c)
	for i := range e.Players {
		e.Players[i] = a.player(i, c)
		for _, f := range e.Players[i].Faults {
			e.Reproducible = e.Reproducible && f.Kind.Reproducible()
		}
	}
	e.VarianceRatio, e.DifferenceRatio = a.varianceRatio(), a.differenceRatio()
	return e
}

func (a *Accumulator) player(i int, c *intervals) Player {
	p := &a.players[i]
	matches := a.leagues * a.games
	return Player{
		Field: i, Name: a.field[i].Name, Kind: a.field[i].Kind,
		Matches: matches, Wins: p.wins, Draws: p.draws, Losses: matches - p.wins - p.draws,
		TechnicalLosses: p.technical, Faults: a.faults.of(i, a.schedule),
		WinRate:         c.of(newSample(a.leagues, p.wins, p.winsSq.big(), a.games), span{0, 1}),
		AdjustedWinRate: c.of(newSample(a.leagues, p.adjWins, p.adjWinsSq.big(), a.games*a.unit), a.adjustedWin(a.technical)),
		Points:          c.of(a.rawSample(i), span{0, game.WinPoints}),
		Adjusted:        c.of(a.adjSample(i), a.adjustedPoints(a.technical)),
		DrawRate:        c.of(newSample(a.leagues, p.draws, p.drawsSq.big(), a.games), span{0, 1}),
		TechnicalRate:   c.of(newSample(a.leagues, p.technical, p.technicalSq.big(), a.games), span{0, 1}),
		Differ:          c.of(p.differ.sample(), span{0, 1}),
		ChampionShare:   c.resampled(a.placings.share(i, a.leagues), span{0, 1}, a.resampler(i, resampleShare)),
		First:           c.trials(a.placings.titles[i*len(a.players)], a.leagues),
		Rank:            c.resampled(a.placings.rank(i), span{1, float64(len(a.players))}, a.resampler(i, resampleRank)),
		Ranks:           a.rankShares(i, c),
	}
}

// rankShares lists the ranks that a player had, best first. Leagues are independent
// trials of each.
func (a *Accumulator) rankShares(i int, c *intervals) []RankShare {
	var list []RankShare
	ranks := a.placings.rank(i)
	for k, count := range ranks.counts {
		list = append(list, RankShare{Rank: ranks.values[k], Leagues: count, Share: c.trials(count, a.leagues)})
	}
	return list
}

func (a *Accumulator) rawSample(i int) Sample {
	return newSample(a.leagues, a.players[i].raw, a.raw.at(i, i).big(), a.games)
}

func (a *Accumulator) adjSample(i int) Sample {
	return newSample(a.leagues, a.players[i].adj, a.adj.at(i, i).big(), a.games*a.unit)
}

func (a *Accumulator) varianceRatio() float64 {
	var raw, adj float64
	for i := range a.players {
		raw += a.rawSample(i).Variance
		adj += a.adjSample(i).Variance
	}
	if adj == 0 {
		return math.NaN()
	}
	return raw / adj
}

// differenceRatio is varianceRatio for the differences of all pairs.
func (a *Accumulator) differenceRatio() float64 {
	var raw, adj float64
	for i := range a.players {
		for j := i + 1; j < len(a.players) && a.leagues >= 2; j++ {
			spread := a.rawSpread(i, j)
			raw += float64(spread * spread)
			adj += a.differenceSample(i, j).Variance
		}
	}
	if adj == 0 {
		return math.NaN()
	}
	return raw / adj
}

// Neighbours returns the comparisons of players next to each other in Order: Order[k]
// with Order[k+1].
func (e *Estimates) Neighbours() []Comparison {
	list := make([]Comparison, 0, max(0, len(e.Order)-1))
	for k, at := 0, 0; k+1 < len(e.Order) && at < len(e.Ranking.Comparisons); k++ {
		list = append(list, e.Ranking.Comparisons[at])
		at += len(e.Order) - 1 - k
	}
	return list
}

// Leaders has the field indices of the first tier: every strategy that no other
// significantly beats.
func (e *Estimates) Leaders() []int {
	if len(e.Ranking.Tiers) == 0 {
		return nil
	}
	return e.Ranking.Tiers[0]
}

// Names returns the names of players by field index.
func (e *Estimates) Names(fields []int) []string {
	list := make([]string, len(fields))
	for k, i := range fields {
		list[k] = e.Players[i].Name
	}
	return list
}

// Place is a player's place by adjusted points, from 1.
func (e *Estimates) Place(field int) int { return slices.Index(e.Order, field) + 1 }

// Compared returns the ranking's comparison of two players, a first.
func (e *Estimates) Compared(a, b int) (Comparison, bool) {
	i, j := slices.Index(e.Order, a), slices.Index(e.Order, b)
	at := pairIndex(len(e.Order), min(i, j), max(i, j)) // as of Neighbours
	if i == j || at >= len(e.Ranking.Comparisons) {
		return Comparison{}, false
	}
	c := e.Ranking.Comparisons[at]
	if c.A != a {
		c = c.Reversed()
	}
	return c, true
}

// NothingToRank reports a field in which no strategy can be better than another: two
// players, a fair draw and no technical losses. Both expect the same points, so only
// P(differ) can be measured.
func (e *Estimates) NothingToRank() bool {
	if len(e.Players) > 2 || !e.Fair {
		return false
	}
	for _, p := range e.Players {
		if p.TechnicalLosses > 0 {
			return false
		}
	}
	return true
}

// Pair is what two players did against each other.
type Pair struct {
	A, B    int // field indices, A < B
	Matches int64
	// WinsA and WinsB include wins by technical losses. Technical losses of both are
	// neither wins nor draws.
	WinsA, WinsB, Draws int64

	// Clean is how many matches were decided by the choices of both.
	Clean int64
	// Differ is the share of clean matches in which the choices differed; undefined if
	// no match was clean.
	Differ Estimate

	PointsA, PointsB     float64 // raw points per match; NaN without a league
	AdjustedA, AdjustedB float64 // adjusted points per match; NaN without a league
}

// pairEstimates returns all pairs in the order of pairIndex.
func (a *Accumulator) pairEstimates(c *intervals) []Pair {
	list := make([]Pair, 0, len(a.pairs))
	for i := range a.players {
		for j := i + 1; j < len(a.players); j++ {
			list = append(list, a.pair(i, j, c))
		}
	}
	return list
}

func (a *Accumulator) pair(i, j int, c *intervals) Pair {
	p := &a.pairs[pairIndex(len(a.players), i, j)]
	matches := a.leagues * int64(a.legs)
	n := float64(matches)
	rawA := winPoints*p.winsA + drawPoints*p.draws
	rawB := winPoints*p.winsB + drawPoints*p.draws
	return Pair{
		A: i, B: j, Matches: matches,
		WinsA: p.winsA, WinsB: p.winsB, Draws: p.draws,
		Clean: p.differ.base, Differ: c.of(p.differ.sample(), span{0, 1}),
		PointsA: float64(rawA) / n, PointsB: float64(rawB) / n,
		AdjustedA: float64(p.adjA) / (n * float64(a.unit)),
		AdjustedB: float64(p.adjB) / (n * float64(a.unit)),
	}
}
