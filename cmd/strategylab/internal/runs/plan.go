package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// namedIn returns the names or paths that a flag has, and the field indices of the
// strategies of a recorded run that they stand for.
func namedIn(plan results.Plan, flag, text string) (names []string, indices []int, err error) {
	refs, err := catalog.ParseRefs(text)
	if err != nil {
		return nil, nil, command.Usagef("--%s: %w", flag, err)
	}
	for _, ref := range refs {
		target := ref.Target
		if ref.IsPath() {
			target = filepath.Clean(target)
		}
		played := subjects(plan, []string{target})
		if len(played) == 0 {
			return nil, nil, command.WithHint(fmt.Errorf("--%s: %q did not play in this run", flag, ref.Target), "its players are %s", playerNames(plan))
		}
		names, indices = append(names, target), append(indices, played...)
	}
	return names, indices, nil
}

// playerIn returns the field index of the player of a name in the run in a folder.
func playerIn(plan results.Plan, op, dir, name string) (int, error) {
	i := slices.IndexFunc(plan.Field, func(f results.Entrant) bool { return f.Name == name })
	if i < 0 {
		return i, command.WithHint(fmt.Errorf("%s: no player %q in %s", op, name, dir), "the players are %s", playerNames(plan))
	}
	return i, nil
}

func playerNames(plan results.Plan) string {
	names := make([]string, len(plan.Field))
	for i, f := range plan.Field {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// firstLook is the default field: some classics, and everything that is not built in.
const firstLook = "classics,scripts,plugins"

// load loads the catalog that the field is from.
func (e *experimentRun) load(ctx context.Context) (*catalog.Catalog, error) {
	supply, err := e.p.SupplyAgents(e.c, e.opt.Isolation, &e.opt.Agents, e.opt.Field, e.opt.Mine)
	if err != nil {
		return nil, err
	}
	return e.p.LoadCatalog(ctx, supply)
}

func (e *experimentRun) field(ctx context.Context, cat *catalog.Catalog) (catalog.Field, error) {
	field, err := e.named(ctx, cat)
	if err != nil {
		return field, err
	}
	out, err := catalog.ParseRefs(e.opt.Without)
	if err != nil {
		return field, command.Usagef("--without: %w", err)
	}
	for _, name := range targets(out) {
		rest := slices.DeleteFunc(slices.Clone(field.Players), func(p catalog.Player) bool { return p.IsNamed(name) })
		if len(rest) == len(field.Players) {
			return field, command.Usagef("--without: %w", &catalog.MissingError{Target: name})
		}
		field.Players = rest
	}
	return field, nil
}

// named returns the strategies that --field names. The user's strategies and those that
// a test compares are among them, whether it names them or not.
func (e *experimentRun) named(ctx context.Context, cat *catalog.Catalog) (catalog.Field, error) {
	named, err := catalog.ParseRefs(e.opt.Mine)
	if err != nil {
		return catalog.Field{}, command.Usagef("--mine: %w", err)
	}
	if len(named) == 0 { // agents of the command line are the user's
		if named, err = e.opt.Refs(e.p); err != nil {
			return catalog.Field{}, err
		}
	}
	if e.mine, err = e.findMine(ctx, cat, named); err != nil {
		return catalog.Field{}, lab.NameError(fmt.Errorf("--mine: %w", err))
	}
	refs := e.refs
	if len(refs) == 0 {
		refs, _ = catalog.ParseRefs(firstLook) // it is in order
	}
	field, err := cat.Field(ctx, refs)
	if err != nil {
		return field, lab.FieldError(err)
	}
	if len(e.refs) == 0 {
		e.beyond = cat.Missing(field)
	}
	wanted, flag := targets(named), "mine"
	if e.stop != nil && e.stop.Ratio != nil {
		wanted, flag = append(wanted, e.stop.Ratio.New, e.stop.Ratio.Old), "sprt"
	}
	for _, target := range wanted { // two may be one strategy, by other names of it
		var absent *catalog.MissingError
		if _, err := field.Find(target); !errors.As(err, &absent) {
			continue // other mistakes are reported where it is used
		}
		refs = append(slices.Clip(refs), catalog.Ref{Target: target, Copies: 1})
		if field, err = cat.Field(ctx, refs); err != nil {
			return field, lab.NameError(fmt.Errorf("--%s: %w", flag, err))
		}
	}
	return field, nil
}

func targets(refs []catalog.Ref) []string {
	var list []string
	for _, ref := range refs {
		list = append(list, ref.Target)
	}
	return list
}

// findMine returns the sources, or names without one, of the strategies that --mine
// names; without the flag those that changed since the last run beside the new one. They
// are the group of that name.
func (e *experimentRun) findMine(ctx context.Context, cat *catalog.Catalog, named []catalog.Ref) ([]string, error) {
	if len(named) == 0 {
		edited := e.p.Edited(filepath.Dir(e.out()), cat.Entries())
		cat.SetMine(edited)
		return edited, nil
	}
	cat.SetMine(targets(named))
	var mine []string
	for _, ref := range named {
		entry, err := cat.Resolve(ctx, ref.Target)
		if err != nil {
			return nil, err
		}
		if entry.Info.Source != "" {
			mine = append(mine, filepath.Clean(entry.Info.Source))
		} else {
			mine = append(mine, entry.Info.Name)
		}
	}
	return mine, nil
}

// subjects returns the field indices of the user's strategies.
func subjects(plan results.Plan, mine []string) []int {
	var list []int
	for i, f := range plan.Field {
		name, _, _ := strings.Cut(f.Name, "#")
		if f.Source != "" && slices.Contains(mine, filepath.Clean(f.Source)) || slices.Contains(mine, f.Name) || slices.Contains(mine, name) {
			list = append(list, i)
		}
	}
	return list
}

// defaultMaxRuns limits the leagues of an experiment with a stopping rule.
const defaultMaxRuns = 20_000

// stopOptions says when an experiment stops instead of after a number of leagues.
type stopOptions struct {
	Until     string  `flag:"until ranked|best|precision=X" usage:"stop as soon as this is shown (instead of --runs)"`
	MaxRuns   int     `flag:"max-runs" text:"20000" want:"1.." usage:"maximum number of leagues with --until or --sprt"`
	Guarantee string  `flag:"guarantee asymptotic|finite" default:"asymptotic" usage:"guarantee of the rule; finite: exact, ten times the leagues"`
	Margin    float64 `flag:"margin" text:"none" usage:"treat smaller differences in adjusted points as ties"`
	SPRT      string  `flag:"sprt TEST" usage:"sequential test (instead of --runs), such as new=x.lua,old=y.lua,delta=0.01,alpha=0.05,beta=0.05"`
}

// stop returns how many leagues an experiment plays at most, and its stopping rule; nil
// without one. The players of a test have the names that the user wrote.
func (o *stopOptions) stop(c *cli.Context, runs int) (int, *results.Stop, error) {
	if !c.IsSet("until") && !c.IsSet("sprt") {
		return runs, nil, nil
	}
	runs = cmp.Or(o.MaxRuns, defaultMaxRuns)
	guarantee, err := sequential.ParseGuarantee(o.Guarantee)
	if err != nil {
		return 0, nil, command.Usagef("--guarantee: %w", err)
	}
	if c.IsSet("until") {
		stop, err := o.until(c, guarantee)
		return runs, stop, err
	}
	r, err := report.ParseRatio(o.SPRT)
	if err != nil {
		return 0, nil, command.WithHint(fmt.Errorf("--sprt: %w", err), "for example --sprt new=x.lua,old=y.lua,delta=0.01,alpha=0.05,beta=0.05")
	}
	stop := &results.Stop{Ratio: &r}
	if guarantee != sequential.Asymptotic { // which plans without the word have
		stop.Guarantee = string(guarantee)
	}
	return runs, stop, nil
}

func (o *stopOptions) until(c *cli.Context, guarantee sequential.Guarantee) (*results.Stop, error) {
	rule, err := sequential.ParseRule(o.Until)
	switch {
	case err != nil:
		return nil, command.Usagef("--until: %w", err)
	case c.IsSet("margin") && !(o.Margin > 0 && o.Margin < 3):
		return nil, command.Usagef("--margin is %v, want points per match between 0 and 3", o.Margin)
	case o.Margin > 0 && rule.Kind != sequential.Ranked:
		return nil, command.Usagef("--margin needs --until ranked, not %s", rule)
	case rule.Kind == sequential.Ranked && o.MaxRuns == 0 && o.Margin == 0:
		return nil, command.WithHint(errors.New("--until ranked may never end: equal players are never ranked"),
			"limit the leagues with --max-runs 5000, or treat small differences as ties with --margin 0.005")
	}
	return &results.Stop{Until: rule.String(), Guarantee: string(guarantee), Margin: o.Margin}, nil
}

// stopRule adds the stopping rule to the plan of a new run with a field.
func (e *experimentRun) stopRule(plan *results.Plan, field catalog.Field) error {
	if e.stop == nil {
		return nil
	}
	stop := *e.stop
	plan.Stop = &stop
	flag := "until"
	if stop.Ratio != nil {
		flag = "sprt"
		ratio := *stop.Ratio
		var err error
		if ratio.New, err = field.Find(ratio.New); err != nil {
			return command.Usagef("--%s: new: %w", flag, err)
		}
		if ratio.Old, err = field.Find(ratio.Old); err != nil {
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
	if _, err := report.NewStudy(*plan, analysis.DefaultLevel); err != nil {
		return command.Usagef("--%s: %w", flag, err)
	}
	return nil
}

// extend raises the number of leagues of the run in a folder, if the flags do.
func (e *experimentRun) extend(dir *results.Dir) error {
	plan := dir.Plan()
	flag, other, runs := "runs", "max-runs", e.opt.Runs
	if plan.Stop != nil {
		flag, other, runs = "max-runs", "runs", e.opt.MaxRuns
	}
	if e.c.IsSet(other) {
		return command.WithHint(fmt.Errorf("--%s does not apply to the run in %s, which %s", other, e.opt.Resume, howItEnds(plan)),
			"raise its number of leagues with --%s", flag)
	}
	if !e.c.IsSet(flag) {
		return nil
	}
	switch longer := runs > plan.Runs; {
	case longer && plan.Stop != nil:
		e.p.Note("its stopping rule holds after every league, so more of them need no correction")
	case longer && dir.Len() == plan.Runs:
		e.p.Note("strategylab: warning: extended after a look at its %s: its intervals and places get a higher level than %s, which corrects for that. "+
			"A run with another --seed needs no correction, and --until looks as often as you like",
			words.Plain.Plural(int64(plan.Runs), "league"), words.Plain.Level(analysis.DefaultLevel))
	}
	plan.Runs = runs
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
	if plan.Looks = results.Looks(e.p.Path(filepath.Dir(out)), *plan); plan.Looks == nil {
		return
	}
	last := plan.Looks[len(plan.Looks)-1]
	e.p.Note("strategylab: warning: a run beside %s has the first %s of this plan and seed, so this run extends a look at them: its intervals and places get a higher level than %s, which corrects for that. "+
		"Another --seed needs no correction", out, words.Plain.Plural(int64(last), "league"), words.Plain.Level(analysis.DefaultLevel))
}

func howItEnds(plan results.Plan) string {
	switch {
	case plan.Stop == nil:
		return "plays a fixed number of leagues"
	case plan.Stop.Ratio != nil:
		return "ends by --sprt"
	}
	return "ends by --until " + plan.Stop.Until
}

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
