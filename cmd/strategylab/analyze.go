package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
)

const flagLevel = "level"

func analyzeCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "analyze", ArgsUsage: "DIR", Usage: "say again what the recorded leagues of a run show",
		Description: "Reads the leagues in the folder of a run and prints what 'experiment' prints, without playing\n" +
			"and without the strategies. A run that is under way is read as far as it has come.",
		Flags: []cli.Flag{
			levelFlag(),
			formatFlag("table, json or csv"),
			assertFlag(),
			&cli.BoolFlag{Name: flagQuiet, Usage: "nothing on stderr but errors"},
		},
		Action: func(c *cli.Context) error { return analyze(p, c) },
	}
}

func levelFlag() cli.Flag {
	return &cli.Float64Flag{Name: flagLevel, Value: analysis.DefaultLevel, Usage: "confidence level of the intervals, 0.5 to 0.9999"}
}

func level(c *cli.Context) (float64, error) {
	l := c.Float64(flagLevel)
	if !(l >= 0.5 && l <= 0.9999) {
		return 0, usagef("--%s is %v, want 0.5 to 0.9999", flagLevel, l)
	}
	return l, nil
}

func analyze(p *process, c *cli.Context) error {
	args, err := arguments(c, "DIR")
	if err != nil {
		return err
	}
	e := &experimentRun{p: p, c: c, quiet: c.Bool(flagQuiet)}
	if e.format, err = oneOf(c, flagFormat, "table", "json", "csv"); err != nil {
		return err
	}
	run, err := readRun(c, p, args[0], nil)
	if err != nil {
		return err
	}
	if run.Stopping.Why == report.Interrupted {
		e.note("%d of %d leagues so far", run.Estimates.Leagues, run.Plan.Runs)
	}
	if err := e.show(*run); err != nil {
		return err
	}
	return verdictOn(run)
}

// show writes a report to stdout and nothing to the folder.
func (e *experimentRun) show(run report.Run) error {
	switch e.format {
	case "json":
		return report.WriteJSON(e.p.stdout, run.Document())
	case "csv":
		if text := assertionText(run); text != "" {
			fmt.Fprint(e.p.stderr, text)
		}
		for _, line := range run.StoppingLines() {
			e.note("%s", line)
		}
		return report.WritePlayersCSV(e.p.stdout, run)
	}
	return report.WriteTable(e.p.stdout, run, e.p.width())
}

// readRun reads the folder of a run, analyses it as the flags say, and hands its
// leagues to what newSink makes as well, unless either is nil. It takes no lock and
// writes nothing.
func readRun(c *cli.Context, p *process, dir string, newSink func(results.Plan) (experiments.Sink, error)) (*report.Run, error) {
	l, err := level(c)
	if err != nil {
		return nil, err
	}
	reader, err := openRun(c.Command.Name, p, dir)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	plan := reader.Plan()
	study, err := newStudy(plan, l)
	if err != nil {
		return nil, err
	}
	judging, err := newJudge(c, plan)
	if err != nil {
		return nil, err
	}
	sinks := experiments.Tee(study, judging)
	if newSink != nil {
		also, err := newSink(plan)
		if err != nil {
			return nil, err
		}
		if also != nil {
			sinks = experiments.Tee(sinks, also)
		}
	}
	hasher := results.NewHasher()
	err = eachLeague(c.Context, reader, func(l *results.League) error {
		if err := hasher.Add(l); err != nil {
			return err
		}
		return sinks.Append(l)
	})
	if err == nil && study.acc.Leagues() == 0 {
		err = errNoLeague
	}
	if err != nil {
		return nil, readError(c.Command.Name, dir, err)
	}
	facts := report.Facts{Digest: hasher.Digest()}
	run := study.report(l, facts)
	run.Facts.Reproducible = run.Estimates.Reproducible
	runTimeFacts(p.path(dir), &run.Facts)
	judge(&run, judging, study.acc)
	return &run, nil
}

// openRun opens the folder of a run for reading.
func openRun(command string, p *process, dir string) (*results.Reader, error) {
	reader, err := results.OpenReader(p.path(dir))
	if err != nil {
		return nil, readError(command, dir, err)
	}
	return reader, nil
}

var errNoLeague = errors.New("no league is complete yet")

// readError says what to do about a folder that cannot be read.
func readError(command, dir string, err error) error {
	err = fmt.Errorf("%s %s: %w", command, dir, err)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return withHint(err, "name the folder of a run, as 'results in ...' at the end of an experiment does")
	case errors.Is(err, errNoLeague):
		return withHint(err, "wait until the run has come further, or go on with it: strategylab experiment --resume %s", dir)
	case errors.Is(err, context.Canceled):
		return err
	}
	return &usageError{err: err}
}

// eachLeague visits the recorded leagues. A file whose header is not yet written
// whole, as a run begins, has none.
func eachLeague(ctx context.Context, reader *results.Reader, visit func(*results.League) error) error {
	for l, err := range reader.Leagues() {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return nil
}

// runTimeFacts takes from the summary in the folder what the leagues do not
// tell, if it is of the same leagues.
func runTimeFacts(dir string, facts *report.Facts) {
	content, err := os.ReadFile(filepath.Join(dir, results.SummaryFile))
	if err != nil {
		return // a run that is under way has none
	}
	var summary struct {
		Digest           string
		Messages         int64
		Seconds          float64
		MatchesPerSecond float64 `json:"matches_per_second"`
	}
	if json.Unmarshal(content, &summary) != nil || summary.Digest != facts.Digest {
		return // it is of fewer leagues, or of another program's making
	}
	facts.Messages, facts.Seconds, facts.MatchesPerSecond = summary.Messages, summary.Seconds, summary.MatchesPerSecond
}
