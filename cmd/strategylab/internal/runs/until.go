package runs

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagUntil     = "until"
	flagGuarantee = "guarantee"
	flagMargin    = "margin"
	flagSPRT      = "sprt"
)

// defaultMaxRuns limits the leagues of an experiment with a stopping rule.
const defaultMaxRuns = 20_000

func untilFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagUntil, Usage: "`ranked|best|precision=X`: stop as soon as this is shown (instead of --runs)"},
		&cli.IntFlag{Name: command.FlagMaxRuns, Usage: "maximum number of leagues with --until or --sprt", DefaultText: strconv.Itoa(defaultMaxRuns), Action: command.AtLeast(command.FlagMaxRuns, 1)},
		&cli.StringFlag{Name: flagGuarantee, Value: string(sequential.Asymptotic), Usage: "`asymptotic|finite`: guarantee of the rule; finite: exact, ten times the leagues"},
		&cli.Float64Flag{Name: flagMargin, Usage: "treat smaller differences in adjusted points as ties", DefaultText: "none"},
		&cli.StringFlag{Name: flagSPRT, Usage: "`TEST`: sequential test (instead of --runs), such as " + sprtExample},
	}
}

// stopFlags says when an experiment stops.
type stopFlags struct {
	runs int // maximum
	stop *results.Stop
}

// readStop reads the flags of untilFlags, and --runs.
func readStop(c *cli.Context) (stopFlags, error) {
	s := stopFlags{runs: c.Int(command.FlagRuns)}
	if err := exclusive(c, command.FlagRuns, flagUntil, flagSPRT); err != nil {
		return s, err
	}
	if !c.IsSet(flagUntil) && !c.IsSet(flagSPRT) {
		for _, flag := range []string{command.FlagMaxRuns, flagGuarantee, flagMargin} {
			if c.IsSet(flag) {
				return s, command.WithHint(fmt.Errorf("--%s needs --%s", flag, flagUntil), "--%s N sets the number of leagues", command.FlagRuns)
			}
		}
		return s, nil
	}
	s.runs = cmp.Or(c.Int(command.FlagMaxRuns), defaultMaxRuns)
	var err error
	if c.IsSet(flagSPRT) {
		s.stop, err = readSPRT(c)
	} else {
		s.stop, err = readUntil(c)
	}
	return s, err
}

// exclusive refuses more than one of the flags.
func exclusive(c *cli.Context, flags ...string) error {
	first := ""
	for _, flag := range flags {
		switch {
		case !c.IsSet(flag):
		case first == "":
			first = flag
		default:
			return command.WithHint(fmt.Errorf("--%s and --%s exclude each other", first, flag), "give one of them; --%s limits the leagues of --%s and --%s",
				command.FlagMaxRuns, flagUntil, flagSPRT)
		}
	}
	return nil
}

func readUntil(c *cli.Context) (*results.Stop, error) {
	rule, err := sequential.ParseRule(c.String(flagUntil))
	if err != nil {
		return nil, command.Usagef("--%s: %w", flagUntil, err)
	}
	guarantee, err := sequential.ParseGuarantee(c.String(flagGuarantee))
	if err != nil {
		return nil, command.Usagef("--%s: %w", flagGuarantee, err)
	}
	margin := c.Float64(flagMargin)
	switch {
	case c.IsSet(flagMargin) && !(margin > 0 && margin < 3):
		return nil, command.Usagef("--%s is %v, want points per match between 0 and 3", flagMargin, margin)
	case margin > 0 && rule.Kind != sequential.Ranked:
		return nil, command.Usagef("--%s needs --%s ranked, not %s", flagMargin, flagUntil, rule)
	case rule.Kind == sequential.Ranked && !c.IsSet(command.FlagMaxRuns) && margin == 0:
		return nil, command.WithHint(fmt.Errorf("--%s ranked may never end: equal players are never ranked", flagUntil),
			"limit the leagues with --%s 5000, or treat small differences as ties with --%s 0.005", command.FlagMaxRuns, flagMargin)
	}
	return &results.Stop{Until: rule.String(), Guarantee: string(guarantee), Margin: margin}, nil
}

// stopRule adds the stopping rule to the plan of a new run with a field.
func (e *experimentRun) stopRule(plan *results.Plan, field catalog.Field) error {
	if e.stop.stop == nil {
		return nil
	}
	stop := *e.stop.stop
	plan.Stop = &stop
	flag := flagUntil
	if stop.Ratio != nil {
		flag = flagSPRT
		ratio := *stop.Ratio
		var err error
		if ratio.New, err = playerOf(field, ratio.New); err != nil {
			return command.Usagef("--%s: new: %w", flag, err)
		}
		if ratio.Old, err = playerOf(field, ratio.Old); err != nil {
			return command.Usagef("--%s: old: %w", flag, err)
		}
		if ratio.New == ratio.Old {
			return command.Usagef("--%s: new and old are both %s; name two strategies", flag, ratio.New)
		}
		stop.Ratio = &ratio
	}
	if err := plan.Validate(); err != nil {
		return command.Usagef("%w", err)
	}
	if _, err := lab.NewStudy(*plan, analysis.DefaultLevel); err != nil {
		return command.Usagef("--%s: %w", flag, err)
	}
	return nil
}

