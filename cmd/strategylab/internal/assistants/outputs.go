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

// Fault is a kind of technical loss of one player.
type Fault struct {
	Kind  string `json:"kind" jsonschema:"what kind of failure: error, invalid, timeout, budget, crash and others"`
	Count int64  `json:"count" jsonschema:"matches lost to it"`
	Where string `json:"where,omitempty" jsonschema:"the first time: file, line and what happened"`
}

// Ranked is what one player did in an experiment.
type Ranked struct {
	Name      string    `json:"name" jsonschema:"the player; copies are numbered, as in random#2"`
	Kind      string    `json:"kind" jsonschema:"builtin, lua, js or plugin"`
	Tier      int       `json:"tier" jsonschema:"group of players that cannot be told apart from above, from 1; being in one tier does not make two players equal"`
	Best      int       `json:"best_place" jsonschema:"best place that it can truly have, from 1; the ranges of all players hold together"`
	Worst     int       `json:"worst_place" jsonschema:"worst place that it can truly have"`
	Adjusted  *Estimate `json:"adjusted" jsonschema:"adjusted points per match, on which players are ranked: 1 + P(differ)/2 with a fair draw; null if nothing was played"`
	Points    *Estimate `json:"points" jsonschema:"points per match as they fell, luck of the draw included"`
	Differ    *Estimate `json:"differ" jsonschema:"share of matches in which its choice differed from the opponent's, 0 to 1"`
	WinRate   *Estimate `json:"win_rate" jsonschema:"share of matches won, 0 to 1"`
	Matches   int64     `json:"matches" jsonschema:"matches it was in"`
	Technical int64     `json:"technical_losses" jsonschema:"matches it lost by failing rather than by chance"`
	Faults    []Fault   `json:"faults" jsonschema:"how it failed; empty if it never did"`
}

// Compared is a comparison of two players in one field.
type Compared struct {
	A          string    `json:"a" jsonschema:"the player whose points the difference is counted for"`
	B          string    `json:"b" jsonschema:"the player it is compared with"`
	Difference *Estimate `json:"difference" jsonschema:"adjusted points per match of a minus those of b, paired within leagues; the interval is for this difference alone"`
	P          float64   `json:"p" jsonschema:"two-sided p-value of this comparison alone"`
	Corrected  float64   `json:"p_corrected" jsonschema:"p-value corrected for comparing all pairs of the field; the verdict goes by it"`
	Verdict    string    `json:"verdict" jsonschema:"the comparison in words, such as: a is better; no evidence that these differ"`
}

// Report says where a finished experiment is kept.
type Report struct {
	ID   string `json:"id" jsonschema:"id of the report"`
	URI  string `json:"uri" jsonschema:"resource with the report as text; with /json or /html behind it, as JSON or as a page with plots"`
	Path string `json:"path" jsonschema:"folder with everything, for the commands analyze, explain and replay"`
}

// Outcome is what every tool that plays an experiment answers.
type Outcome struct {
	Leagues      int     `json:"leagues" jsonschema:"leagues played, all that is said rests on them"`
	Requested    int     `json:"requested" jsonschema:"leagues asked for"`
	Stopped      string  `json:"stopped" jsonschema:"why it ended: complete, time (the server's limit) or cancelled"`
	Legs         int     `json:"legs" jsonschema:"how often each two players met in a league"`
	Seed         uint64  `json:"seed" jsonschema:"play the same again with it"`
	Draw         string  `json:"draw" jsonschema:"the referee's draw"`
	Level        float64 `json:"level" jsonschema:"confidence level of every interval, 0 to 1"`
	Digest       string  `json:"digest" jsonschema:"SHA-256 of the results: equal digests mean equal leagues"`
	Reproducible bool    `json:"reproducible" jsonschema:"false if a failure depended on the clock, so that the same again may differ"`
	Seconds      float64 `json:"seconds" jsonschema:"time it took"`
	Report       Report  `json:"report" jsonschema:"where all of it is kept"`
}

