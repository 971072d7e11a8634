// Package judge holds the rules of a league, and says of recorded exchanges whether
// they were kept. Nothing else judges: the audit of a recording and the conformance
// of an agent are ways to get exchanges, and to show what the rules say of them.
//
// [Divide] reads exchanges, a league at a time: which messages say what about which
// match, table and round. A [Rule] answers for one [League]. What a message does not
// say stays unknown, and is held against nobody; what the other side never promised,
// such as numbers from 1 to 10, is [Another] rule, and the rest is judged by what was
// seen. What was sent first is told by the order of the exchanges, never by a number
// of a round.
package judge

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/trace"
)

// Rule is one rule of a league. Its Judge adds to a verdict what follows from the league alone.
type Rule struct {
	ID       string
	Sentence string // the rule
	Advice   string // what to change in a program that breaks it
	Judge    func(*League, *Verdict)
}

// Answer is what a rule says of a league, or a finding of a rule.
type Answer string

// The answers, worst first. Unusual is said of draws that a fair league shows seldom,
// Another of a rule that differs from ours and is kept.
const (
	Broken  Answer = "broken"
	Unusual Answer = "unusual"
	Another Answer = "another rule"
	Holds   Answer = "holds"
	Unknown Answer = "unknown"
)

// Finding is what a rule found, and the exchanges that show it, the decisive one last.
type Finding struct {
	Answer    Answer // Broken, Unusual or Another
	Text      string
	Exchanges []*trace.Exchange
}

// MarshalText returns the text alone.
func (f Finding) MarshalText() ([]byte, error) { return []byte(f.Text), nil }

// Verdict is what a rule found in a league.
type Verdict struct {
	// Examined counts what the rule could be judged on: matches, answers or rows.
	Examined int       `json:"examined"`
	Findings []Finding `json:"findings,omitempty"`
	// Unknown counts what cannot be judged, since the exchanges do not hold what it
	// takes; Missing names that, each once.
	Unknown int      `json:"unknown,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// answer returns the worst of the findings; without any, whether the rule holds as far
// as it could be examined.
func (v *Verdict) answer() Answer {
	for _, a := range []Answer{Broken, Unusual, Another} {
		if slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Answer == a }) {
			return a
		}
	}
	if v.Examined > 0 {
		return Holds
	}
	return Unknown
}

// add adds a finding.
func (v *Verdict) add(a Answer, shown []*trace.Exchange, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{a, fmt.Sprintf(format, args...), shown})
}

// examine counts what a rule is judged on, and adds that it is broken unless it holds.
func (v *Verdict) examine(holds bool, shown []*trace.Exchange, format string, args ...any) {
	v.Examined++
	if !holds {
		v.add(Broken, shown, format, args...)
	}
}

// another adds another rule, unless it is there.
func (v *Verdict) another(x *trace.Exchange, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Text == text }) {
		v.add(Another, []*trace.Exchange{x}, "%s", text)
	}
}

// unknown counts what cannot be judged without something that the exchanges lack.
func (v *Verdict) unknown(missing string) {
	v.Unknown++
	if !slices.Contains(v.Missing, missing) {
		v.Missing = append(v.Missing, missing)
	}
}

// Outcome is a rule with what it says of a league.
type Outcome struct {
	ID       string `json:"id"`
	Sentence string `json:"rule"`
	Answer   Answer `json:"verdict"`
	Verdict
	Advice string `json:"advice,omitempty"` // what to change, where the rule is broken
}

// Apply applies rules to a league, in order.
func (l *League) Apply(rules []Rule) []Outcome {
	all := make([]Outcome, len(rules))
	for i, r := range rules {
		var v Verdict
		r.Judge(l, &v)
		all[i] = Outcome{ID: r.ID, Sentence: r.Sentence, Answer: v.answer(), Verdict: v}
		if all[i].Answer == Broken {
			all[i].Advice = r.Advice
		}
	}
	return all
}

// Options are what rules take besides exchanges.
type Options struct {
	// Draw is how the league announced to draw numbers. The zero value means that it
	// announced nothing: then other numbers than 1 to 10 are another rule.
	Draw game.Draw
	// Fair tests numbers of which no commitment proves anything, nil for no test. It
	// answers Holds, Unusual or Broken, and a sentence.
	Fair func(game.Draw, []Draw) (Answer, string)
}

// Rules returns the rules of every league.
func Rules(o Options) []Rule {
	return []Rule{
		{"choices", "a result contains the choices that the players gave", "Book the choice of the answer that counts.", (*League).choices},
		{"numbers", "a drawn number is one that the league draws and has the stated parity; a technical loss has none",
			"Draw from 1 to 10, and only when both have chosen.", func(l *League, v *Verdict) { l.numbers(v, o.Draw) }},
		{"scoring", "winner and points follow from the choices and the number: 3 to 0, or 1 each", "Compute winner and points from the choices and the number.", (*League).scoring},
		{"same-result", "both players and the manager receive the same result", "Make all three messages from one result.", (*League).sameResult},
		{"offences", "a player that gave a valid choice in time gets no technical loss", "Take every valid choice until the deadline.", (*League).offences},
		{"deadlines", "a referee reports no timeout before the deadline it gave (two seconds allowed: timestamps are whole seconds)",
			"Wait until the deadline of the call.", (*League).deadlines},
		{"standings", "standings are the sums of the results", "Add each result to the rows of both players.", (*League).standings},
		{"ranks", "the player with more points has the better rank", "Sort by points, in descending order.", (*League).ranks},
		{"ties", "players with as many points are ranked by wins, then by points among them, then by fewer technical losses, then by number",
			"Sort by all of these, in this order.", (*League).ties},
		{"champion", "the champion is first in the final table", "Take the champion from the first row.", (*League).champions},
		{"schedule", "nobody plays twice in a round, and all pairs play equally often", "Make a round robin.", (*League).balance},
		{"byes", "who has no match in a round has a bye, and nobody else", "List the players that remain.", (*League).byes},
		{"totals", "the ends of rounds and of the league count the matches and how they ended", "Count each match once: as a win, a tie or a technical loss.", (*League).totals},
		{"unexpected", "matches are announced once, before they are played, and end with the league", "Announce every match, and begin none after the end.",
			func(l *League, v *Verdict) { v.Examined, v.Findings = len(l.matches), l.strays.Findings }},
		{"commitments", "a drawn number follows from the key that the referee committed to before the choices",
			"Reveal the key of the first commitment, and draw from it.", (*League).commits},
		{"draws", "numbers that nobody can verify are like those of a fair draw", "Draw each number with the same probability, whoever plays.", func(l *League, v *Verdict) { l.draws(v, o) }},
	}
}
