// Package kit is what the checks of all roles share: sending requests, reading answers, endpoints
// for the suite's own agents, registration, the rules about headers, and hostile input.
package kit

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Level says how serious it is to break a rule.
type Level string

// The levels, most serious first.
const (
	Must   Level = "must"   // a tolerant agent cannot play with it
	Should Level = "should" // a strict agent cannot, or is cheated
	Wild   Level = "wild"   // both can; other programs may not
)

// Check is one rule of the protocol and how it is tested.
type Check struct {
	ID    string // role, subject and rule: "player.join.accept"
	Level Level
	Rule  string // one sentence, with the part of the protocol it comes from
	// Advice says what to change in an agent that fails.
	Advice string
	// Needs lists earlier checks. If one of them did not pass, this check could
	// only repeat its finding and is skipped.
	Needs []string
	// Recorded says that the check reads a record: it does not matter whether the
	// agent can still be reached, but whether it has survived bad input before.
	Recorded bool
	// Run tests the rule. It ends the check through its T, or returns if the
	// agent follows the rule.
	Run func(*T) `json:"-"`
}

// Status is how a check ended.
type Status string

// The ways a check can end.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // it could not be tested; Detail says why, and what to do
)

// Outcome is the result of one check.
type Outcome struct {
	ID     string `json:"id"`
	Level  Level  `json:"level"`
	Rule   string `json:"rule"`
	Status Status `json:"status"`
	// Detail says what was wrong, why the check was skipped or, if it passed, what was measured.
	Detail string `json:"detail,omitempty"`
	// Advice says what to change. It is set only if the check failed.
	Advice string `json:"advice,omitempty"`
	// Evidence holds the exchanges before the failure, the decisive one last.
	Evidence []Evidence `json:"evidence,omitempty"`
	Seconds  float64    `json:"seconds"`
}

// Evidence is one exchange with the agent, byte for byte. Long messages are cut, and say so.
type Evidence struct {
	To      string  `json:"to,omitempty"`   // the agent's URL, for a request to the agent
	From    string  `json:"from,omitempty"` // the sender, for a request from the agent
	Request string  `json:"request"`
	Status  int     `json:"status,omitempty"` // HTTP
	Answer  string  `json:"answer,omitempty"`
	Error   string  `json:"error,omitempty"` // why no answer arrived
	TookMS  float64 `json:"took_ms"`
}

// Suite is what there is for one role: the checks, and the peers that an agent of the role needs.
type Suite struct {
	// Checks are in the order in which they run.
	Checks []Check
	// Open starts the peers and waits for the agent.
	Open func(context.Context, *Session) (Peers, error)
}

// Peers are the agents that the suite plays to the agent under test.
type Peers interface {
	// Name returns how the agent calls itself.
	Name() string
	// Play has our own agents play with the agent, unless they have. It fails if they
	// could not, and skips if that was not tried.
	Play(t *T)
	// Close stops the peers.
	Close() error
}

// T is the handle of a running check. Like testing.T it records failures, and
// methods that end a check do not return. A check uses its T from one
// goroutine; Go gives other goroutines a T of their own.
type T struct {
	Session     *Session
	Peers       Peers
	Evidence    []Evidence // of the exchanges so far
	ctx         context.Context
	note        string
	unreachable bool      // a connection was refused
	attempts    []*Answer // to what was carried for a caller since Find was last called
}

// stop ends a check by a panic, which never leaves the package.
type stop struct {
	status Status
	detail string
}

// Context returns the context of the check.
func (t *T) Context() context.Context { return t.ctx }

// Fail ends the check: the agent breaks the rule. The last exchange is the decisive evidence.
func (t *T) Fail(format string, args ...any) {
	panic(stop{Failed, fmt.Sprintf(format, args...)})
}

// Skip ends the check as skipped, with the reason.
func (t *T) Skip(format string, args ...any) {
	panic(stop{Skipped, fmt.Sprintf(format, args...)})
}

// Note records a measurement for the report of a check that passes.
func (t *T) Note(format string, args ...any) { t.note = fmt.Sprintf(format, args...) }

// Aside returns a T whose exchanges are no evidence of the check.
func (t *T) Aside() *T { return &T{ctx: t.ctx, Session: t.Session, Peers: t.Peers} }

// Catch runs a function that may end the check. It returns why it did; ended
// is false if it returned.
func (t *T) Catch(run func()) (detail string, ended bool) {
	end := t.catch(run)
	return end.detail, end.status != Passed
}

func (t *T) catch(run func()) (end stop) {
	defer func() {
		switch p := recover().(type) {
		case nil:
			end = stop{Passed, t.note}
		case stop:
			end = p
		default:
			panic(p)
		}
	}()
	run()
	return end
}

// Go runs a part of a check in a goroutine. The function that it returns waits for the part and
// ends the check, with the evidence of the part, if the part did.
func (t *T) Go(run func(t *T)) (wait func()) {
	own := t.Aside()
	done := make(chan stop, 1)
	go func() { done <- own.catch(func() { run(own) }) }()
	return func() {
		end := <-done
		t.unreachable = t.unreachable || own.unreachable
		if end.status != Passed {
			for _, e := range own.Evidence {
				t.Keep(e)
			}
			panic(end)
		}
	}
}

// maxEvidence limits the exchanges in the evidence of a check.
const maxEvidence = 8

// Keep adds evidence.
func (t *T) Keep(e Evidence) {
	if len(t.Evidence) == maxEvidence {
		t.Evidence = t.Evidence[1:]
	}
	t.Evidence = append(t.Evidence, e)
}

// maxMessage limits the bytes that are read of a message.
const maxMessage = 16 << 20

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Run runs a check, unless it could not tell anything new after the earlier outcomes.
func (s *Session) Run(ctx context.Context, peers Peers, check Check, earlier []Outcome) Outcome {
	o := Outcome{ID: check.ID, Level: check.Level, Rule: check.Rule, Status: Skipped, Detail: s.pointless(check, earlier)}
	if o.Detail != "" {
		return o
	}
	t := &T{ctx: ctx, Session: s, Peers: peers}
	began := time.Now()
	end := t.catch(func() { check.Run(t) })
	o.Status, o.Detail, o.Seconds = end.status, end.detail, time.Since(began).Seconds()
	if o.Status == Failed {
		o.Advice, o.Evidence = check.Advice, t.Evidence
	}
	if t.unreachable && Reach(ctx, s.URL) != nil {
		s.lost = check.ID
	}
	return o
}

// pointless says why a check could not tell anything new, "" if it could.
func (s *Session) pointless(check Check, earlier []Outcome) string {
	if s.lost != "" && !check.Recorded {
		return fmt.Sprintf("the agent has been unreachable since %s", s.lost)
	}
	for _, e := range earlier {
		switch {
		case e.Status == Failed && (slices.Contains(check.Needs, e.ID) || check.Recorded && e.ID == string(s.Role)+".hostile.then"):
			return fmt.Sprintf("it needs %s, which failed", e.ID)
		case e.Status == Skipped && slices.Contains(check.Needs, e.ID):
			return fmt.Sprintf("it needs %s, which could not be tested", e.ID)
		}
	}
	return ""
}

// Play has our own agents play with the agent under test.
func (s *Session) Play(ctx context.Context, peers Peers) Play {
	if s.lost != "" {
		return Play{true, "it has been unreachable since " + s.lost}
	}
	t := &T{ctx: ctx, Session: s, Peers: peers}
	end := t.catch(func() { peers.Play(t) })
	return Play{Tried: end.status != Skipped, Why: end.detail}
}
