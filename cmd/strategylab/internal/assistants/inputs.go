package assistants

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/strategies"
)

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

// kindOf returns the kind of scripts in a language.
func kindOf(language string) (strategies.Kind, bool) {
	switch language {
	case "lua":
		return strategies.Lua, true
	case "js":
		return strategies.JavaScript, true
	}
	return "", false
}

// extension returns the file extension of a kind of script.
func extension(kind strategies.Kind) string { return "." + string(kind) }

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
