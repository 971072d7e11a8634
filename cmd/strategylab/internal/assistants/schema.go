package assistants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// The tags of a Go struct define the bounds of its properties, beside the
// description in the tag "jsonschema":
//
//	min, max   bounds of a number, of a text's length in bytes, or of a list's length
//	default    value of an absent property, as JSON, or legs for that of a league
//	enum       allowed texts, separated by commas
//	pattern    pattern of a text
//
// Both the schemas that clients see and the validation of their input come from
// these tags.

// schemaOf returns the JSON Schema of a struct. limits replace the maxima of the
// tags by property name.
func schemaOf[T any](limits map[string]int) (json.RawMessage, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{})
	if err != nil {
		return nil, fmt.Errorf("schema of %T: %w", *new(T), err)
	}
	if err := annotate(s, reflect.TypeFor[T](), limits); err != nil {
		return nil, fmt.Errorf("schema of %T: %w", *new(T), err)
	}
	return json.Marshal(s)
}

// annotate adds to an object's schema what the tags say.
func annotate(s *jsonschema.Schema, t reflect.Type, limits map[string]int) error {
	for _, f := range fieldsOf(t) {
		p := s.Properties[f.name]
		if p == nil {
			return fmt.Errorf("no property %q", f.name)
		}
		if p.Description == "" && f.field.Type != reflect.TypeFor[json.RawMessage]() {
			return fmt.Errorf("%s has no description", f.name)
		}
		inner := f.field.Type
		if f.optional || inner.Kind() == reflect.Slice { // what is absent is left out, never null
			p.Types = slices.DeleteFunc(p.Types, func(name string) bool { return name == "null" })
			if len(p.Types) == 1 {
				p.Type, p.Types = p.Types[0], nil
			}
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if err := f.bound(p, inner, limits); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		object := p
		if inner.Kind() == reflect.Slice && p.Items != nil {
			inner, object = inner.Elem(), p.Items
		}
		if inner == reflect.TypeFor[Player]() { // its short form is a text
			object.Type, object.Types, object.Pattern = "", []string{"string", "object"}, playerPattern
		}
		if inner.Kind() == reflect.Struct {
			if err := annotate(object, inner, limits); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	return nil
}

// outline shortens the schema of an answer to what a model needs to plan with: the
// properties of the answer with their meaning, and only the types of what is below
// them. Clients send all schemas to their model with every question.
func outline(full json.RawMessage) (json.RawMessage, error) {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(full, s); err != nil {
		return nil, err
	}
	for _, p := range s.Properties {
		p.Properties, p.Required, p.AdditionalProperties = nil, nil, nil
		if p.Items != nil {
			p.Items = &jsonschema.Schema{Type: p.Items.Type, Types: p.Items.Types}
		}
	}
	return json.Marshal(s)
}

// property is a field of a struct that is a property of an object.
type property struct {
	name     string
	optional bool
	field    reflect.StructField
}

func fieldsOf(t reflect.Type) []property {
	var all []property
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" {
			all = append(all, property{name: name, optional: strings.Contains(options, "omit"), field: f})
		}
	}
	return all
}

// limit returns a bound of a property: 0 and false if it has none.
func (f property) limit(tag string, limits map[string]int) (int, bool) {
	if n, set := limits[f.name]; set && tag == "max" {
		return n, true
	}
	n, err := strconv.Atoi(f.field.Tag.Get(tag))
	return n, err == nil
}

// standard is the default of a property as JSON, at most its limit; empty for
// none.
func (f property) standard(limits map[string]int) string {
	text := f.field.Tag.Get("default")
	if text == "legs" {
		text = strconv.Itoa(game.DefaultLegs)
	}
	if most, limited := limits[f.name]; limited {
		if n, err := strconv.Atoi(text); err == nil && n > most {
			return strconv.Itoa(most)
		}
	}
	return text
}

// bound puts the bounds of a property into its schema.
func (f property) bound(p *jsonschema.Schema, t reflect.Type, limits map[string]int) error {
	low, hasLow := f.limit("min", limits)
	high, hasHigh := f.limit("max", limits)
	switch t.Kind() {
	case reflect.String:
		if hasLow {
			p.MinLength = &low
		}
		if hasHigh {
			p.MaxLength = &high
		}
	case reflect.Slice:
		if hasLow {
			p.MinItems = &low
		}
		if hasHigh {
			p.MaxItems = &high
		}
	default:
		if hasLow {
			p.Minimum = new(float64(low))
		}
		if hasHigh {
			p.Maximum = new(float64(high))
		}
	}
	p.Pattern = f.field.Tag.Get("pattern")
	if text := f.standard(limits); text != "" {
		if !json.Valid([]byte(text)) {
			return fmt.Errorf("default %s is not JSON", text)
		}
		p.Default = json.RawMessage(text)
	}
	if list := f.field.Tag.Get("enum"); list != "" {
		for _, v := range strings.Split(list, ",") {
			p.Enum = append(p.Enum, v)
		}
	}
	return nil
}

// decode reads the input of a tool, which is valid by its schema, and fills in the
// defaults of absent properties.
func decode[T any](raw json.RawMessage, limits map[string]int) (T, error) {
	var in T
	v := reflect.ValueOf(&in).Elem()
	for _, f := range fieldsOf(v.Type()) {
		text := f.standard(limits)
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), v.FieldByIndex(f.field.Index).Addr().Interface()); err != nil {
			return in, fmt.Errorf("the default of %s: %w", f.name, err)
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, command.Usagef("invalid input: %w", err)
	}
	return in, nil
}

