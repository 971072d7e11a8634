// Package audit judges recorded leagues: whether they kept the rules, and whether their draws
// look fair.
package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis/fairness"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/trace"
)

// Document is the outcome of an audit, as it is in JSON.
type Document struct {
	Schema  string         `json:"schema"`
	Leagues []League       `json:"leagues"`
	Errors  []trace.Remark `json:"strategy_errors,omitempty"` // of players that this program ran
	Fair    bool           `json:"consistent_with_a_fair_referee"`
}

// League is what an audit found out about one league of a recording.
type League struct {
	League     string                 `json:"league_id"`
	Matches    int                    `json:"matches"` // with a known result
	Checks     []judge.Outcome        `json:"checks"`
	Draws      []drawTest             `json:"draws"` // of the numbers that are not verified
	Verified   int                    `json:"verified_draws"`
	Drawn      int                    `json:"drawn_numbers"`
	Verifiable []judge.VerifiableDraw `json:"verifiable_draws,omitempty"` // only with --draws
}

// drawTest is a test of the draws.
type drawTest struct {
	fairness.Test
	Detectable *float64 `json:"detectable_percent,omitempty"` // nil if infinite
	Visible    string   `json:"visible"`
}

// ErrEmpty says that a recording has no league.
var ErrEmpty = errors.New("the recording has no match and no table")

// Of audits the leagues of a recording. Draw is how they announced to draw, the zero value if
// they did not. list adds the verifiable draws.
func Of(rec *trace.Recording, draw game.Draw, list bool) (*Document, error) {
	leagues := judge.Divide(rec.Evidence())
	if len(leagues) == 0 {
		return nil, ErrEmpty
	}
	doc := &Document{Schema: "strategylab/audit/v2", Errors: rec.Remarks, Fair: true}
	for _, l := range leagues {
		doc.add(l, draw, list)
	}
	return doc, nil
}

func (d *Document) add(l *judge.League, draw game.Draw, list bool) {
	a := League{
		League: l.ID, Matches: l.Decided(), Draws: []drawTest{},
		Checks: l.Apply(judge.Rules(judge.Options{Draw: draw, Fair: FairDraws})),
	}
	for _, c := range a.Checks {
		d.Fair = d.Fair && c.Answer != judge.Broken
	}
	for _, d := range l.Draws() {
		a.Drawn++
		if d.Verified {
			a.Verified++
		}
	}
	if rule, unverified := l.Unverified(draw); len(unverified) > 0 {
		for _, t := range drawTests(rule, unverified).Tests {
			test := drawTest{Test: t, Visible: t.Visible()}
			if !math.IsInf(t.Detectable, 1) {
				test.Detectable = &t.Detectable
			}
			a.Draws = append(a.Draws, test)
		}
	}
	if list {
		a.Verifiable = l.VerifiableDraws()
	}
	d.Leagues = append(d.Leagues, a)
}

// FairDraws judges numbers that nobody verified.
func FairDraws(draw game.Draw, draws []judge.Draw) (judge.Answer, string) {
	l := drawTests(draw, draws)
	switch {
	case !l.Consistent():
		return judge.Broken, l.String()
	case l.Unusual():
		return judge.Unusual, l.String()
	}
	return judge.Holds, l.String()
}

// drawTests tests the draws of a league.
func drawTests(draw game.Draw, draws []judge.Draw) *fairness.League {
	var numbers []int
	var contests []fairness.Contest
	for _, d := range draws {
		numbers = append(numbers, d.Number)
		for i, player := range d.Players {
			mine, errMine := game.ParseParity(d.Choices[i])
			others, errOthers := game.ParseParity(d.Choices[1-i])
			if errMine == nil && errOthers == nil && mine != others {
				contests = append(contests, fairness.Contest{Player: player, Choice: mine, Won: game.ParityOf(d.Number) == mine})
			}
		}
	}
	l := fairness.Of(draw, numbers, contests)
	return &l
}

