package leagues

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/fairness"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/trace/audit"
)

const flagAudit = "audit"

// errUnfair says that a league broke its rules or that its draws look biased.
var errUnfair = errors.New("the audit found violations")

func auditCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "audit", ArgsUsage: "FILE", Usage: "audit a recorded league: rules and fair draws",
		Flags: []cli.Flag{
			command.DrawFlag(),
			&cli.BoolFlag{Name: flagDraws, Usage: "list verifiable draws with all that they follow from"},
			command.FormatFlag("text", "json"),
		},
		Action: command.Action(p, func(p *command.Process, c *cli.Context) error {
			rec, err := readTrace(p, c)
			if err != nil {
				return err
			}
			return auditAll(p.Stdout, rec, command.Draw(c), c.String(command.FlagFormat), c.Bool(flagDraws))
		}, recording),
	}
}

// auditDocument is the outcome of an audit as JSON.
type auditDocument struct {
	Schema  string          `json:"schema"`
	Leagues []auditedLeague `json:"leagues"`
	Errors  []trace.Remark  `json:"strategy_errors,omitempty"` // of players that this program ran
	Fair    bool            `json:"consistent_with_a_fair_referee"`
}

type auditedLeague struct {
	audit.Report
	Draws      []drawTest             `json:"draws"`
	Verifiable []audit.VerifiableDraw `json:"verifiable_draws,omitempty"` // only with --draws
}

// drawTest is a test of the draws.
type drawTest struct {
	fairness.Test
	Detectable *float64 `json:"detectable_percent,omitempty"` // nil if infinite
	Visible    string   `json:"visible"`
	Suspicious bool     `json:"suspicious"`
}

// auditAll audits the leagues of a recording and writes what it finds: as text,
// as json, or as an event on one line. list adds the verifiable draws.
func auditAll(w io.Writer, rec *trace.Recording, draw game.Draw, format string, list bool) error {
	leagues := audit.Leagues(rec.Exchanges)
	if len(leagues) == 0 {
		return command.WithHint(errors.New("audit: the recording has no match and no table"),
			"strategylab trace show FILE shows its messages")
	}
	doc := auditDocument{Schema: "strategylab/audit/v1", Errors: rec.Remarks, Fair: true}
	for _, e := range leagues {
		l := auditedLeague{Report: e.Audit(), Draws: []drawTest{}}
		if list {
			l.Verifiable = e.VerifiableDraws()
		}
		doc.Fair = doc.Fair && len(l.Broken()) == 0
		for _, t := range drawTests(draw, e.Draws()) {
			doc.Fair = doc.Fair && !t.Suspicious()
			d := drawTest{Test: t, Visible: t.Visible(), Suspicious: t.Suspicious()}
			if !math.IsInf(t.Detectable, 1) {
				d.Detectable = &t.Detectable
			}
			l.Draws = append(l.Draws, d)
		}
		doc.Leagues = append(doc.Leagues, l)
	}
	err := doc.write(w, format)
	if err == nil && !doc.Fair {
		err = command.Reported(errUnfair)
	}
	return err
}

// drawTests tests the draws of a league.
func drawTests(draw game.Draw, draws []audit.Draw) []fairness.Test {
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
	return append([]fairness.Test{fairness.Uniform(draw, numbers), fairness.Even(draw, numbers)}, fairness.Favoured(draw, contests)...)
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
	for _, l := range d.Leagues {
		fmt.Fprintf(w, "league %q, %s\n\n", l.League, words.Plain.Plural(int64(l.Matches), "result"))
		for _, c := range l.Checks {
			verdict := "holds"
			switch {
			case !c.Holds():
				verdict = "BROKEN"
			case c.Examined == 0:
				verdict = "not seen"
			}
			fmt.Fprintf(w, "  %-8s  %-11s  %5d times  %s\n", verdict, c.ID, c.Examined, c.Rule)
			for _, f := range c.Findings {
				fmt.Fprintf(w, "            %s\n", words.Printable(f)) // ids are foreign
			}
			if more := c.Broken - len(c.Findings); more > 0 {
				fmt.Fprintf(w, "            and %d more\n", more)
			}
			if c.Unknown > 0 {
				fmt.Fprintf(w, "            %d more cannot be judged: the recording lacks %s\n", c.Unknown, strings.Join(c.Missing, "; "))
			}
		}
		fmt.Fprintln(w)
		for _, v := range l.Verifiable {
			fmt.Fprintf(w, "  %s\n", listedText(v))
		}
		if verified, all := l.VerifiedDraws(); all > 0 {
			fmt.Fprintf(w, "  %s\n\n", verifiedText(verified, all))
		}
		for _, t := range l.Draws {
			fmt.Fprintf(w, "  %s\n", words.Printable(t.String()))
		}
		fmt.Fprintln(w)
	}
	d.writeErrors(w)
	verdict := "consistent with a fair referee"
	if !d.Fair {
		verdict = "NOT consistent with a fair referee: see what is BROKEN or SUSPICIOUS above"
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
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
	verdict := "yes, as far as can be seen"
	switch {
	case t.Suspicious:
		verdict = "SUSPICIOUS"
	case t.Method == fairness.TooFew:
		return fmt.Sprintf("%s  too few to tell: %s", t.Question, words.Plain.Plural(int64(t.N), "draw"))
	}
	return fmt.Sprintf("%s  %s: n = %d, p = %.3g (%s); %s", t.Question, verdict, t.N, t.Corrected, t.Method, t.Visible)
}

// auditAfter returns the path of the recording of a live command, and what audits
// it at the end if --audit is set. Without --record the recording is temporary.
func auditAfter(p *command.Process, c *cli.Context) (path string, after func(*error), err error) {
	path = c.String(flagRecord)
	if !c.Bool(flagAudit) {
		return path, func(*error) {}, nil
	}
	format := "text"
	if c.String(command.FlagFormat) == "json" {
		format = "event"
	}
	remove := func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", "strategylab-audit-")
		if err != nil {
			return path, nil, fmt.Errorf("--%s: %w", flagAudit, err)
		}
		path, remove = filepath.Join(dir, "recording.jsonl"), func() error { return os.RemoveAll(dir) }
	}
	return path, func(err *error) {
		*err = errors.Join(*err, auditFile(p, p.Path(path), command.Draw(c), format), remove())
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
