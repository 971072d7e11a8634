package studio

import (
	"context"
	"errors"
)

// Lab is what a studio does for a team. Its methods are called concurrently. The texts in
// what they return may be anybody's: the page shows them as text. An error is shown as it
// is, so it names no path outside of the team's folder.
type Lab interface {
	// Scripts lists the folder of the team.
	Scripts(context.Context) ([]Script, error)
	// Field lists the strategies that a draft can be tried against.
	Field(context.Context) ([]Opponent, error)
	// Open reads a script.
	Open(ctx context.Context, file string) (Text, error)
	// New writes a new script from a template.
	New(ctx context.Context, file string) (Text, error)
	// Save replaces the version of a script that the draft came from. If the file has
	// another one, it fails with ErrConflict.
	Save(ctx context.Context, d Draft, version string) (Text, error)
	// Check plays small leagues with a draft.
	Check(context.Context, Draft, Progress) (Verdict, error)
	// Try plays leagues of a draft against a field.
	Try(context.Context, Trial, Progress) (Outcome, error)
	// League plays one of the leagues of a trial, and again with the version before.
	League(ctx context.Context, t Trial, league int, against string) (League, error)
}

// Errors of a Lab that a page acts on.
var (
	ErrConflict = errors.New("the file has changed since it was opened")
	ErrBusy     = errors.New("too many tries and checks are running or waiting; try again when one has ended")
)

// Progress receives how far a task is; total is 0 if that is not known.
type Progress func(done, total int, what string)

// Script is a file of the folder.
type Script struct {
	File string // its name, as a link to it has to have it
	Size string
	Why  string // why it cannot be edited; empty if it can
}

// Opponent is a strategy of a field.
type Opponent struct {
	Name   string
	About  string
	Chosen bool // unless the user chooses others
}

// Text is a script with the version of its file.
type Text struct {
	File    string `json:"file"`
	Source  string `json:"source"`
	Version string `json:"version"`
}

// Draft is a script that need not be saved.
type Draft struct{ File, Source string }

// Finding is what a check has found, or a failure in a trial.
type Finding struct {
	Level string `json:"level"` // "ok", "info", "warning" or "error"
	What  string `json:"what"`
	Hint  string `json:"hint,omitzero"`
	Line  int    `json:"line,omitzero"` // from 1; 0 if unknown
}

// Verdict is the result of a check.
type Verdict struct {
	Ready    bool
	Sentence string
	Findings []Finding // what has to be fixed first
	Trial    string    // how it did in a small field; empty if it is not ready
}

// Trial is an experiment with a draft.
type Trial struct {
	Draft
	Before  string   // source of the version before; empty for none
	Field   []string // names of Field
	Leagues int
	Seed    uint64 // 0 for the usual one
	Fresh   bool   // draw a seed
}

// Outcome is the result of a trial.
type Outcome struct {
	Title     string
	Sentences []string
	Low, High string // ends of the scale
	Rows      []Row
	Rivals    []Rival // from whom the draft differed least first
	Faults    []Finding
	Confirms  bool // played with a fresh seed
	Note      string
}

// Row is a player in the ranking of a trial.
type Row struct {
	Place, Name, Points, Interval, Differ string
	Mine, Known                           bool
	Technical                             int64
	From, Width, At                       float64 // of the interval, in percent of the scale
}

// Rival is how a draft did against one opponent.
type Rival struct {
	Name, Points, Differ string
	Wins, Ties, Losses   int64
	Former               bool // the version before, which League does not play against
}

// League is one league of a draft, match by match.
type League struct {
	Title, Summary string
	Before         bool // the steps have a version before
	Steps          []Step
}

// Step is one match.
type Step struct {
	Match, Opponent string
	Now, Then       *Side // of the draft and of the version before
	Changed         bool  // the choices differ
}

// Side is what one version did in a match.
type Side struct {
	Mine, Theirs, Number, Result string
	Points, Total, Place         int
	Said                         []string
}
