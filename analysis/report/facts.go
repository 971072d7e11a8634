// Package report renders what an experiment has shown: as a table for a terminal, as
// the JSON document that other programs read, and as CSV. It computes nothing: numbers
// come from package analysis, and their wording from package words.
package report

import (
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

// Lines name the quarantined programs and the players that lost by them, and say how agents
// fared. They name the strategies that took most of the time, if all took five seconds or more
// and one of them half of it, and the others that took a part worth naming.
func (f Facts) Lines() []string { return words.Plain.Say("fared", f) }

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

// Agent is how an agent that is served over HTTP fared. It depends on the machine.
type Agent struct {
	Name     string       `json:"name"`
	Players  []string     `json:"players"`           // that it plays for, in field order
	Restart  string       `json:"restart"`           // "never", or "league" if its process was started again for each
	Asked    int64        `json:"asked"`             // choices that it was asked for
	Replayed int64        `json:"replayed"`          // choices that its cassette had
	Missing  int64        `json:"missing,omitempty"` // choices that its cassette did not have, offline
	Messages int64        `json:"messages"`
	Retries  int          `json:"retries"`
	Starts   int          `json:"starts"`    // processes, or conversations with an address
	MedianMS float64      `json:"median_ms"` // time of a match: announcement, invitation and choice
	P99MS    float64      `json:"p99_ms"`
	Faults   []AgentFault `json:"faults,omitempty"` // most first
	Log      []string     `json:"log,omitempty"`    // the last lines that its process wrote
}

// AgentFault is one kind of failure of an agent.
type AgentFault struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Cause string `json:"cause"` // of the first
}

// ReproducibleLines say why a rerun of the plan may give other leagues; nothing if it does
// not.
func (r Run) ReproducibleLines() []string { return words.Plain.Say("reproducible", r) }
