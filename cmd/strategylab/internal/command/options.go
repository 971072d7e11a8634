package command

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// New gives a command the flags of its options and its action. A flag is a field of
// the options, or of a struct that is embedded in them, with these tags:
//
//	flag      its name and, after a space, that of its value, which may be alternatives: "format table|json"
//	usage     its description
//	default   its default, unless the field holds one
//	text      the default in words, where the value does not say it
//	want      the values that it takes: see [accepts]
//	required  any text
//
// The fields have their values when the action runs. It runs if the positional arguments
// are those of these names, and the flags go together by the [rules].
func New[O any](p *Process, c *cli.Command, o *O, action func(*Process, *cli.Context, *O) error, names ...string) *cli.Command {
	c.Flags = flagsOf(reflect.ValueOf(o).Elem())
	c.Action = Action(p, func(p *Process, c *cli.Context) error { return action(p, c, o) }, names...)
	return c
}

func flagsOf(options reflect.Value) (flags []cli.Flag) {
	for i := range options.NumField() {
		switch f := options.Type().Field(i); {
		case f.Tag.Get("flag") != "":
			flags = append(flags, flagOf(options.Field(i).Addr(), f.Tag))
		case f.Anonymous:
			flags = append(flags, flagsOf(options.Field(i))...)
		}
	}
	return flags
}

// flagOf returns the flag that sets what a pointer points to. A tag that cannot be read is
// a mistake in this program.
func flagOf(to reflect.Value, tag reflect.StructTag) cli.Flag {
	name, value, _ := strings.Cut(tag.Get("flag"), " ")
	usage, preset, text, want := tag.Get("usage"), tag.Get("default"), tag.Get("text"), tag.Get("want")
	if value != "" {
		usage = "`" + value + "`: " + usage
	}
	if want == "one" {
		want = value
		if first, _, _ := strings.Cut(value, "|"); preset == "" && text == "" {
			preset = first
		}
	}
	required := tag.Get("required") != ""
	switch to := to.Interface().(type) {
	case *string:
		if *to == "" {
			*to = preset
		}
		return &cli.StringFlag{Name: name, Usage: usage, Value: *to, DefaultText: text, Destination: to, Required: required, Action: check[string](name, want)}
	case *int:
		set(to, preset, strconv.Atoi)
		return &cli.IntFlag{Name: name, Usage: usage, Value: *to, DefaultText: text, Destination: to, Action: check[int](name, want)}
	case *int64:
		set(to, preset, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
		return &cli.Int64Flag{Name: name, Usage: usage, Value: *to, DefaultText: text, Destination: to, Action: check[int64](name, want)}
	case *float64:
		set(to, preset, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
		return &cli.Float64Flag{Name: name, Usage: usage, Value: *to, DefaultText: text, Destination: to, Action: check[float64](name, want)}
	case *time.Duration:
		set(to, preset, time.ParseDuration)
		return &cli.DurationFlag{Name: name, Usage: usage, Value: *to, DefaultText: text, Destination: to, Action: check[time.Duration](name, want)}
	case *bool:
		set(to, preset, strconv.ParseBool)
		return &cli.BoolFlag{Name: name, Usage: usage, Value: *to, Destination: to}
	case cli.Generic:
		return &cli.GenericFlag{Name: name, Usage: usage, Value: to, DefaultText: text, Required: required}
	}
	panic("--" + name + ": no flag has the type " + to.Type().String())
}

// set sets a field to its default, unless it holds one.
func set[T comparable](to *T, preset string, parse func(string) (T, error)) {
	if none := *new(T); *to == none && preset != "" {
		var err error
		if *to, err = parse(preset); err != nil {
			panic(err)
		}
	}
}

// check refuses values of a flag on the command line before the command begins.
func check[T any](flag, want string) func(*cli.Context, T) error {
	if want == "" {
		return nil
	}
	return func(_ *cli.Context, v T) error {
		if text, ok := any(v).(string); ok {
			return checkText(flag, text, want)
		}
		if refusal := accepts(v, want); refusal != "" {
			return Usagef("--%s is %v, want %s", flag, v, refusal)
		}
		return nil
	}
}

// accepts says what a number or a duration has to be, which it is not; empty if it is.
// want is "1..", "0..1" or "positive".
func accepts(v any, want string) string {
	number := func(text string, otherwise float64) float64 {
		if d, err := time.ParseDuration(text); err == nil && text != "0" {
			return float64(d)
		}
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return x
		}
		return otherwise
	}
	value := reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
	first, last, _ := strings.Cut(want, "..")
	switch {
	case want == "positive" && value <= 0:
		return "a positive duration"
	case want == "positive" || value >= number(first, 0) && value <= number(last, math.Inf(1)):
		return ""
	case last == "":
		return "at least " + first
	}
	return first + " to " + last
}

// checkText refuses what a flag does not take: a text that is not among the alternatives,
// or not a "url", the id of an "agent" (both may be empty), of a "league", or a "draw".
func checkText(flag, text, want string) error {
	switch want {
	case "url":
		want = "a URL such as http://127.0.0.1:8000/mcp"
		if text == "" || AgentURL(text) {
			return nil
		}
	case "agent":
		want = "at most 128 characters, no control characters"
		if text == "" || protocol.ValidForeignID(text) {
			return nil
		}
	case "league":
		want = "letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit"
		if protocol.ValidID(text) {
			return nil
		}
	case "draw":
		if _, err := game.ParseDraw(text); err != nil && text != "" {
			return Usagef("--%s: %w", flag, err)
		}
		return nil
	default:
		values := strings.Split(want, "|")
		if slices.Contains(values, text) {
			return nil
		}
		want = "one of " + strings.Join(values, ", ")
	}
	return Usagef("--%s is %q, want %s", flag, text, want)
}

// Texts is the value of a flag that can be repeated.
type Texts []string

// Set adds a value.
func (t *Texts) Set(s string) error { *t = append(*t, s); return nil }

// String joins the values.
func (t *Texts) String() string { return strings.Join(*t, "; ") }

// List is the value of a flag that can be repeated, with several values separated by
// commas.
type List []string

// Set adds values.
func (l *List) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		*l = append(*l, strings.TrimSpace(part))
	}
	return nil
}

