package assistants

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

// estimate converts an estimate; nil if it is undefined.
func estimate(e analysis.Estimate) *Estimate {
	if !e.Defined() {
		return nil
	}
	return &Estimate{round(e.Estimate), round(e.Low), round(e.High)}
}

// round keeps six decimals: models pay for every digit they read.
func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// significant keeps three significant digits of a p-value.
func significant(p float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(p, 'g', 3, 64), 64) // as it was written
	return short
}

// Listed is a strategy in the answer of list_strategies.
type Listed struct {
	Name        string   `json:"name" jsonschema:"its name in the other tools"`
	Kind        string   `json:"kind" jsonschema:"builtin, lua, js, wasm or plugin"`
	Title       string   `json:"title" jsonschema:"one line about it; may be empty"`
	Description string   `json:"description,omitempty" jsonschema:"a few sentences about it; with details only, as what follows"`
	Origin      string   `json:"origin,omitempty" jsonschema:"built-in, or the file it comes from"`
	Parameters  []string `json:"parameters,omitempty" jsonschema:"its parameters, as in: fade 0.0..1.0 = 0.8"`
	Error       string   `json:"error,omitempty" jsonschema:"why it cannot play, also without details"`
}

// ListOutput is what list_strategies answers.
type ListOutput struct {
	Summary    string   `json:"summary" jsonschema:"the answer in a sentence"`
	Strategies []Listed `json:"strategies" jsonschema:"all strategies: built-in ones, then scripts, then plugins"`
}

// ShowOutput is what show_strategy answers.
type ShowOutput struct {
	Summary     string   `json:"summary" jsonschema:"the answer in a sentence"`
	Name        string   `json:"name" jsonschema:"its name"`
	Kind        string   `json:"kind" jsonschema:"builtin, lua, js, wasm or plugin"`
	Title       string   `json:"title" jsonschema:"one line about it; may be empty"`
	Description string   `json:"description" jsonschema:"a few sentences about it; may be empty"`
	Origin      string   `json:"origin" jsonschema:"built-in, or the file it comes from"`
	Parameters  []string `json:"parameters,omitempty" jsonschema:"its parameters, as in: fade 0.0..1.0 = 0.8; council(fade=0.7) plays another value"`
	Fingerprint string   `json:"fingerprint" jsonschema:"SHA-256 of its code, or a version for a built-in one"`
	Source      string   `json:"source,omitempty" jsonschema:"the script itself; absent for built-in strategies, modules and plugins"`
	Truncated   bool     `json:"truncated" jsonschema:"whether source is only the first 64 KiB of the script"`
	Error       string   `json:"error,omitempty" jsonschema:"why it cannot play"`
}

// Failure is why a script does not load.
type Failure struct {
	Operation string `json:"operation" jsonschema:"what failed: load, start, choose or observe"`
	Line      int    `json:"line" jsonschema:"line of the source, from 1; 0 if unknown"`
	Message   string `json:"message" jsonschema:"what went wrong"`
	Hint      string `json:"hint,omitempty" jsonschema:"how to fix it"`
}

// Finding is one result of a check.
type Finding struct {
	Check string  `json:"check" jsonschema:"id of the check, such as deterministic"`
	Level string  `json:"level" jsonschema:"ok, info, warning or error: errors lose matches or spoil results"`
	What  string  `json:"what" jsonschema:"what was found, in a sentence"`
	Line  int     `json:"line,omitempty" jsonschema:"line of the source, from 1, if known"`
	Hint  string  `json:"hint,omitempty" jsonschema:"how to fix it"`
	Share float64 `json:"share,omitempty" jsonschema:"largest share of a budget that one call used, 0 to 1"`
}

