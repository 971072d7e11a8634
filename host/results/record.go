package results

import "github.com/strategylab/strategylab/host/game"

// Plan says what an experiment plays. It determines every byte of the records,
// save for faults that depend on the clock. It is kept as plan.json.
type Plan struct {
	Schema    string    `json:"schema"` // PlanSchema
	Runs      int       `json:"runs"`   // leagues to play, numbered from 0
	Legs      int       `json:"legs"`   // how often each pair meets in one league
	Seed      uint64    `json:"seed,string"`
	Draw      string    `json:"draw"`      // see game.ParseDraw
	Transport string    `json:"transport"` // "direct", "loopback" or "http"
	Field     []Entrant `json:"field"`     // by field index
	// Stop, if not nil, is what ends the run before Runs leagues, which then are the
	// most that are played. No league depends on it.
	Stop *Stop `json:"stop,omitempty"`
}

// Stop is a rule for ending a run early: Until, or the test in Ratio. Analysis says
// what it means.
type Stop struct {
	Until     string  `json:"until,omitempty"`     // "ranked", "best" or "precision=0.005"
	Guarantee string  `json:"guarantee,omitempty"` // of Until: "asymptotic" or "finite"
	Margin    float64 `json:"margin,omitempty"`    // of indifference, in points per match
	Ratio     *Ratio  `json:"sprt,omitempty"`
}

// Ratio is a sequential probability ratio test of the difference between two
// players in adjusted points per match.
type Ratio struct {
	New   string  `json:"new"` // name in the field
	Old   string  `json:"old"`
	Delta float64 `json:"delta"`
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
}

// PlanSchema is the version of plan.json that this package reads and writes.
const PlanSchema = "strategylab/plan/v1"

// Entrant is one player of the field.
type Entrant struct {
	Name        string `json:"name"` // unique in the field: "markov-2", "random#3"
	Kind        string `json:"kind"` // "builtin", "lua", "js" or "plugin"
	Ref         string `json:"ref"`  // what the user named: "random*8", "scripts/mine.lua"
	Source      string `json:"source,omitempty"`
	Fingerprint string `json:"fingerprint"` // of the code that played
}

// League is what happened in one league. Writers and players of leagues reuse
// its slices; whoever keeps a League copies it.
type League struct {
	Index   int     // in the plan, from 0
	Seats   []int   // Seats[s] is the field index of the player on seat s
	Matches []Match // in the order of game.Schedule
	Notes   []Note  // what a person wants to know of the faults; not part of the digest
}

// Match is what happened in one match. Which seats played it stands in the
// schedule. A side's choice is kept where one was made, even if the match was
// then decided on technical grounds.
type Match struct {
	A, B   game.Side
	Number int32 // the drawn number; -1 if none was drawn
}

// NoNumber is Match.Number where no number was drawn.
const NoNumber = -1

// Verdict scores the match by the rules.
func (m Match) Verdict() game.Verdict { return game.Judge(m.A, m.B, int(m.Number)) }

// Note keeps the first fault of a kind that a player has in an experiment.
type Note struct {
	Field int        // field index
	Fault game.Fault // its kind
	Text  string     // "scripts/x.lua:12: choose: attempt to index nil"
}
