package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

func (s *source) title() string {
	return fmt.Sprintf("%s of %d strategies", leagues(s.e.Leagues), len(s.e.Players))
}

func (s *source) subtitle() string {
	legs := "1 leg"
	if n := s.Run.Plan.Legs; n != 1 {
		legs = count(int64(n)) + " legs"
	}
	return fmt.Sprintf("%s of %d strategies, %s, %s matches. Draw %s, seed %d.",
		leagues(s.e.Leagues), len(s.e.Players), legs, count(s.e.Matches), s.Run.Plan.Draw, s.Run.Plan.Seed)
}

// headline is the answer in one sentence.
func (s *source) headline() string {
	first := s.firstTier()
	switch {
	case s.e.Leagues < 2:
		return "Too few leagues to say anything."
	case s.e.NothingToRank():
		return "Two players and a fair draw: there is nothing to rank."
	case len(first) == 1:
		return s.name(first[0]) + " is best."
	case len(first) == len(s.e.Players):
		return "These leagues do not tell the strategies apart."
	}
	return list(s.names(first), 4) + " lead together."
}

// verdict says what the headline means and how sure it is.
func (s *source) verdict() string {
	first := s.firstTier()
	level := number(100*s.e.Ranking.Level, 0) + " %"
	switch {
	case s.e.Leagues < 2:
		return "One league says nothing of the next. Play more: differences between strategies show from league to league."
	case s.e.NothingToRank():
		d := s.e.Pairs[0].Differ
		return fmt.Sprintf("Both expect the same points, whatever they play. Their choices differ in %s of matches (%s, %s interval); "+
			"add more strategies to the field to see which does better.", percent(d.Estimate), between(d, 100, 1), level)
	case len(first) == 1:
		p, corrected := s.e.Players[first[0]].Adjusted, ""
		if w := s.e.Winner; w != nil && w.Field == first[0] {
			p, corrected = w.Adjusted, ", corrected for having been selected"
		}
		return fmt.Sprintf("It expects %s adjusted points a match (%s interval %s to %s%s) and is significantly ahead of all %d others, "+
			"with every comparison corrected for how many there are (%s confidence in all statements together).",
			number(p.Estimate, 4), level, number(p.Low, 4), number(p.High, 4), corrected, len(s.e.Players)-1, level)
	case len(first) == len(s.e.Players):
		return fmt.Sprintf("At %s confidence no strategy is shown to be better than any other. That is no proof that they are equal; "+
			"more leagues may separate them.", level)
	}
	return fmt.Sprintf("Nobody is shown to be better than any of these %d; there is no evidence that one of them is best. "+
		"The other %d are each significantly behind at least one strategy (%s confidence in all statements together).",
		len(first), len(s.e.Players)-len(first), level)
}

func (s *source) firstTier() []int {
	if len(s.e.Ranking.Tiers) == 0 {
		return nil
	}
	return s.e.Ranking.Tiers[0]
}

func (s *source) names(members []int) []string {
	var list []string
	for _, i := range members {
		list = append(list, s.name(i))
	}
	return list
}