// Trial is the result of a strategy in a small field.
type Trial struct {
	Leagues  int      `json:"leagues" jsonschema:"leagues played"`
	Players  int      `json:"players" jsonschema:"players in the field, this one included"`
	Adjusted Estimate `json:"adjusted" jsonschema:"adjusted points per match: 1 to 1.5 without technical losses, 1.25 is chance"`
	Place    int      `json:"place" jsonschema:"place by adjusted points, from 1"`
	Places   [2]int   `json:"places" jsonschema:"best and worst place that the evidence allows"`
	Differ   float64  `json:"differ" jsonschema:"share of matches in which its choice differed from the opponent's; 0.5 is chance"`
}

// CheckOutput is what check_strategy answers.
type CheckOutput struct {
	Summary  string    `json:"summary" jsonschema:"the answer in a sentence"`
	Ready    bool      `json:"ready" jsonschema:"whether it can play"`
	Failure  *Failure  `json:"failure,omitempty" jsonschema:"why it does not load"`
	Findings []Finding `json:"findings" jsonschema:"all findings in order; empty if it does not load"`
	Trial    *Trial    `json:"trial,omitempty" jsonschema:"its result in a small field, if it is ready"`
}

// Standing is one line of a league's standings.
type Standing struct {
	Rank   int    `json:"rank" jsonschema:"place, from 1"`
	Player string `json:"player" jsonschema:"player id"`
	Name   string `json:"name,omitempty" jsonschema:"display name"`
	Played int    `json:"played" jsonschema:"matches played"`
	Wins   int    `json:"wins" jsonschema:"matches won"`
	Draws  int    `json:"draws" jsonschema:"tied matches"`
	Losses int    `json:"losses" jsonschema:"matches lost, technical losses included"`
	Points int    `json:"points" jsonschema:"3 per win, 1 per tie"`
}

// League describes one league.
type League struct {
	ID        string     `json:"id" jsonschema:"its id in this tool"`
	Origin    string     `json:"origin" jsonschema:"manager: from the running manager; stored: from the data folder"`
	Name      string     `json:"name" jsonschema:"name of the league; empty if unknown"`
	Status    string     `json:"status" jsonschema:"status, such as waiting, running or completed; empty if unknown"`
	Round     int        `json:"round" jsonschema:"current round"`
	Rounds    int        `json:"rounds" jsonschema:"number of rounds; 0 before the schedule exists"`
	Matches   int        `json:"matches" jsonschema:"matches completed"`
	Updated   string     `json:"updated,omitempty" jsonschema:"last update of a stored league"`
	Standings []Standing `json:"standings" jsonschema:"standings in order; at most 50 lines"`
	Error     string     `json:"error,omitempty" jsonschema:"why it could not be read"`
}

// LeagueOutput is what league_status answers.
type LeagueOutput struct {
	Summary string   `json:"summary" jsonschema:"the answer in a sentence"`
	Leagues []League `json:"leagues" jsonschema:"the leagues"`
}

// SaveOutput is what save_strategy answers.
type SaveOutput struct {
	Summary  string `json:"summary" jsonschema:"the answer in a sentence"`
	Name     string `json:"name" jsonschema:"its name in the other tools"`
	File     string `json:"file" jsonschema:"path of the file"`
	Replaced bool   `json:"replaced" jsonschema:"whether it replaced a script"`
}

// Fault is a kind of technical loss of one player.
type Fault struct {
	Kind  string `json:"kind" jsonschema:"kind of failure: error, invalid, timeout, budget, crash or other"`
	Count int64  `json:"count" jsonschema:"matches lost by it"`
	Where string `json:"where,omitempty" jsonschema:"first occurrence: file, line and error"`
}

