package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/tune"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/params"
)

// The files in the folder of a tune.
const (
	tuneFile        = "tune.json"
	evaluationsFile = "evaluations.jsonl"
)

type tuneOptions struct {
	Runs      int           `flag:"runs" default:"5000" want:"1.." usage:"leagues of the search"`
	Confirm   int           `flag:"confirm" default:"2000" want:"64.." usage:"most fresh leagues with either values"`
	Against   command.Texts `flag:"against STRATEGIES" text:"classics,scripts,plugins" usage:"a field of opponents; repeatable"`
	Objective string        `flag:"objective mean|worst" want:"one" usage:"score over several fields: mean or worst"`
	Legs      int           `flag:"legs" default:"10" want:"1.." usage:"matches of each pair in a league"`
	Out       string        `flag:"out DIR" text:"runs/tune-TIME-SEED" usage:"folder for the results"`
	Resume    string        `flag:"resume DIR" usage:"folder of a tune to continue"`
	Write     bool          `flag:"write" usage:"write confirmed values into the script"`
	command.Seeding
	command.Drawing
	command.Isolation
	clusterOptions
}

// tuneSpec is tune.json: what the evaluations of a tune depend on.
type tuneSpec struct {
	Schema      string
	Strategy    string // as the user named it
	Fingerprint string // of its code
	Params      []string
	Against     []string
	Fields      [][]results.Entrant // the opponents in each
	Worst       bool
	Runs        int
	Confirm     int
	Legs        int
	Seed        uint64
	Draw        string
}

const tuneSchema = "strategylab/tune/v1"

// The phases of a tune.
const (
	phaseSearch = "search"
	phaseNew    = "new" // fresh leagues of the best values
	phaseOld    = "old" // and of the present ones
)

// evaluation is one line of evaluations.jsonl: a block of leagues with some values.
type evaluation struct {
	Phase  string    `json:"phase"`
	Values string    `json:"values"`
	Block  int       `json:"block"`
	Points [][]int64 `json:"points"` // by field and league, in parts of tuneRun.scales
	// Against is the sum by field and opponent.
	Against [][]int64 `json:"against"`
}

// tuneRun is a tune under way.
type tuneRun struct {
	output
	opt     *tuneOptions
	spec    tuneSpec
	out     string
	cat     *catalog.Catalog
	entry   catalog.Entry
	plans   []results.Plan // by field, with the tuned strategy first
	others  [][]strategies.Factory
	scales  []int64 // parts of a point in each field
	session lab.Session

	log      *os.File
	recorded []evaluation // from before
	sum      []byte       // digest of the evaluations so far
	progress *command.Progress
}

func tuneStrategy(p *command.Process, c *cli.Context, o *tuneOptions) (err error) {
	names := []string{"the strategy"}
	if c.IsSet("resume") {
		names = nil
	}
	if err := command.CheckArguments(c, names); err != nil {
		return err
	}
	t := &tuneRun{output: newOutput(p, c, ""), opt: o, out: o.Out}
	if t.cluster, err = t.clusterFor(o.clusterOptions, o.Isolation); err != nil {
		return err
	}
	if err := t.read(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	t.cluster.stopWith(stop)
	defer func() { err = errors.Join(err, t.cluster.close()) }()
	if t.cat, err = p.LoadCatalog(ctx, p.Supply(c, o.Isolation)); err != nil {
		return err
	}
	defer t.cat.Close()
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if err := t.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.log.Close()) }()
	if err := t.cluster.ready(ctx, ""); err != nil {
		return err
	}
	t.session = lab.Session{Lab: p.Lab, Workers: o.Workers}
	if t.cluster != nil {
		t.session.Cluster = t.cluster.lab
	}
	p.ForBatch()
	err = t.run(ctx)
	if ctx.Err() != nil && err != nil {
		t.p.Note("stopped; continue with: strategylab tune --resume %s", words.ShellWord(t.out))
		return command.Reported(command.ErrStopped)
	}
	return err
}

