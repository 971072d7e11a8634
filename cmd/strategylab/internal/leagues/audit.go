package leagues

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/fairness"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/trace"
)

// errUnfair says that a league broke its rules or that its draws are not fair.
var errUnfair = errors.New("the audit found violations")

func auditCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "audit", ArgsUsage: "FILE", Usage: "audit a recorded league: rules and fair draws",
	}, new(auditOptions), func(p *command.Process, c *cli.Context, o *auditOptions) error {
		rec, err := readTrace(p, c)
		if err != nil {
			return err
		}
		return auditAll(p.Stdout, rec, announcedDraw(c, &o.Drawing), o.Format, o.Draws)
	}, recording)
}

type auditOptions struct {
	command.Drawing
	Draws  bool   `flag:"draws" usage:"list verifiable draws with all that they follow from"`
	Format string `flag:"format text|json" want:"one" usage:"output format"`
}

// announcedDraw is the draw that the user says the league announced, if any.
func announcedDraw(c *cli.Context, d *command.Drawing) (none game.Draw) {
	if c.IsSet("draw") {
		return d.Draw()
	}
	return none
}

// auditDocument is the outcome of an audit as JSON.
type auditDocument struct {
	Schema  string          `json:"schema"`
	Leagues []auditedLeague `json:"leagues"`
	Errors  []trace.Remark  `json:"strategy_errors,omitempty"` // of players that this program ran
	Fair    bool            `json:"consistent_with_a_fair_referee"`
}

type auditedLeague struct {
	League     string                 `json:"league_id"`
	Matches    int                    `json:"matches"` // with a known result
	Checks     []auditedRule          `json:"checks"`
	Draws      []drawTest             `json:"draws"` // of the numbers that are not verified
	Verified   int                    `json:"verified_draws"`
	Drawn      int                    `json:"drawn_numbers"`
	Verifiable []judge.VerifiableDraw `json:"verifiable_draws,omitempty"` // only with --draws
}

type auditedRule struct {
	ID       string       `json:"id"`
	Rule     string       `json:"rule"`
	Verdict  judge.Answer `json:"verdict"`
	Examined int          `json:"examined"`
	Findings []string     `json:"findings,omitempty"`
	Unknown  int          `json:"unknown,omitempty"`
	Missing  []string     `json:"missing,omitempty"`
	Advice   string       `json:"advice,omitempty"` // what to change, where it is broken
}

// drawTest is a test of the draws.
type drawTest struct {
	fairness.Test
	Detectable *float64 `json:"detectable_percent,omitempty"` // nil if infinite
	Visible    string   `json:"visible"`
}

// auditAll audits the leagues of a recording and writes what it finds: as text, as json,
// or as an event on one line. Draw is how they announced to draw, the zero value if they
// did not. list adds the verifiable draws.
func auditAll(w io.Writer, rec *trace.Recording, draw game.Draw, format string, list bool) error {
	leagues := judge.Divide(rec.Evidence())
	if len(leagues) == 0 {
		return command.WithHint(errors.New("audit: the recording has no match and no table"),
			"strategylab trace show FILE shows its messages")
	}
	doc := auditDocument{Schema: "strategylab/audit/v2", Errors: rec.Remarks, Fair: true}
	for _, l := range leagues {
		doc.add(l, draw, list)
	}
	err := doc.write(w, format)
	if err == nil && !doc.Fair {
		err = command.Reported(errUnfair)
	}
	return err
}

func (d *auditDocument) add(l *judge.League, draw game.Draw, list bool) {
	a := auditedLeague{League: l.ID, Matches: l.Decided(), Draws: []drawTest{}}
	for _, o := range l.Apply(judge.Rules(judge.Options{Draw: draw, Fair: fairDraws})) {
		r := auditedRule{ID: o.ID, Rule: o.Sentence, Verdict: o.Answer(), Examined: o.Examined, Unknown: o.Unknown, Missing: o.Missing}
		for _, f := range o.Findings {
			r.Findings = append(r.Findings, f.Text)
		}
		if r.Verdict == judge.Broken {
			d.Fair, r.Advice = false, o.Advice
		}
		a.Checks = append(a.Checks, r)
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

// fairDraws judges numbers that nobody verified.
func fairDraws(draw game.Draw, draws []judge.Draw) (judge.Answer, string) {
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

func (d *auditDocument) write(w io.Writer, format string) error {
	switch format {
	case "json":
		return command.PrintJSON(w, d)
	case "event":
		return json.NewEncoder(w).Encode(struct {
			Event string `json:"event"`
			*auditDocument
		}{"audit", d})
	}
	for i := range d.Leagues {
		d.Leagues[i].write(w)
	}
	d.writeErrors(w)
	verdict := "consistent with a fair referee"
	switch {
	case !d.Fair:
		verdict = "NOT consistent with a fair referee: see what is BROKEN above"
	case !slices.ContainsFunc(d.Leagues, func(l auditedLeague) bool { return l.Matches > 0 }):
		verdict = "no result was recorded, so nothing tells whether the referee is fair"
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// verdicts are the answers of rules as the text spells them, where it differs.
var verdicts = map[judge.Answer]string{judge.Broken: "BROKEN", judge.Another: "another", judge.Unknown: "not seen"}

func (l *auditedLeague) write(w io.Writer) {
	const most = 20
	fmt.Fprintf(w, "league %q, %s\n\n", l.League, words.Plain.Plural(int64(l.Matches), "result"))
	for _, c := range l.Checks {
		fmt.Fprintf(w, "  %-8s  %-11s  %5d times  %s\n", cmp.Or(verdicts[c.Verdict], string(c.Verdict)), c.ID, c.Examined, c.Rule)
		for _, f := range c.Findings[:min(most, len(c.Findings))] {
			fmt.Fprintf(w, "            %s\n", words.Printable(f)) // ids are foreign
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
		draws = append(draws, verifiedText(l.Verified, l.Drawn))
	}
	for _, t := range l.Draws {
		draws = append(draws, words.Printable(t.String()))
	}
	if len(draws) > 0 {
		fmt.Fprintf(w, "  %s\n\n", strings.Join(draws, "\n  "))
	}
}

// writeErrors says why strategies made no choice, as far as the recording has that.
func (d *auditDocument) writeErrors(w io.Writer) {
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

// audited returns the path of the recording of a live command, and what audits it at the
// end if --audit is set. Without --record the recording is temporary.
func (o *liveOptions) audited(p *command.Process, draw game.Draw) (path string, after func(*error), err error) {
	path = o.Record
	if !o.Audit {
		return path, func(*error) {}, nil
	}
	format := "text"
	if o.Format == "json" {
		format = "event"
	}
	remove := func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", "strategylab-audit-")
		if err != nil {
			return path, nil, fmt.Errorf("--audit: %w", err)
		}
		path, remove = filepath.Join(dir, "recording.jsonl"), func() error { return os.RemoveAll(dir) }
	}
	return path, func(err *error) {
		*err = errors.Join(*err, auditFile(p, p.Path(path), draw, format), remove())
	}, nil
}

func auditFile(p *command.Process, path string, draw game.Draw, format string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer file.Close() // it was only read
	rec, err := trace.Read(file)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return auditAll(p.Stdout, rec, draw, format, false)
}