// extend raises the number of leagues of the run in a folder, if the flags do.
func (e *experimentRun) extend(dir *results.Dir) error {
	plan := dir.Plan()
	flag, other := command.FlagRuns, command.FlagMaxRuns
	if plan.Stop != nil {
		flag, other = command.FlagMaxRuns, command.FlagRuns
	}
	if e.c.IsSet(other) {
		return command.WithHint(fmt.Errorf("--%s does not apply to the run in %s, which %s", other, e.c.String(flagResume), howItEnds(plan)),
			"raise its number of leagues with --%s", flag)
	}
	if !e.c.IsSet(flag) {
		return nil
	}
	switch longer := e.c.Int(flag) > plan.Runs; {
	case longer && plan.Stop != nil:
		e.note("its stopping rule holds after every league, so more of them need no correction")
	case longer && dir.Len() == plan.Runs:
		e.warn("extended after a look at its %s: its intervals and places get a higher level than %s, which corrects for that. "+
			"A run with another --%s needs no correction, and --%s looks as often as you like",
			words.Plain.Plural(int64(plan.Runs), "league"), words.Plain.Level(analysis.DefaultLevel), command.FlagSeed, flagUntil)
	}
	plan.Runs = e.c.Int(flag)
	if err := dir.Extend(plan); err != nil {
		return command.Usagef("--%s: %w", flag, err)
	}
	return nil
}

// extends adds to the plan of a new run the looks at complete runs beside it that have its
// first leagues: the same seed, field and rules, and fewer leagues.
func (e *experimentRun) extends(plan *results.Plan, out string) {
	if plan.Stop != nil || plan.Records != "" {
		return
	}
	if plan.Looks = e.p.Lab.Looks(filepath.Dir(out), *plan); plan.Looks == nil {
		return
	}
	last := plan.Looks[len(plan.Looks)-1]
	e.warn("a run beside %s has the first %s of this plan and seed, so this run extends a look at them: its intervals and places get a higher level than %s, which corrects for that. "+
		"Another --%s needs no correction", out, words.Plain.Plural(int64(last), "league"), words.Plain.Level(analysis.DefaultLevel), command.FlagSeed)
}

func howItEnds(plan results.Plan) string {
	switch {
	case plan.Stop == nil:
		return "plays a fixed number of leagues"
	case plan.Stop.Ratio != nil:
		return "ends by --" + flagSPRT
	}
	return "ends by --" + flagUntil + " " + plan.Stop.Until
}

// howMany says how many leagues a run plays.
func howMany(plan results.Plan) string {
	if plan.Stop == nil {
		return words.Plain.Plural(int64(plan.Runs), "league")
	}
	what := "the test is decided"
	if plan.Stop.Until != "" {
		what = plan.Stop.Until
	}
	return fmt.Sprintf("at most %s (until %s)", words.Plain.Plural(int64(plan.Runs), "league"), what)
}

const sprtExample = "new=x.lua,old=y.lua,delta=0.01,alpha=0.05,beta=0.05"

// readSPRT reads --sprt. The players have the names that the user wrote until the
// field is known.
func readSPRT(c *cli.Context) (*results.Stop, error) {
	if c.IsSet(flagMargin) {
		return nil, command.Usagef("--%s needs --%s, not --%s", flagMargin, flagUntil, flagSPRT)
	}
	guarantee, err := sequential.ParseGuarantee(c.String(flagGuarantee))
	if err != nil {
		return nil, command.Usagef("--%s: %w", flagGuarantee, err)
	}
	r, err := parseSPRT(c.String(flagSPRT))
	if err != nil {
		return nil, command.WithHint(fmt.Errorf("--%s: %w", flagSPRT, err), "for example --%s %s", flagSPRT, sprtExample)
	}
	stop := results.Stop{Ratio: &r}
	if guarantee != sequential.Asymptotic { // which plans without the word have
		stop.Guarantee = string(guarantee)
	}
	return &stop, nil
}

func parseSPRT(s string) (results.Ratio, error) {
	r := results.Ratio{Alpha: 0.05, Beta: 0.05}
	numbers := map[string]*float64{"delta": &r.Delta, "alpha": &r.Alpha, "beta": &r.Beta}
	names := map[string]*string{"new": &r.New, "old": &r.Old}
	seen := map[string]bool{}
	for _, part := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return r, fmt.Errorf("%q is not of the form name=value", part)
		case seen[key]:
			return r, fmt.Errorf("%s is given twice", key)
		case names[key] != nil:
			*names[key] = value
		case numbers[key] != nil:
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return r, fmt.Errorf("%s is %q, want a number", key, value)
			}
			*numbers[key] = x
		default:
			return r, fmt.Errorf("unknown key %q, want new, old, delta, alpha and beta", key)
		}
		seen[key] = true
	}
	switch {
	case r.New == "" || r.Old == "":
		return r, errors.New("new or old is missing: name the two strategies to compare")
	case r.New == r.Old:
		return r, fmt.Errorf("new and old are both %q; name two strategies", r.New)
	case !seen["delta"]:
		return r, errors.New("delta is missing: how many adjusted points per match new has to be better")
	}
	return r, sequential.Hypotheses{Delta: r.Delta, Alpha: r.Alpha, Beta: r.Beta}.Validate()
}