// list joins names; if there are more than so many, it says how many are left out.
func list(names []string, most int) string {
	if len(names) == 1 {
		return names[0]
	}
	if len(names) > most {
		return strings.Join(names[:most-1], ", ") + fmt.Sprintf(" and %d others", len(names)-most+1)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// level is the confidence level of single intervals.
func (s *source) level() string { return number(100*s.e.Level, 0) + "\u00a0%" }

// notes are warnings that belong above everything else.
func (s *source) notes() []string {
	var notes []string
	if lines := s.Run.StoppingLines(); len(lines) > 0 {
		notes = append(notes, lines...)
	} else if n := s.e.Leagues; n < s.Run.Plan.Runs {
		notes = append(notes, fmt.Sprintf("The run was stopped after %s of %s leagues; what is shown holds for those.",
			count(int64(n)), count(int64(s.Run.Plan.Runs))))
	}
	if !s.e.Fair {
		notes = append(notes, "The draw is biased: saying the likelier parity pays, and two players who meet no longer expect the same.")
	}
	if !s.Run.Facts.Reproducible {
		notes = append(notes, "Not reproducible: time limits or lost connections decided matches, and need not do so again.")
	}
	for _, p := range s.Run.Facts.Processes {
		if p.PutAside {
			notes = append(notes, fmt.Sprintf("%s was put aside after its processes had failed %s: from then on every match of %s was lost.",
				p.Name, times(p.Failures), list(p.Players, 4)))
		}
	}
	return notes
}

func (s *source) method() []paragraph {
	draw := "The draw is fair: even and odd numbers are equally likely, and nobody knows the number. So a match in which choices differ " +
		"is worth 1.5 points to both on average, one in which they are equal 1 point to both. Nobody beats anybody; a strategy controls " +
		"how often it differs from others, and whether it answers at all."
	if !s.e.Fair {
		draw = "The draw is biased, so a choice is worth more if it names the likelier parity. Adjusted points take that into account."
	}
	m := []paragraph{
		{"The game", draw},
		{"Adjusted points", "are what the two choices of a match were worth before the number was drawn. They have the same expectation as the points " +
			"that the referee gives, without the luck of the draw, so their intervals are narrower" + s.narrower() + " Matches lost on technical grounds count 0."},
		{"The unit is the league", "Strategies remember each other within a league, so its matches are dependent. Between leagues every seat is made anew. " +
			"Every interval is computed from values of whole leagues, by Student's t or, near a bound, by a method that stays valid there."},
		{"Comparisons", "are made within leagues, where both players met the same field, and corrected for being many. All statements of the tiers and of the " +
			"possible places hold together with the stated confidence. A tier holds everybody who is not shown to be worse than somebody outside the tiers above it."},
	}
	if lines := s.Run.StoppingLines(); len(lines) > 0 {
		// The unit stays; how its intervals are made does not.
		m[2].Text = "Strategies remember each other within a league, so its matches are dependent. Between leagues every seat is made anew. " +
			"Every interval is computed from values of whole leagues."
		m = append(m, paragraph{"The end", strings.Join(lines, " ")})
	}
	if len(s.Explanations.Players) > 0 {
		m = append(m, paragraph{"Explanations", "are about predicting choices: whoever predicts a choice says the opposite, and both gain half a point on average. " +
			"Predictors are chosen on leagues with an even number and judged on leagues with an odd one, so that the best of several is not flattered. " +
			"Regret assumes that opponents would have done the same, which those that react would not."})
	}
	if s.refuse == nil {
		m = append(m, paragraph{"Population", "takes the measured payoffs as exact and matches lost on technical grounds as not played. Ratings from wins, like Elo, " +
			"are left out: under a fair draw both players of a match win equally often, whatever they play, so a rating from wins would rank noise."})
	}
	return append(m, paragraph{"What is assumed", "Leagues are independent and alike, which holds because seats, draws and randomness are dealt anew from the seed for each. " +
		"The results speak of this field: other opponents can change the order."})
}

func (s *source) narrower() string {
	r := s.e.VarianceRatio
	if math.IsNaN(r) || r < 1 {
		return "."
	}
	return fmt.Sprintf(": %s times here (a variance ratio of %s).", number(math.Sqrt(r), 1), number(r, 1))
}

func (s *source) facts() []fact {
	f := s.Run.Facts
	list := []fact{{"Seed", strconv.FormatUint(s.Run.Plan.Seed, 10)}, {"Draw", s.Run.Plan.Draw}, {"Transport", s.Run.Plan.Transport}}
	if f.Digest != "" {
		list = append(list, fact{"Digest", f.Digest})
	}
	return list
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return count(int64(n)) + " times"
}

// number writes a number with so many decimals, with commas between thousands.
func number(x float64, decimals int) string {
	if math.IsNaN(x) {
		return "-"
	}
	text := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	whole, fraction, point := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	if x < 0 && strings.ContainsAny(whole, "123456789") {
		return "\u2212" + whole
	}
	return whole
}

func count(n int64) string { return number(float64(n), 0) }

// percent writes a share.
func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return number(100*x, 1) + "\u00a0%"
}

// between writes an interval.
func between(e analysis.Estimate, scale float64, decimals int) string {
	return number(scale*e.Low, decimals) + " to " + number(scale*e.High, decimals)
}

// places writes what places are possible.
func places(p [2]int) string {
	if p[0] == p[1] {
		return strconv.Itoa(p[0])
	}
	return fmt.Sprintf("%d\u2013%d", p[0], p[1])
}

// digits is how many decimals show two digits of the widest interval of a column, at
// least two and at most six.
func digits(e *analysis.Estimates, of func(*analysis.Player) analysis.Estimate) int {
	widest := 0.0
	for i := range e.Players {
		if v := of(&e.Players[i]); v.Defined() {
			widest = max(widest, v.Width()/2)
		}
	}
	places := 2
	for scaled := widest * 100; places < 6 && scaled < 9.5; places++ {
		scaled *= 10
	}
	return places
}