// Ranked is the result of one player in an experiment.
type Ranked struct {
	Name      string    `json:"name" jsonschema:"name of the player; copies are numbered, as in random#2"`
	Kind      string    `json:"kind" jsonschema:"builtin, lua, js, wasm or plugin"`
	Yours     bool      `json:"yours,omitempty" jsonschema:"whether it did not come with the program"`
	Tier      int       `json:"tier" jsonschema:"group of players whose order the evidence does not settle, from 1; players of one tier need not be equal"`
	Best      int       `json:"best_place" jsonschema:"best place that the evidence allows, from 1; the ranges of all players hold jointly"`
	Worst     int       `json:"worst_place" jsonschema:"worst place that the evidence allows"`
	Adjusted  *Estimate `json:"adjusted" jsonschema:"adjusted points per match, which decide the ranking: 1 + P(differ)/2 with a fair draw; null without matches"`
	Points    *Estimate `json:"points" jsonschema:"points per match, luck of the draw included"`
	Differ    *Estimate `json:"differ" jsonschema:"share of matches in which its choice differed from the opponent's, 0 to 1"`
	WinRate   *Estimate `json:"win_rate" jsonschema:"share of matches won, 0 to 1"`
	Title     *Estimate `json:"title" jsonschema:"chance of the most points in one league, shared titles in part"`
	Matches   int64     `json:"matches" jsonschema:"matches played"`
	Technical int64     `json:"technical_losses" jsonschema:"matches lost by failing"`
	Faults    []Fault   `json:"faults" jsonschema:"how it failed; empty if it never failed"`
}

// Compared is a comparison of two players of one field.
type Compared struct {
	A          string    `json:"a" jsonschema:"first player"`
	B          string    `json:"b" jsonschema:"second player"`
	Difference *Estimate `json:"difference" jsonschema:"adjusted points per match of a minus those of b, paired within leagues; the interval holds for this difference alone"`
	P          float64   `json:"p" jsonschema:"two-sided p-value of this comparison alone"`
	Corrected  float64   `json:"p_corrected" jsonschema:"p-value adjusted for all pairs of the field; it decides the verdict"`
	Verdict    string    `json:"verdict" jsonschema:"verdict in words, such as: a is better; no evidence that these differ"`
	Effect     *Estimate `json:"effect" jsonschema:"difference in standard deviations of what one league gives a more than b; null if that does not vary"`
	Above      *Estimate `json:"above" jsonschema:"chance that a has more points than b in one league; equal points are possible"`
	Titles     string    `json:"titles" jsonschema:"which of the two takes more titles, by a sign test adjusted for all pairs"`
}

// Report says where the report of an experiment is.
type Report struct {
	ID   string `json:"id" jsonschema:"id of the report"`
	URI  string `json:"uri" jsonschema:"resource of the report as text; append /json or /html for JSON or a page with plots"`
	Path string `json:"path" jsonschema:"folder of the run, for the commands analyze, explain and replay"`
}

// Outcome is the part of the answer that all tools share that play an experiment.
type Outcome struct {
	Leagues      int      `json:"leagues" jsonschema:"leagues played"`
	Requested    int      `json:"requested" jsonschema:"leagues requested"`
	Stopped      string   `json:"stopped" jsonschema:"why it ended: complete, time (limit of the server) or cancelled"`
	Legs         int      `json:"legs" jsonschema:"matches of each pair in a league"`
	Seed         uint64   `json:"seed" jsonschema:"random seed, to repeat the experiment"`
	Draw         string   `json:"draw" jsonschema:"distribution of drawn numbers"`
	Level        float64  `json:"level" jsonschema:"confidence level of the intervals, 0 to 1"`
	Digest       string   `json:"digest" jsonschema:"SHA-256 of the results; equal digests mean equal leagues"`
	Reproducible bool     `json:"reproducible" jsonschema:"false if a failure depended on the clock, so that a repetition may differ"`
	Seconds      float64  `json:"seconds" jsonschema:"duration"`
	Warnings     []string `json:"warnings,omitempty" jsonschema:"why intervals, places and verdicts may not hold; tell the user"`
	Report       Report   `json:"report" jsonschema:"where the report is"`
}