func (t *tuneRun) read() error {
	o := t.opt
	if from := o.Resume; t.c.IsSet("resume") {
		t.out = from
		err := disk.ReadJSON(filepath.Join(t.p.Path(from), tuneFile), results.MostPlan, &t.spec)
		if err == nil && t.spec.Schema != tuneSchema {
			err = fmt.Errorf("schema %q, want %q", t.spec.Schema, tuneSchema)
		}
		if err != nil {
			return lab.ReadError("resume", from, err)
		}
		return nil
	}
	t.spec = tuneSpec{
		Schema: tuneSchema, Strategy: t.c.Args().First(), Against: o.Against, Worst: o.Objective == "worst",
		Runs: o.Runs, Confirm: o.Confirm, Legs: o.Legs, Draw: o.Draw().String(),
	}
	if len(t.spec.Against) == 0 {
		t.spec.Against = []string{firstLook}
	}
	var err error
	if t.spec.Seed, err = o.Seed(t.p); err == nil && t.out == "" {
		t.out = filepath.Join("runs", fmt.Sprintf("tune-%s-%d", t.p.Now().Format("20060102-150405"), t.spec.Seed))
	}
	return err
}

// prepare finds the strategy and its opponents, which have to be those of before.
func (t *tuneRun) prepare(ctx context.Context) (err error) {
	if t.entry, err = t.cat.Resolve(ctx, t.spec.Strategy); err != nil {
		return lab.NameError(err)
	}
	if len(t.entry.Params) == 0 {
		return command.WithHint(fmt.Errorf("tune: %s declares no parameters", t.entry.Info.Name),
			"declare one in a comment at the top of the script, such as: param: horizon 1..20 = 5")
	}
	now := t.spec
	now.Fingerprint, now.Fields, now.Params = t.entry.Info.Fingerprint, nil, nil
	for _, p := range t.entry.Params {
		now.Params = append(now.Params, p.String())
	}
	for _, against := range t.spec.Against {
		if err := t.addField(ctx, against, &now); err != nil {
			return err
		}
	}
	if t.spec.Fields == nil {
		t.spec = now
		return nil
	}
	before, _ := json.Marshal(t.spec)
	if after, _ := json.Marshal(now); !bytes.Equal(before, after) {
		return &lab.InputError{Err: fmt.Errorf("resume %s: %s or an opponent %w", t.out, t.spec.Strategy, lab.ErrChanged), Hint: "restore the files, or start a new tune"}
	}
	return nil
}

func (t *tuneRun) addField(ctx context.Context, against string, spec *tuneSpec) error {
	refs, err := catalog.ParseRefs(against)
	if err != nil {
		return command.Usagef("--against: %w", err)
	}
	field, err := t.cat.Field(ctx, refs)
	if err != nil {
		return lab.FieldError(err)
	}
	for _, w := range command.Few(field.Warnings) {
		t.p.Note("strategylab: warning: %s", w)
	}
	plan := results.Plan{Schema: results.PlanSchema, Runs: 1, Legs: spec.Legs, Draw: spec.Draw, Transport: "direct", Field: []results.Entrant{{}}}
	var others []strategies.Factory
	for _, p := range field.Players {
		if p.Info == t.entry.Info { // it would play against itself
			continue
		}
		plan.Field = append(plan.Field, results.Entrant{Name: p.Name, Kind: string(p.Info.Kind), Ref: p.Target, Source: p.Info.Source, Fingerprint: p.Info.Fingerprint})
		others = append(others, p.Factory)
	}
	if len(others) == 0 {
		return command.Usagef("--against %q has no opponents", against)
	}
	plan.Field[0].Name = t.entry.Info.Name
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if err := lab.Fits(ctx, plan, append([]strategies.Factory{t.entry.Factory}, others...)); err != nil {
		return err
	}
	t.plans, t.others, t.scales = append(t.plans, plan), append(t.others, others), append(t.scales, acc.Shape().Scale)
	spec.Fields = append(spec.Fields, plan.Field[1:])
	return nil
}

