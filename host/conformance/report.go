package conformance

import (
	"time"
)

// Status is how a check ended.
type Status string

// The ways a check may end.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // it could not be made; Detail says why, and what to do
)

// Outcome is what one check has shown.
type Outcome struct {
	ID     string `json:"id"`
	Level  Level  `json:"level"`
	Rule   string `json:"rule"`
	Status Status `json:"status"`
	// Detail is what was wrong, why the check was skipped, or, of one that
	// passed, what was measured.
	Detail string `json:"detail,omitempty"`
	// Advice says what to change; only where the check failed.
	Advice string `json:"advice,omitempty"`
	// Evidence is what was said before the check failed, last the exchange that
	// failed it.
	Evidence []Evidence    `json:"evidence,omitempty"`
	Took     time.Duration `json:"-"`
	Seconds  float64       `json:"seconds"`
}

// Evidence is one exchange of a check, as it stood on the wire. Bytes that
// were cut say so.
type Evidence struct {
	To      string  `json:"to,omitempty"`   // the agent's URL, if we asked
	From    string  `json:"from,omitempty"` // who asked, if the agent did
	Request string  `json:"request"`
	Status  int     `json:"status,omitempty"` // HTTP
	Answer  string  `json:"answer,omitempty"`
	Error   string  `json:"error,omitempty"` // why no answer came
	TookMS  float64 `json:"took_ms"`
}

// Report is what all checks have shown.
type Report struct {
	Schema   string    `json:"schema"`
	Role     Role      `json:"role"`
	URL      string    `json:"url"`
	Agent    string    `json:"agent,omitempty"`   // what it calls itself
	Dialect  string    `json:"dialect,omitempty"` // the wrapping it was spoken to in
	Outcomes []Outcome `json:"checks"`
	Seconds  float64   `json:"seconds"`
}

// ReportSchema is the value of Report.Schema.
const ReportSchema = "strategylab/conformance/v1"

// Count returns how many checks of a level ended so.
func (r *Report) Count(l Level, s Status) int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Level == l && o.Status == s {
			n++
		}
	}
	return n
}

// Failed returns the gravest level at which a check failed; false if none did.
func (r *Report) Failed() (Level, bool) {
	for _, l := range Levels() {
		if r.Count(l, Failed) > 0 {
			return l, true
		}
	}
	return "", false
}
