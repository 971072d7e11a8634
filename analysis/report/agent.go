package report

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/words"
)

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

// mostLog is how many lines of the log of an agent that failed are shown.
const mostLog = 3

// lines say how the agent fared.
func (a Agent) lines() []string {
	name, line := words.Printable(a.Name), ""
	if a.Asked > 0 {
		line = fmt.Sprintf("Agent %s answered a match in %s ms (median; 99 %% within %s ms), with %s and %s", name,
			words.Plain.Number(a.MedianMS, 2), words.Plain.Number(a.P99MS, 2), words.Plain.Plural(a.Messages, "message"), words.Plain.Plural(int64(a.Retries), "retry"))
		if a.Replayed > 0 {
			line += fmt.Sprintf("; its cassette answered %s of %s", words.Plain.Count(a.Replayed), words.Plain.Plural(a.Asked+a.Replayed, "match"))
		}
		line += map[string]string{"league": "; it was restarted for each league (--restart league)."}[a.Restart]
		if a.Restart != "league" {
			line += "; it keeps what it learns from league to league (--restart never)."
		}
	} else {
		line = fmt.Sprintf("Agent %s was not asked: its cassette answered %s.", name, words.Plain.Plural(a.Replayed, "match"))
	}
	list := []string{line}
	if a.Missing > 0 {
		list = append(list, fmt.Sprintf("The cassette of %s lacks %s, which were technical losses; without --offline the agent is asked.",
			name, words.Plain.Plural(a.Missing, "answer")))
	}
	for _, f := range a.Faults {
		list = append(list, fmt.Sprintf("%s: %s (%s): %s", name, words.Plain.Plural(int64(f.Count), "failure"), f.Kind, words.Printable(f.Cause)))
	}
	if len(a.Faults) > 0 {
		for _, said := range a.Log[max(0, len(a.Log)-mostLog):] {
			list = append(list, fmt.Sprintf("%s wrote: %s", name, words.Printable(said)))
		}
	}
	return list
}

// AgentLines say how the agents of a run fared.
func (f Facts) AgentLines() []string {
	var lines []string
	for _, a := range f.Agents {
		lines = append(lines, a.lines()...)
	}
	return lines
}

// ReproducibleLines say why a rerun of the plan may give other leagues; nothing if it does
// not.
func (r Run) ReproducibleLines() []string {
	switch {
	case r.Facts.Reproducible:
		return nil
	case !r.Plan.Reproducible():
		return []string{"Not reproducible: agents have a clock and randomness of their own. A rerun with the answers that --cassette DIR has kept gives the same leagues."}
	}
	return []string{words.NotReproducible}
}
