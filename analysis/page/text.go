package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/analysis/words"
)

func (s *source) Title() string {
	return fmt.Sprintf("%s of %d strategies", words.Typeset.Plural(int64(s.E.Leagues), "league"), len(s.E.Players))
}

func (s *source) Subtitle() string {
	return fmt.Sprintf("%s, %s, %s. Draw %s, seed %d.", s.Title(), words.Typeset.Plural(int64(s.Run.Plan.Legs), "leg"),
		words.Typeset.Plural(s.E.Matches, "match"), s.Run.Plan.Draw, s.Run.Plan.Seed)
}

// Notes are warnings that belong above everything else.
func (s *source) Notes() []string {
	stopping := s.StoppingLines()
	notes := slices.Concat(s.ConfirmationLines(), stopping)
	if n := s.E.Leagues; len(stopping) == 0 && n < s.Run.Plan.Runs {
		notes = append(notes, fmt.Sprintf("The run was stopped after %s of %s leagues; this page shows those.",
			words.Typeset.Count(int64(n)), words.Typeset.Count(int64(s.Run.Plan.Runs))))
	}
	if !s.E.Fair {
		notes = append(notes, "The draw is biased: choosing the likelier parity pays, and the two players of a match no longer expect the same.")
	}
	return slices.Concat(notes, s.Run.ReproducibleLines(), s.WarningLines(), s.Run.Facts.QuarantineLines(), s.Run.Facts.SpenderLines(), s.Run.Facts.AgentLines())
}

type paragraph struct{ Head, Text string }

func (s *source) Method() []paragraph {
	draw := "The draw is fair: even and odd numbers are equally likely, and nobody knows the number. So a match with different choices " +
		"is worth 1.5 points to both on average, one with equal choices 1 point to both. Nobody beats anybody; a strategy controls " +
		"how often it differs from the others, and whether it answers at all."
	if !s.E.Fair {
		draw = "The draw is biased, so a choice is worth more if it names the likelier parity. Adjusted points take that into account."
	}
	unit := "Strategies remember each other within a league, so its matches are dependent. Every league starts with new seats. " +
		"Every interval is computed from values of whole leagues"
	stopping := s.StoppingLines()
	if len(stopping) == 0 {
		unit += ", by Student's t or, near a bound, by a method that stays valid there; those of titles and mean places by a bootstrap over leagues"
	}
	m := []paragraph{
		{"The game", draw},
		{"Adjusted points", "are what the two choices of a match were worth before the number was drawn. They have the same expectation as the " +
			"referee's points, without the luck of the draw." + s.narrower() + " A technical loss counts 0."},
		{"The unit is the league", unit + "."},
		{"Comparisons", "are made within leagues, where both players met the same field, and adjusted for their number. All tiers and possible " +
			"places hold together with the stated confidence. Tier 1 is every strategy that no other significantly beats; without these, " +
			"tier 2 is found in the same way, and so on."},
	}
	if len(stopping) > 0 {
		m = append(m, paragraph{"Stopping", strings.Join(stopping, " ")})
	}
	if len(s.Explanations.Players) > 0 {
		m = append(m, paragraph{"Explanations", "are about predicting choices: a player that predicts a choice answers with the opposite, and both gain half " +
			"a point on average. Predictors are chosen on leagues with an even number and tested on leagues with an odd number, so that choosing the best of " +
			"several does not flatter it. Regret assumes that opponents would have played the same; those that react would not."})
	}
	if s.Refused == nil {
		m = append(m, paragraph{"Population", "takes technical losses as matches that were not played; its ranges are a bootstrap of the leagues, with which payoffs vary within their intervals. Ratings from wins, " +
			"such as Elo, are left out: under a fair draw both players of a match win equally often, whatever they play, so such ratings rank noise."})
	}
	return append(m, paragraph{"Assumptions", "Leagues are independent and alike: every league gets its own seats, draws and randomness from the seed. " +
		"The results are about this field; other opponents can change the order."})
}

// narrower says what adjusting gains, where it gains something.
func (s *source) narrower() string {
	if r := s.E.VarianceRatio; math.IsNaN(r) || r < 1 {
		return ""
	}
	return " Here " + words.Typeset.Narrower(s.E) + "."
}

func (s *source) Facts() []paragraph {
	f := s.Run.Facts
	list := []paragraph{{"Seed", strconv.FormatUint(s.Run.Plan.Seed, 10)}, {"Draw", s.Run.Plan.Draw}, {"Transport", s.Run.Plan.Transport}}
	if f.Digest != "" {
		list = append(list, paragraph{"Digest", f.Digest})
	}
	if !s.Begun.IsZero() {
		list = append(list, paragraph{"Begun on", s.Begun.UTC().Format(time.DateOnly)})
	}
	if s.Version != "" {
		list = append(list, paragraph{"Written by", "strategylab " + s.Version})
	}
	return list
}

// Repeat is the command that plays the leagues of this page again.
func (s *source) Repeat() string {
	p := s.Run.Plan
	args := []string{"strategylab", "experiment", "--runs", strconv.Itoa(s.E.Leagues), "--legs", strconv.Itoa(p.Legs), "--seed", strconv.FormatUint(p.Seed, 10)}
	if p.Draw != "" {
		args = append(args, "--draw", p.Draw)
	}
	if p.Transport != "direct" {
		args = append(args, "--transport", p.Transport)
	}
	var refs []string
	copies := map[string]int{}
	for _, e := range p.Field {
		if copies[e.Ref]++; copies[e.Ref] == 1 {
			refs = append(refs, e.Ref)
		}
	}
	for k, ref := range refs {
		if n := copies[ref]; n > 1 {
			refs[k] = fmt.Sprintf("%s*%d", ref, n)
		}
	}
	args = append(args, "--field", strings.Join(refs, ","))
	for k := range args {
		args[k] = words.ShellWord(args[k])
	}
	return strings.Join(args, " ")
}

// Between says how the matches of the only two players ended.
func (s *source) Between() []paragraph {
	p := s.E.Pairs[0]
	a, b := &s.E.Players[p.A], &s.E.Players[p.B]
	share := func(n int64) string {
		return fmt.Sprintf("%s (%s)", words.Typeset.Count(n), words.Typeset.Percent(float64(n)/float64(p.Matches)))
	}
	list := []paragraph{
		{"Choices differ", "in " + words.Typeset.Share(p.Differ) + " of the matches in which both chose"},
		{"Matches", words.Typeset.Count(p.Matches)},
		{"Won by " + a.Name, share(p.WinsA)},
		{"Won by " + b.Name, share(p.WinsB)},
		{"Tied", share(p.Draws)},
	}
	if rest := p.Matches - p.WinsA - p.WinsB - p.Draws; rest > 0 {
		list = append(list, paragraph{"Lost by both", share(rest)})
	}
	return list
}
