package workers

import (
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
)

// Tasks of a worker, beside those of ServerConfig. Input and output are JSON, except for
// records of leagues, which have the format of host/results.
const (
	taskOpen  = "open"  // openRequest; nothing
	taskPlay  = "play"  // chunk.Request; the records of each unit
	taskClose = "close" // nothing: closes the field; []plugins.Usage by strategy
)

// openRequest is the plan to play, with the code of its field.
type openRequest struct {
	Plan       results.Plan
	Strategies []strategy
	Players    []int // by field index, in Strategies
	Unit       int   // leagues from one answer to the next, played in lockstep with plugins
	// Histories is the memory, in bytes, that scripts need beside their own: that of the
	// outcomes of a large field.
	Histories uint64 `json:",omitempty"`
}

// strategy is the code of one strategy.
type strategy struct {
	Builtin string         `json:",omitempty"` // name
	Place   *plugins.Place `json:",omitempty"` // of a plugin or a script
	Alone   bool           `json:",omitempty"` // the script gets a process of its own
}