// The patterns of texts that become file names. The tags of inputs repeat them for
// the schemas; code that opens files checks them again.
const (
	namePattern   = lab.NamePattern
	playerPattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}(\([A-Za-z0-9_=;. +-]{1,400}\))?(\*[1-8])?$` // a player's short form
	idPattern     = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`
)

func isID(text string) bool { return regexp.MustCompile(idPattern).MatchString(text) }

// Player is a strategy in an input, by name or with its source. Its short form is a
// text: "council", or "random*3" for three copies.
type Player struct {
	Name     string `json:"name" jsonschema:"known strategy, with values of its parameters if you like: council(fade=0.7). With source, the name of the new one" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}(\\([A-Za-z0-9_=;. +-]{1,400}\\))?$"`
	Language string `json:"language,omitempty" jsonschema:"language of source: lua (5.1) or js" enum:"lua,js"`
	Source   string `json:"source,omitempty" jsonschema:"source of a new strategy; see strategylab://script-api/lua or /javascript" min:"1" max:"262144"`
	Copies   int    `json:"copies,omitempty" jsonschema:"players with it" min:"1" max:"8" default:"1"`
}

// UnmarshalJSON reads a player in either form and defaults copies to 1.
func (p *Player) UnmarshalJSON(raw []byte) error {
	type plain Player
	p.Copies = 1
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
		return json.Unmarshal(raw, (*plain)(p))
	}
	var short string
	if err := json.Unmarshal(raw, &short); err != nil {
		return err
	}
	name, copies, several := strings.Cut(short, "*")
	p.Name = name
	if !several {
		return nil
	}
	var err error
	p.Copies, err = strconv.Atoi(copies)
	return err
}

func kindOf(language string) (strategies.Kind, bool) {
	switch language {
	case "lua":
		return strategies.Lua, true
	case "js":
		return strategies.JavaScript, true
	}
	return "", false
}

// ListInput is what list_strategies takes.
type ListInput struct {
	Kind    string `json:"kind,omitempty" jsonschema:"only strategies of this kind; absent: all" enum:"builtin,lua,js,wasm,plugin"`
	Details bool   `json:"details,omitempty" jsonschema:"add descriptions, parameters and where they come from" default:"false"`
}