// RunOutput is what run_experiment answers.
type RunOutput struct {
	Summary     string     `json:"summary" jsonschema:"the answer in a few sentences"`
	Outcome     Outcome    `json:"outcome" jsonschema:"what was played, and its report"`
	Players     []Ranked   `json:"players" jsonschema:"players by adjusted points, best first"`
	Tiers       [][]string `json:"tiers" jsonschema:"names of players by tier, best first"`
	Comparisons []Compared `json:"comparisons" jsonschema:"each player with the next one"`
	OtherFields []string   `json:"other_fields,omitempty" jsonschema:"how far the order depends on the field: who would lead among resampled opponents, without one player, without players that play alike; put together from pairs, not played"`
	Note        string     `json:"note,omitempty" jsonschema:"how to read the numbers"`
}

// CompareOutput is what compare_strategies answers.
type CompareOutput struct {
	Summary    string   `json:"summary" jsonschema:"the answer in a few sentences"`
	Outcome    Outcome  `json:"outcome" jsonschema:"what was played, and its report"`
	Comparison Compared `json:"comparison" jsonschema:"the player (a) against the baseline (b)"`
	Player     Ranked   `json:"player" jsonschema:"result of the player in the field"`
	Baseline   Ranked   `json:"baseline" jsonschema:"result of the baseline in the field"`
	Opponents  []string `json:"opponents" jsonschema:"the other players"`
	Note       string   `json:"note,omitempty" jsonschema:"what to do before relying on it"`
}

// Prediction says how often a rule predicts a player's choice.
type Prediction struct {
	Hits Estimate `json:"hits" jsonschema:"share of predicted choices, 0 to 1; 0.5 is chance, and opponents gain by more"`
	How  string   `json:"how" jsonschema:"basis of the prediction"`
}

// Missed says how much better a player could have predicted its opponents.
type Missed struct {
	More Estimate `json:"more" jsonschema:"gain in its share of differing choices, -1 to 1; negative if it did better"`
	How  string   `json:"how" jsonschema:"rule that predicts its opponents best"`
}

// Habit says how a player chooses in one situation.
type Habit struct {
	After string    `json:"after" jsonschema:"situation: the last match of the two players in this league"`
	Even  *Estimate `json:"even" jsonschema:"share of even among its choices there, 0 to 1; null if it did not occur"`
	Times int64     `json:"times" jsonschema:"occurrences"`
}

// Learning is the result of a player in some legs of a league.
type Learning struct {
	From   int       `json:"from_leg" jsonschema:"first leg"`
	To     int       `json:"to_leg" jsonschema:"last leg"`
	Differ *Estimate `json:"differ" jsonschema:"share of matches in which its choice differed from the opponent's"`
}

// Rival is the opponent that a player differs from most or least.
type Rival struct {
	Name   string    `json:"name" jsonschema:"the opponent"`
	Differ *Estimate `json:"differ" jsonschema:"share of their matches in which the choices differed"`
	Others int       `json:"others" jsonschema:"number of other opponents that the evidence allows instead"`
}

// ExplainOutput is what explain_strategy answers.
type ExplainOutput struct {
	Summary  string      `json:"summary" jsonschema:"the answer in a few sentences"`
	Outcome  Outcome     `json:"outcome" jsonschema:"what was played, and its report"`
	Player   Ranked      `json:"player" jsonschema:"its result in the field"`
	Even     *Estimate   `json:"even" jsonschema:"share of even among its choices, 0 to 1"`
	Habits   []Habit     `json:"habits" jsonschema:"its choices by the outcome of the last match with the same opponent"`
	Studied  *Prediction `json:"studied" jsonschema:"how predictable it is from earlier leagues; null if not measurable"`
	Met      *Prediction `json:"met" jsonschema:"how predictable it is in its first match with an opponent; null if not measurable"`
	Missed   *Missed     `json:"missed" jsonschema:"gain of the best simple prediction of its opponents; null if not measurable"`
	Learning []Learning  `json:"learning" jsonschema:"its result over the legs of a league; growing shares mean that it learns"`
	Best     *Rival      `json:"best" jsonschema:"the opponent it differs from most; null if there is none"`
	Worst    *Rival      `json:"worst" jsonschema:"the opponent it differs from least; null if there is none"`
}
