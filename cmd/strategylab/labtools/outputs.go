package labtools

import (
	"math"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
)

// Estimate is a number with its interval.
type Estimate struct {
	Estimate float64 `json:"estimate" jsonschema:"the estimate itself"`
	Low      float64 `json:"low" jsonschema:"lower end of the confidence interval"`
	High     float64 `json:"high" jsonschema:"upper end of the confidence interval"`
}

// estimate turns an estimate into the form of answers; nil if there is none.
func estimate(e analysis.Estimate) *Estimate {
	if !e.Defined() {
		return nil
	}
	return &Estimate{round(e.Estimate), round(e.Low), round(e.High)}
}

// round leaves six digits after the point: more would be read by nobody and
// paid for by every reader.
func round(x float64) float64 {
	const places = 1e6
	return math.Round(x*places) / places
}

// significant leaves three digits of a p-value, however small it is.
func significant(p float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(p, 'g', 3, 64), 64)
	if err != nil {
		return p
	}
	return short
}

// Listed is a strategy in the answer of list_strategies.
type Listed struct {
	Name        string `json:"name" jsonschema:"what to call it in the other tools"`
	Kind        string `json:"kind" jsonschema:"builtin, lua, js or plugin"`
	Title       string `json:"title" jsonschema:"one line about it; may be empty"`
	Description string `json:"description,omitempty" jsonschema:"a few sentences about it"`
	Origin      string `json:"origin" jsonschema:"built-in, or the file it comes from"`
	Error       string `json:"error,omitempty" jsonschema:"why it cannot be played"`
}

// ListOutput is what list_strategies answers.
type ListOutput struct {
	Summary    string   `json:"summary" jsonschema:"the answer in a sentence"`
	Strategies []Listed `json:"strategies" jsonschema:"every strategy that was found: built-in ones, then scripts, then plugins"`
}

// ShowOutput is what show_strategy answers.
type ShowOutput struct {
	Summary     string `json:"summary" jsonschema:"the answer in a sentence"`
	Name        string `json:"name" jsonschema:"its name"`
	Kind        string `json:"kind" jsonschema:"builtin, lua, js or plugin"`
	Title       string `json:"title" jsonschema:"one line about it; may be empty"`
	Description string `json:"description" jsonschema:"a few sentences about it; may be empty"`
	Origin      string `json:"origin" jsonschema:"built-in, or the file it comes from"`
	Fingerprint string `json:"fingerprint" jsonschema:"SHA-256 of its code, or a version for a built-in one"`
	Source      string `json:"source,omitempty" jsonschema:"the script itself; absent for built-in strategies and plugins"`
	Truncated   bool   `json:"truncated" jsonschema:"whether source is only the first 64 KiB of the script"`
	Error       string `json:"error,omitempty" jsonschema:"why it cannot be played"`
}

// Failure is why a script does not load.
type Failure struct {
	Operation string `json:"operation" jsonschema:"what failed: load, start, choose or observe"`
	Line      int    `json:"line" jsonschema:"line of the source, from 1; 0 if it is not known"`
	Message   string `json:"message" jsonschema:"what went wrong"`
	Hint      string `json:"hint,omitempty" jsonschema:"what to do about it"`
}

// Finding is one thing that a check found out.
type Finding struct {
	Check string  `json:"check" jsonschema:"which check this is from, a stable name such as deterministic"`
	Level string  `json:"level" jsonschema:"ok, info, warning or error: errors cost matches or make results worthless"`
	What  string  `json:"what" jsonschema:"what was found, in a sentence"`
	Line  int     `json:"line,omitempty" jsonschema:"line of the source, from 1, where that is known"`
	Hint  string  `json:"hint,omitempty" jsonschema:"what to do about it"`
	Share float64 `json:"share,omitempty" jsonschema:"how much of a budget the costliest call used, from 0 to 1, where the finding is about one"`
}

// Trial is how a strategy does in a small field.
type Trial struct {
	Leagues  int      `json:"leagues" jsonschema:"leagues that were played"`
	Players  int      `json:"players" jsonschema:"players in each, this one included"`
	Adjusted Estimate `json:"adjusted" jsonschema:"adjusted points per match: 1 to 1.5 without technical losses, 1.25 is chance"`
	Place    int      `json:"place" jsonschema:"place by adjusted points, from 1"`
	Differ   float64  `json:"differ" jsonschema:"share of matches in which its choice differed from the opponent's; 0.5 is chance"`
}

// CheckOutput is what check_strategy answers.
type CheckOutput struct {
	Summary  string    `json:"summary" jsonschema:"the answer in a sentence"`
	Ready    bool      `json:"ready" jsonschema:"whether it can play"`
	Failure  *Failure  `json:"failure,omitempty" jsonschema:"why it does not even load"`
	Findings []Finding `json:"findings" jsonschema:"everything that was checked and found, in order; empty if it does not load"`
	Trial    *Trial    `json:"trial,omitempty" jsonschema:"how it did in a small field, if it is ready"`
}

// Standing is a player's line of a league's table.
type Standing struct {
	Rank   int    `json:"rank" jsonschema:"place in the table, from 1"`
	Player string `json:"player" jsonschema:"player id"`
	Name   string `json:"name,omitempty" jsonschema:"display name"`
	Played int    `json:"played" jsonschema:"matches played"`
	Wins   int    `json:"wins" jsonschema:"matches won"`
	Draws  int    `json:"draws" jsonschema:"matches drawn"`
	Losses int    `json:"losses" jsonschema:"matches lost, technical losses included"`
	Points int    `json:"points" jsonschema:"3 a win, 1 a draw"`
}

// League is what is known of one league.
type League struct {
	ID        string     `json:"id" jsonschema:"what to call it in this tool"`
	Origin    string     `json:"origin" jsonschema:"manager: asked just now; stored: read from the data folder"`
	League    string     `json:"league" jsonschema:"name of the league; empty if it is not known"`
	Status    string     `json:"status" jsonschema:"how far it is, such as waiting, running or completed; empty if it is not known"`
	Round     int        `json:"round" jsonschema:"the round it has come to"`
	Rounds    int        `json:"rounds" jsonschema:"rounds in all; 0 before the schedule is made"`
	Matches   int        `json:"matches" jsonschema:"matches completed"`
	Updated   string     `json:"updated,omitempty" jsonschema:"when a stored league was written last"`
	Standings []Standing `json:"standings" jsonschema:"the table, first rank first; at most 50 lines"`
	Error     string     `json:"error,omitempty" jsonschema:"why nothing more is known"`
}

// LeagueOutput is what league_status answers.
type LeagueOutput struct {
	Summary string   `json:"summary" jsonschema:"the answer in a sentence"`
	Leagues []League `json:"leagues" jsonschema:"the leagues that may be asked about"`
}

// SaveOutput is what save_strategy answers.
type SaveOutput struct {
	Summary  string `json:"summary" jsonschema:"the answer in a sentence"`
	Name     string `json:"name" jsonschema:"what to call it in the other tools"`
	File     string `json:"file" jsonschema:"the file it was written to"`
	Replaced bool   `json:"replaced" jsonschema:"whether there was a script before"`
}