// open makes the folder, or reads the evaluations in it.
func (t *tuneRun) open() error {
	dir := t.p.Path(t.out)
	if !t.c.IsSet("resume") {
		if _, err := os.Stat(filepath.Join(dir, tuneFile)); err == nil {
			return command.WithHint(command.Usagef("--out: %s has a tune", t.out), "strategylab tune --resume %s continues it", words.ShellWord(t.out))
		}
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = disk.WriteJSON(filepath.Join(dir, tuneFile), t.spec, 0o644)
		}
		if err != nil {
			return fmt.Errorf("tune: %w", err)
		}
	}
	var err error
	if t.log, err = os.OpenFile(filepath.Join(dir, evaluationsFile), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	text, err := io.ReadAll(t.log)
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // a kill may have torn the last line
	for line := range bytes.Lines(whole) {
		var e evaluation
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		t.recorded = append(t.recorded, e)
	}
	if err == nil {
		err = t.log.Truncate(int64(len(whole)))
	}
	if err == nil {
		_, err = t.log.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("resume %s: %w", t.out, err), t.log.Close())
	}
	return nil
}

// space returns the parameters as the search sees them, and the present values.
func (t *tuneRun) space() (space []tune.Axis, start tune.Point) {
	for _, p := range t.entry.Params {
		a := tune.Axis{Name: p.Name, Low: p.Low, High: p.High, Whole: p.Whole, Words: len(p.Words)}
		if a.Words > 0 {
			a.High = float64(a.Words - 1)
		}
		space, start = append(space, a), append(start, p.Number(p.Default))
	}
	return space, start
}

// values returns a point as a user would write it.
func (t *tuneRun) values(p tune.Point) string {
	var list []params.Value
	for i, text := range t.texts(p) {
		list = append(list, params.Value{Param: t.entry.Params[i].Name, Text: text})
	}
	return params.Format(list)
}

func (t *tuneRun) texts(p tune.Point) (list []string) {
	for i, param := range t.entry.Params {
		text := strconv.FormatFloat(p[i], 'f', -1, 64)
		if param.Words != nil {
			text = param.Words[int(p[i])]
		}
		list = append(list, text)
	}
	return list
}