// RunOutput is what run_experiment answers.
type RunOutput struct {
	Summary     string     `json:"summary" jsonschema:"the answer in a few sentences"`
	Outcome     Outcome    `json:"outcome" jsonschema:"what was played, and where it is kept"`
	Players     []Ranked   `json:"players" jsonschema:"the players, most adjusted points first"`
	Tiers       [][]string `json:"tiers" jsonschema:"names of the players by tier, best first"`
	Comparisons []Compared `json:"comparisons" jsonschema:"each player with the next one below"`
	Note        string     `json:"note,omitempty" jsonschema:"what to keep in mind when reading the numbers"`
}

// CompareOutput is what compare_strategies answers.
type CompareOutput struct {
	Summary    string   `json:"summary" jsonschema:"the answer in a few sentences"`
	Outcome    Outcome  `json:"outcome" jsonschema:"what was played, and where it is kept"`
	Comparison Compared `json:"comparison" jsonschema:"a against b"`
	A          Ranked   `json:"a" jsonschema:"what a did in the field"`
	B          Ranked   `json:"b" jsonschema:"what b did in the field"`
	Opponents  []string `json:"opponents" jsonschema:"who else was in the field"`
}

// Prediction is how often a player's choice is predicted.
type Prediction struct {
	Hits Estimate `json:"hits" jsonschema:"share of its choices that are predicted, 0 to 1; 0.5 is chance, and more of it is what opponents can win by"`
	How  string   `json:"how" jsonschema:"what the prediction goes by"`
}

// Missed is what a player could have made of its opponents, and did not.
type Missed struct {
	More Estimate `json:"more" jsonschema:"by how much its share of differing choices would have been larger, -1 to 1; negative if it did better than that"`
	How  string   `json:"how" jsonschema:"the prediction of its opponents that it would have gone by"`
}

// Habit is how a player chooses in one situation.
type Habit struct {
	After string    `json:"after" jsonschema:"the situation: the last meeting of the two in this league"`
	Even  *Estimate `json:"even" jsonschema:"share of even among its choices there, 0 to 1; null if it never came up"`
	Times int64     `json:"times" jsonschema:"how often it came up"`
}

// Learning is how a player does in a part of a league.
type Learning struct {
	From   int       `json:"from_leg" jsonschema:"first leg"`
	To     int       `json:"to_leg" jsonschema:"last leg"`
	Differ *Estimate `json:"differ" jsonschema:"share of matches in which its choice differed from the opponent's"`
}

// Rival is an opponent that a player goes well or badly with.
type Rival struct {
	Name   string    `json:"name" jsonschema:"the opponent"`
	Differ *Estimate `json:"differ" jsonschema:"share of their matches in which the choices differed"`
	Others int       `json:"others" jsonschema:"how many other opponents have intervals that overlap, so that any of them may be the true one"`
}

// ExplainOutput is what explain_strategy answers.
type ExplainOutput struct {
	Summary  string      `json:"summary" jsonschema:"the answer in a few sentences"`
	Outcome  Outcome     `json:"outcome" jsonschema:"what was played, and where it is kept"`
	Player   Ranked      `json:"player" jsonschema:"what it did in the field"`
	Even     *Estimate   `json:"even" jsonschema:"share of even among its choices, 0 to 1"`
	Habits   []Habit     `json:"habits" jsonschema:"how it chooses, by how the last meeting with the same opponent went"`
	Studied  *Prediction `json:"studied" jsonschema:"how predictable it is to somebody who has seen it in earlier leagues; null if nothing could be measured"`
	Met      *Prediction `json:"met" jsonschema:"how predictable it is to somebody who meets it for the first time; null if nothing could be measured"`
	Missed   *Missed     `json:"missed" jsonschema:"what the best simple prediction of its opponents would have brought; null if nothing could be measured"`
	Learning []Learning  `json:"learning" jsonschema:"how it does over the legs of a league: growing shares mean that it learns"`
	Best     *Rival      `json:"best" jsonschema:"the opponent it differs from most; null if there is none"`
	Worst    *Rival      `json:"worst" jsonschema:"the opponent it differs from least; null if there is none"`
}