// WriteText writes the document for people.
func (d *Document) WriteText(w io.Writer) error {
	for i := range d.Leagues {
		d.Leagues[i].write(w)
	}
	d.writeErrors(w)
	verdict := "consistent with a fair referee"
	switch {
	case !d.Fair:
		verdict = "NOT consistent with a fair referee: see what is BROKEN above"
	case !slices.ContainsFunc(d.Leagues, func(l League) bool { return l.Matches > 0 }):
		verdict = "no result was recorded, so nothing tells whether the referee is fair"
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// verdicts are the answers of rules as the text spells them, where it differs.
var verdicts = map[judge.Answer]string{judge.Broken: "BROKEN", judge.Another: "another", judge.Unknown: "not seen"}

func (l *League) write(w io.Writer) {
	const most = 20
	fmt.Fprintf(w, "league %q, %s\n\n", l.League, words.Plain.Plural(int64(l.Matches), "result"))
	for _, c := range l.Checks {
		fmt.Fprintf(w, "  %-8s  %-11s  %5d times  %s\n", cmp.Or(verdicts[c.Answer], string(c.Answer)), c.ID, c.Examined, c.Sentence)
		for _, f := range c.Findings[:min(most, len(c.Findings))] {
			fmt.Fprintf(w, "            %s\n", words.Printable(f.Text)) // ids are foreign
		}
		if more := len(c.Findings) - most; more > 0 {
			fmt.Fprintf(w, "            and %d more\n", more)
		}
		if c.Advice != "" {
			fmt.Fprintf(w, "            to fix: %s\n", c.Advice)
		}
		if c.Unknown > 0 {
			fmt.Fprintf(w, "            %d more cannot be judged: the recording lacks %s\n", c.Unknown, strings.Join(c.Missing, "; "))
		}
	}
	fmt.Fprintln(w)
	var draws []string
	for _, v := range l.Verifiable {
		draws = append(draws, listedText(v))
	}
	if l.Verified > 0 {
		draws = append(draws, Verified(l.Verified, l.Drawn))
	}
	for _, t := range l.Draws {
		draws = append(draws, words.Printable(t.String()))
	}
	if len(draws) > 0 {
		fmt.Fprintf(w, "  %s\n\n", strings.Join(draws, "\n  "))
	}
}

// writeErrors says why strategies made no choice, as far as the recording has that.
func (d *Document) writeErrors(w io.Writer) {
	const most = 20
	if len(d.Errors) == 0 {
		return
	}
	fmt.Fprintln(w, "errors of strategies:")
	for _, e := range d.Errors[:min(most, len(d.Errors))] {
		fmt.Fprintf(w, "  %-7s %s\n", words.Printable(e.Match), words.Printable(e.Agent+": "+e.Text))
	}
	if rest := len(d.Errors) - most; rest > 0 {
		fmt.Fprintf(w, "  and %d more\n", rest)
	}
	fmt.Fprintln(w)
}

// String says what a test shows, and what it could have shown.
func (t drawTest) String() string {
	if t.Method == fairness.TooFew {
		return fmt.Sprintf("%s  too few to tell: %s", t.Question, words.Plain.Plural(int64(t.N), "draw"))
	}
	return fmt.Sprintf("%s  n = %d, p = %.3g (%s); %s", t.Question, t.N, t.Corrected, t.Method, t.Visible)
}

// Verified says how many draws are verified.
func Verified(verified, drawn int) string {
	return fmt.Sprintf("%d of %s verified", verified, words.Plain.Plural(int64(drawn), "draw"))
}

// listedText is a verifiable draw with all that it follows from.
func listedText(v judge.VerifiableDraw) string {
	verdict := "verified"
	if v.Broken != "" {
		verdict = "BROKEN: " + v.Broken
	}
	return words.Printable(fmt.Sprintf("%-7s round %d  %s %s %s  %s %s %s  commitment %s  key %s  number %d  %s", v.Match, v.Round,
		v.Players[0], v.Choices[0], cmp.Or(v.Nonces[0], "-"), v.Players[1], v.Choices[1], cmp.Or(v.Nonces[1], "-"), v.Commitment, cmp.Or(v.Key, "-"), v.Number, verdict))
}