// run searches, confirms, and prints and writes what that shows.
func (t *tuneRun) run(ctx context.Context) error {
	space, start := t.space()
	search, err := tune.New(tune.Config{Space: space, Start: start, Leagues: t.spec.Runs, Fields: len(t.plans), Worst: t.spec.Worst, Seed: t.spec.Seed})
	if err != nil {
		return command.Usagef("--runs: %w", err)
	}
	how := "a model chooses the values"
	if search.Racing() {
		how = words.Plain.Plural(int64(len(search.Candidates())), "candidate") + " race"
	}
	t.p.Note("tuning %s of %s: %s leagues, blocks of %d, seed %d; %s", words.Plain.Plural(int64(len(space)), "parameter"), t.entry.Info.Name,
		words.Plain.Count(int64(t.spec.Runs)), search.Config().Block, t.spec.Seed, how)
	t.progress = t.p.StartProgress(0, t.spec.Runs+2*t.spec.Confirm*len(t.plans), true)
	found, err := t.searchAndConfirm(ctx, search)
	t.progress.Stop()
	if err != nil {
		return err
	}
	found.Digest = fmt.Sprintf("%x", t.sum)
	for _, line := range found.Lines() {
		fmt.Fprintln(t.p.Stdout, line)
	}
	html, err := found.HTML()
	if err == nil {
		err = disk.WriteFile(filepath.Join(t.p.Path(t.out), "report.html"), html, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	t.p.Note("report in %s; to repeat it: --seed %d", filepath.Join(t.out, "report.html"), t.spec.Seed)
	if !found.Better() {
		return nil
	}
	if t.opt.Write {
		return t.write(t.values(found.Best()))
	}
	t.p.Note("to write these values into %s: strategylab tune --resume %s --write", t.entry.Info.Source, words.ShellWord(t.out))
	return nil
}

func (t *tuneRun) searchAndConfirm(ctx context.Context, search *tune.Search) (*tune.Report, error) {
	found := &tune.Report{Strategy: t.entry.Info.Name, Search: search, Texts: t.texts, Format: t.values, Seed: t.spec.Seed}
	for _, p := range t.entry.Params {
		found.Params = append(found.Params, tune.Param{Name: p.Name, Default: p.Default})
	}
	quarter := (t.spec.Runs + 3) / 4
	for said := 0; ; {
		r, ok := search.Next()
		if !ok {
			break
		}
		e, err := t.evaluate(ctx, phaseSearch, t.values(r.Point), r.Block, search.Config().Block)
		if err != nil {
			return nil, err
		}
		if err := search.Add(r, t.points(e)); err != nil {
			return nil, err
		}
		line := found.Sofar()
		if t.progress.Wanted() {
			t.progress.Renew(func() []string { return []string{line} })
		} else if !t.p.Err.Is() && search.Spent()/quarter > said {
			said = search.Spent() / quarter
			t.p.Note("%s", line)
		}
	}
	values := t.values(found.Best())
	if search.Best() == 0 {
		return found, nil
	}
	worst := -1
	if t.spec.Worst {
		worst = search.WorstField(0)
	}
	confirmation, err := tune.NewConfirmation(len(t.plans), worst)
	if err != nil {
		return nil, err
	}
	const block = 32
	for b := 0; b*block < t.spec.Confirm && !found.Verdict.Decided; b++ {
		n := min(block, t.spec.Confirm-b*block)
		fresh, err := t.evaluate(ctx, phaseNew, values, b, n)
		if err != nil {
			return nil, err
		}
		before, err := t.evaluate(ctx, phaseOld, t.values(search.Candidates()[0].Point), b, n)
		if err != nil {
			return nil, err
		}
		t.against(found, fresh, before)
		scores, old := t.points(fresh), t.points(before)
		for i := range n {
			league := func(all [][]float64) (list []float64) {
				for _, f := range all {
					list = append(list, f[i])
				}
				return list
			}
			confirmation.Add(league(scores), league(old))
		}
		found.Verdict = confirmation.Verdict()
	}
	return found, nil
}

// against adds what a block of fresh leagues shows by opponents.
func (t *tuneRun) against(found *tune.Report, fresh, before evaluation) {
	if found.Gains == nil {
		for _, list := range fresh.Against {
			found.Gains = append(found.Gains, make([]float64, len(list)))
		}
	}
	for i, list := range fresh.Against {
		for k := range list {
			found.Gains[i][k] += float64(list[k]-before.Against[i][k]) * float64(len(list)) / float64(t.scales[i])
		}
	}
}

func (t *tuneRun) points(e evaluation) [][]float64 {
	scores := make([][]float64, len(e.Points))
	for f, list := range e.Points {
		for _, x := range list {
			scores[f] = append(scores[f], float64(x)/float64(t.scales[f]))
		}
	}
	return scores
}

// evaluate returns the next evaluation: from before, if it is recorded, else by playing.
func (t *tuneRun) evaluate(ctx context.Context, phase, values string, block, leagues int) (e evaluation, err error) {
	if len(t.recorded) > 0 {
		e, t.recorded = t.recorded[0], t.recorded[1:]
		if e.Phase != phase || e.Values != values || e.Block != block || len(e.Points) != len(t.plans) || len(e.Against) != len(t.plans) ||
			slices.ContainsFunc(e.Points, func(list []int64) bool { return len(list) != leagues }) {
			return e, &lab.InputError{Err: fmt.Errorf("resume %s: the evaluation %s of %s is not the one that follows", t.out, e.Phase, e.Values), Hint: "another version has recorded it; start a new tune"}
		}
		for range leagues * len(t.plans) {
			_ = t.progress.Append(nil) // it only counts
		}
	} else if e, err = t.play(ctx, phase, values, block, leagues); err != nil {
		return e, err
	}
	line, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	sum := sha256.Sum256(append(t.sum, line...))
	t.sum = sum[:]
	return e, nil
}

// play plays a block of leagues and records it. Blocks of one number have the same seats
// and draws whatever the values are.
func (t *tuneRun) play(ctx context.Context, phase, values string, block, leagues int) (e evaluation, err error) {
	target := params.Join(t.spec.Strategy, values)
	candidate, err := t.cat.Resolve(ctx, target)
	if err != nil {
		return e, lab.NameError(err)
	}
	e = evaluation{Phase: phase, Values: values, Block: block}
	for f, plan := range t.plans {
		plan.Runs, plan.Seed, plan.Field = leagues, t.seed(phase, block), slices.Clone(plan.Field)
		plan.Field[0] = results.Entrant{
			Name: plan.Field[0].Name, Kind: string(candidate.Info.Kind), Ref: target, Source: candidate.Info.Source, Fingerprint: candidate.Info.Fingerprint,
		}
		scorer, err := analysis.NewScorer(plan)
		if err != nil {
			return e, err
		}
		points, against := []int64{}, make([]int64, len(plan.Field)-1)
		err = t.session.PlayUnrecorded(ctx, plan, append([]strategies.Factory{candidate.Factory}, t.others[f]...), func(l *results.League) error {
			if err := scorer.Score(l); err != nil {
				return err
			}
			part, _ := scorer.Value(analysis.Adjusted, 0)
			points = append(points, part)
			one := make([]bool, len(plan.Field))
			for k := range against {
				one[k+1] = true
				part, _ := scorer.Against(0, one)
				against[k] += part
				one[k+1] = false
			}
			return t.progress.Append(l)
		})
		if err != nil {
			return e, err
		}
		e.Points, e.Against = append(e.Points, points), append(e.Against, against)
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = t.log.Write(append(line, '\n'))
	}
	if err != nil {
		return e, fmt.Errorf("record the evaluation of %s: %w", values, err)
	}
	return e, nil
}

// seed returns the seed of a block. Those of the search and of the confirmation differ.
func (t *tuneRun) seed(phase string, block int) uint64 {
	if phase != phaseSearch {
		phase = "confirm"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "tune %s %d %d", phase, t.spec.Seed, block))
	return binary.BigEndian.Uint64(sum[:]) >> 11
}

// write writes values into the script as its defaults, and keeps the old one.
func (t *tuneRun) write(values string) error {
	path := t.entry.Info.Source
	if kind := t.entry.Info.Kind; kind != strategies.Lua && kind != strategies.JavaScript {
		return command.Usagef("--write: %s is not a script; change the defaults where it is made: %s", t.entry.Info.Name, values)
	}
	source, info, err := disk.ReadFile(t.p.Path(path), catalog.MaxSource)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if sum := sha256.Sum256(source); fmt.Sprintf("%x", sum) != t.spec.Fingerprint {
		return fmt.Errorf("write %s: it %w", path, lab.ErrChanged)
	}
	changed, err := catalog.WithValues(t.entry.Info.Kind, source, values)
	old := filepath.Join(t.out, "old-"+filepath.Base(path))
	if err == nil {
		err = disk.WriteFile(t.p.Path(old), source, 0o644)
	}
	if err == nil {
		err = disk.WriteFile(t.p.Path(path), changed, info.Mode().Perm())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	t.p.Note("wrote the new defaults into %s; the old file is %s", path, old)
	return nil
}