// ShowInput is what show_strategy takes.
type ShowInput struct {
	Name string `json:"name" jsonschema:"name of the strategy in list_strategies" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"`
}

// CheckInput is what check_strategy takes.
type CheckInput struct {
	Language string `json:"language" jsonschema:"language of source: lua (5.1) or js" enum:"lua,js"`
	Source   string `json:"source" jsonschema:"the whole script, at most 256 KiB" min:"1" max:"262144"`
	Name     string `json:"name,omitempty" jsonschema:"name to use in the verdict" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$" default:"\"draft\""`
}

// RunInput is what run_experiment takes.
type RunInput struct {
	Players []Player `json:"players" jsonschema:"the field: 2 to 32 players, copies included, at most 8 with source. A player is a name such as \"council\" or \"random*3\", or an object. With a fair draw a field of two cannot be ranked" min:"1" max:"32"`
	Runs    int      `json:"runs,omitempty" jsonschema:"leagues to play; intervals shrink with the square root of their number" min:"1" default:"200"`
	Legs    int      `json:"legs,omitempty" jsonschema:"matches of each pair in a league; strategies that learn need several" min:"1" max:"100" default:"legs"`
	Seed    *uint64  `json:"seed,omitempty" jsonschema:"random seed: the same players, runs, legs and seed give the same leagues; absent: a random one, returned in the answer" min:"0" max:"9007199254740991"`
	Draw    string   `json:"draw,omitempty" jsonschema:"distribution of drawn numbers: uniform:1-10 is fair; weights:1=3,2=1 draws 1 three times as often as 2" max:"200" default:"\"uniform:1-10\""`
}

// CompareInput is what compare_strategies takes.
type CompareInput struct {
	Player    Player   `json:"player" jsonschema:"the strategy to test, for example a new version"`
	Baseline  Player   `json:"baseline" jsonschema:"the strategy to compare it with, for example the old version"`
	Opponents []Player `json:"opponents,omitempty" jsonschema:"the other players, at least one; absent: several built-in strategies" max:"30"`
	Runs      int      `json:"runs,omitempty" jsonschema:"leagues to play; intervals shrink with the square root of their number" min:"1" default:"400"`
	Legs      int      `json:"legs,omitempty" jsonschema:"matches of each pair in a league" min:"1" max:"100" default:"legs"`
	Seed      *uint64  `json:"seed,omitempty" jsonschema:"random seed; absent: a random one, returned in the answer" min:"0" max:"9007199254740991"`
	Draw      string   `json:"draw,omitempty" jsonschema:"distribution of drawn numbers, as in run_experiment" max:"200" default:"\"uniform:1-10\""`
}

// ExplainInput is what explain_strategy takes.
type ExplainInput struct {
	Player    Player   `json:"player" jsonschema:"the strategy to explain"`
	Opponents []Player `json:"opponents,omitempty" jsonschema:"its opponents; absent: several built-in strategies" max:"31"`
	Runs      int      `json:"runs,omitempty" jsonschema:"leagues to play; intervals shrink with the square root of their number" min:"2" default:"200"`
	Legs      int      `json:"legs,omitempty" jsonschema:"matches of each pair in a league" min:"1" max:"100" default:"legs"`
	Seed      *uint64  `json:"seed,omitempty" jsonschema:"random seed; absent: a random one, returned in the answer" min:"0" max:"9007199254740991"`
}

// LeagueInput is what league_status takes.
type LeagueInput struct {
	League string `json:"league,omitempty" jsonschema:"id of one league; absent: all" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"`
}

// SaveInput is what save_strategy takes.
type SaveInput struct {
	Name      string `json:"name" jsonschema:"name of the strategy and, with .lua or .js, of its file in the scripts folder" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"`
	Language  string `json:"language" jsonschema:"language of source: lua (5.1) or js" enum:"lua,js"`
	Source    string `json:"source" jsonschema:"the whole script, at most 256 KiB; it must load" min:"1" max:"262144"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing script of this name and language" default:"false"`
}
