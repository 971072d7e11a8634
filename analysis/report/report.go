// Package report renders what an experiment has shown: as a table for a terminal, as
// the JSON document that other programs read, and as CSV. It computes nothing: numbers
// come from package analysis, and their wording from package words.
package report

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// Run is all that a [Document] is filled from.
type Run struct {
	Plan      results.Plan
	Estimates analysis.Estimates // of accumulators made for Plan
	Facts     Facts
	Stopping  Stopping
	Folder    string // of the run, for commands that name it; may be empty
	// Assertions are the assertions of the user, judged by the same leagues.
	Assertions []assert.Outcome
	// Since is what the leagues show that were played after the last quarantine, about the
	// players that were left; nil if all played, or if it is unknown.
	Since *analysis.Estimates
	// Robustness is how far the order depends on the field; nil if it was not computed.
	Robustness *robust.Robustness
	Yours      []int    // field indices of the user's strategies
	Seeds      []uint64 // of the runs that are pooled here, that of Plan first; nil for one run
}

// Facts are what is known of a run beside its results.
type Facts struct {
	Messages         int64           `json:"messages"`            // between agents; 0 for direct play
	Seconds          float64         `json:"seconds"`             // wall time
	MatchesPerSecond analysis.Number `json:"matches_per_second"`  // not positive without a rate
	Digest           string          `json:"digest"`              // of the results, in hexadecimal
	Reproducible     bool            `json:"reproducible"`        // whether the same plan gives the same digest elsewhere
	Processes        []Process       `json:"processes,omitempty"` // of plugins and isolated scripts, by their first player
	Spenders         []Spender       `json:"spenders,omitempty"`  // scripts and plugins whose calls took processor time, the most first
	Agents           []Agent         `json:"agents,omitempty"`    // by their first player
	Cluster          []Share         `json:"cluster,omitempty"`   // workers of a cluster, the most leagues first
}

// Spender is a script or a plugin whose calls took processor time.
type Spender struct {
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`        // "plugin", "lua", "js" or "wasm"
	CPUSeconds float64 `json:"cpu_seconds"` // about: it is sampled
	Share      float64 `json:"share"`       // of the time of all scripts and plugins
}

// Whom SpenderLines name: the time of all must matter, and a few have most of it.
const (
	leastSeconds = 5.0
	mostSpenders = 3
	leastShare   = 0.5 // of the first
	worthNaming  = 0.1 // share of the others
)

// SpenderLines name the strategies that took most of the time, if that was long.
func (f Facts) SpenderLines() []string {
	if len(f.Spenders) == 0 {
		return nil
	}
	first := f.Spenders[0]
	all := first.CPUSeconds / first.Share
	if all < leastSeconds || first.Share < leastShare {
		return nil
	}
	var named []string
	for i, s := range f.Spenders {
		if i < mostSpenders && (i == 0 || s.Share >= worthNaming) {
			named = append(named, fmt.Sprintf("%s %s", words.Printable(s.Name), words.Plain.Percent(s.Share)))
		}
	}
	return []string{fmt.Sprintf("Of %s s of processor time that scripts and plugins took: %s.", words.Plain.Number(all, 1), strings.Join(named, ", "))}
}

// Share is what one worker of a cluster has played of a run. It depends on who was there.
type Share struct {
	Worker  string `json:"worker"`  // name of its machine, and its id
	Cores   int    `json:"cores"`   // leagues it played in parallel
	Version string `json:"version"` // of its program
	Chunks  int    `json:"chunks"`  // parts of the run that it played
	Leagues int    `json:"leagues"`
	Aside   string `json:"aside,omitempty"` // why it got no more leagues
	// Replayed is the number of recorded leagues that were played again because of it.
	Replayed int `json:"replayed,omitempty"`
}

// Process is what the processes of one plugin or one isolated script used, and how
// often they failed. It depends on the machine.
type Process struct {
	Name    string   `json:"name"`    // of the program or the script
	Kind    string   `json:"kind"`    // "plugin", "lua", "js" or "wasm"
	Players []string `json:"players"` // that it plays for, in field order

	CPUSeconds float64 `json:"cpu_seconds"` // of all processes, one after another
	// PeakBytes is the most resident memory that one process was seen to have; null if
	// the system does not report it.
	PeakBytes *uint64 `json:"peak_bytes"`
	// CapBytes is the memory limit of a script; absent for a plugin, which has none.
	CapBytes uint64 `json:"cap_bytes,omitempty"`

	Starts   int `json:"starts"`   // processes started
	Failures int `json:"failures"` // processes that failed by their own fault, failed starts among them
	// PutAside says that it failed too often and was not started again: from then on
	// its players lost every match.
	PutAside bool `json:"put_aside"`
}

// String says in one line what the processes used and how they failed.
func (p Process) String() string {
	name := words.Printable(p.Name)
	if p.Kind == "plugin" {
		name = "plugin " + name
	}
	line := fmt.Sprintf("%s, in its own process: %s s of CPU time", name, words.Plain.Number(p.CPUSeconds, 2))
	if p.PeakBytes != nil {
		line += fmt.Sprintf(", at most %d MiB resident", (*p.PeakBytes+1<<20-1)>>20) // rounded up: nothing takes 0 MiB
	}
	if p.Failures > 0 {
		line += ", failed " + words.Plain.Times(p.Failures)
	}
	if p.Starts > 1 || p.Failures > 0 {
		line += ", started " + words.Plain.Times(p.Starts)
	}
	if p.PutAside {
		line += ", quarantined"
	}
	return line
}

// QuarantineLines name the quarantined programs and the players that lost by them.
func (f Facts) QuarantineLines() []string {
	var lines []string
	for _, p := range f.Processes {
		if p.PutAside {
			lines = append(lines, fmt.Sprintf("%s was quarantined after its processes had failed %s: from then on %s lost every match.",
				words.Printable(p.Name), words.Plain.Times(p.Failures), words.Printable(words.List(p.Players, "and", 4))))
		}
	}
	return lines
}