// String joins the values.
func (l *List) String() string { return strings.Join(*l, ",") }

// Given reports whether a command line or the environment gives a flag: for "name=value"
// with this value, else with any but false.
func Given(c *cli.Context, flag string) bool {
	name, value, exact := strings.Cut(flag, "=")
	if !c.IsSet(name) {
		return false
	}
	return exact && c.String(name) == value || !exact && c.String(name) != "false"
}

// Refuse returns an error if a flag is given that does not go with those of the line, or
// with others that are assumed to be given.
func Refuse(c *cli.Context, assumed ...string) error {
	given := func(flag string) bool { return slices.Contains(assumed, flag) || Given(c, flag) }
	for _, r := range rules {
		if r.command != "" && r.command != Name(c) || r.unless != "" && given(r.unless) {
			continue
		}
		others := strings.Fields(r.needs + r.bars)
		at := slices.IndexFunc(others, given)
		if (at >= 0) == (r.needs != "") || r.needs != "" && assumed != nil {
			continue
		}
		for flag := range strings.FieldsSeq(r.flags) {
			if !Given(c, flag) {
				continue
			}
			other, value, exact := strings.Cut(others[max(at, 0)], "=")
			text := r.text
			switch {
			case text == "" && r.needs != "":
				text = "--{flag} needs --{other}"
			case text == "":
				text = "--{flag} cannot be used with --{other}"
			}
			if exact {
				other += " " + value
			} else {
				value = c.String(other)
			}
			text = strings.NewReplacer("{flag}", flag, "{other}", other, "{value}", value).Replace(text)
			return WithHint(fmt.Errorf("%s", text), "%s", r.hint)
		}
	}
	return nil
}

// rule says that flags need another one, or do not go with others.
type rule struct {
	command string // of the flags; empty for every command that has them
	flags   string // separated by spaces; name=value is a flag with this value
	needs   string // flags of which one has to be given
	bars    string // flags of which none may be given
	unless  string // a flag with which the rule does not hold
	// text is the sentence of the error, empty for that of most. {flag} is one of flags,
	// {other} one of needs or bars, and {value} its value.
	text, hint string
}

const exclusive = "--{flag} and --{other} exclude each other"

// rules are all rules on which flags go with which. The first that is broken is reported.
var rules = []rule{
	{flags: "tls-cert", needs: "tls-key", text: "--tls-cert and --tls-key need each other"},
	{flags: "tls-key", needs: "tls-cert", text: "--tls-cert and --tls-key need each other"},
	{flags: "cluster-cert", needs: "cluster-key", text: "--cluster-cert and --cluster-key need each other"},
	{flags: "cluster-key", needs: "cluster-cert", text: "--cluster-cert and --cluster-key need each other"},
	{flags: "in-process", bars: "isolate", text: exclusive},
	{flags: "offline", needs: "cassette", text: "--offline needs --cassette DIR, where the answers are"},
	{flags: "admin-token", bars: "admin-token-file", text: exclusive},

	{flags: "verify worker-timeout", needs: "cluster"},
	{flags: "in-process shard", bars: "cluster"},
	{flags: "isolate=false", bars: "cluster", text: "--isolate=false cannot be used with --cluster: workers run scripts in processes of their own"},

	{command: "experiment", flags: "listen", needs: "web", text: "--listen is the address of the page of --web, which is missing", hint: "add --web, or leave --listen out"},
	{command: "experiment", flags: "confirm", bars: "watch", hint: "confirm once, when the scripts are finished: strategylab experiment --resume DIR --confirm"},
	{command: "experiment", flags: "legs seed field without draw transport out watch until guarantee margin sprt shard records", bars: "resume",
		text: "--{flag} cannot be used with --{other}: the plan of {value} fixes it"},
	{command: "tune", flags: "runs confirm against objective legs seed draw out", bars: "resume", text: "--{flag} cannot be used with --{other}: {value}/tune.json fixes it"},
	{command: "experiment", flags: "watch confirm no-report", bars: "web", text: "--{other} cannot be used with --{flag}: the page becomes the report of one run"},
	{flags: "shard", needs: "seed", hint: "give all shards the same seed, for example --seed 7"},
	{flags: "watch confirm until sprt", bars: "shard", text: "--{flag} cannot be used with --shard: a shard does not see the leagues of the others"},
	{flags: "assert plots format details", bars: "shard", text: "--{flag} cannot be used with --shard, which prints no results", hint: "give it to strategylab merge"},
	{command: "experiment", flags: "until sprt confirm watch web plots cluster", bars: "records=none",
		text: "--{flag} cannot be used with --{other}: it needs the records of single leagues"},
	{command: "merge", flags: "assert plots", bars: "records=none", text: "--{flag} cannot be used with shards of --{other}: it needs the records of single leagues"},
	{command: "experiment", flags: "runs", bars: "until sprt", text: exclusive, hint: "give one of them; --max-runs limits the leagues of --until and --sprt"},
	{command: "experiment", flags: "until", bars: "sprt", text: exclusive, hint: "give one of them; --max-runs limits the leagues of --until and --sprt"},
	{command: "experiment", flags: "max-runs guarantee margin", needs: "until sprt", unless: "resume", text: "--{flag} needs --until", hint: "--runs N sets the number of leagues"},
	{command: "experiment", flags: "margin", bars: "sprt", text: "--margin needs --until, not --sprt"},

	{command: "report", flags: "plots", bars: "format=markdown format=latex", text: "--plots needs --format html"},
	{command: "replay", flags: "faults", bars: "lost", text: exclusive},
	{command: "replay", flags: "nth", bars: "next previous", text: exclusive},
	{command: "replay", flags: "next", bars: "previous", text: exclusive},
	{command: "calibrate", flags: "players legs leagues", bars: "DIR", text: "--{flag} cannot be used with DIR, whose run has its own"},
	{command: "power", flags: "delta", bars: "effect", text: exclusive},
	{command: "mcp", flags: "allow-origin allow-host tls-cert tls-key", needs: "http"},
}
