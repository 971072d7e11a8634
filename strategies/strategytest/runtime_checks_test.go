package strategytest

import (
	"context"
	"testing"
)

// runtimeCheck is one thing that every runtime must do.
type runtimeCheck struct {
	id    string
	title string
	run   func(context.Context, *probe)
}

// runtimeChecks is the list, in the order in which findings are reported.
func runtimeChecks() []runtimeCheck {
	return []runtimeCheck{
		{"info", "a factory describes itself", checkInfo},
		{"load-errors", "what cannot be loaded is refused, with its place", checkLoadErrors},
		{"same-seed", "the same seed gives the same moves, another seed others", checkSeed},
		{"own-match", "randomness belongs to the match, not to what was drawn before", checkOwnMatch},
		{"unseeded", "nothing that differs between runs reaches a strategy", checkUnseeded},
		{"concurrent", "a factory may be used from many goroutines", checkConcurrent},
		{"fresh-seat", "nothing survives from seat to seat", checkFreshSeat},
		{"valid-answers", "every form of answer is understood", checkValidAnswers},
		{"invalid-answers", "an answer that is no choice is a fault of that match only", checkInvalidAnswers},
		{"throwing", "a hook that throws is reported with its place", checkThrowing},
		{"deadline", "a hook that never returns is stopped at the deadline", checkDeadline},
		{"cancel", "a hook that never returns is stopped when its caller gives up", checkCancel},
		{"time-budget", "without a deadline the time budget stops it", checkTimeBudget},
		{"instruction-budget", "the instruction budget stops it, whatever the time", checkInstructionBudget},
		{"host-memory", "the host's memory is out of reach", checkHostMemory},
		{"sandbox", "there is no way out", checkSandbox},
		{"received-setup", "start receives the setup", checkReceivedSetup},
		{"received-turn", "choose receives the turn and the standing", checkReceivedTurn},
		{"received-outcome", "observe receives the outcome", checkReceivedOutcome},
		{"received-history", "the history holds the matches with this opponent", checkReceivedHistory},
		{"received-nothing", "what is unknown is absent", checkReceivedNothing},
		{"log", "what a script prints goes to its log", checkLog},
		{"batch", "a batch gives every seat what it would have had alone", checkBatch},
	}
}

// CheckRuntime applies every check to the runtime of s. Each check yields at
// least one finding: OK if all of it was tried and found good, Info for what
// the subject cannot express, Error for what is wrong. It stops early, with an
// Error, when ctx is done.
func CheckRuntime(ctx context.Context, s Subject) []Finding {
	var findings []Finding
	for _, c := range runtimeChecks() {
		findings = append(findings, c.apply(ctx, s)...)
		if ctx.Err() != nil {
			break
		}
	}
	return findings
}

func (c runtimeCheck) apply(ctx context.Context, s Subject) []Finding {
	p := &probe{subject: s, id: c.id}
	c.run(ctx, p)
	if ctx.Err() != nil {
		p.add(Error, "", "", "stopped before it was finished: "+context.Cause(ctx).Error())
	}
	if p.tried > 0 && Worst(p.findings) < Warning {
		p.add(OK, "", "", c.title)
	}
	return p.findings
}

// RunRuntime applies every check to the runtime of s, one subtest each.
// Checks of which the subject can express nothing are skipped.
func RunRuntime(t *testing.T, s Subject) {
	for _, c := range runtimeChecks() {
		t.Run(c.id, func(t *testing.T) {
			tried := false
			for _, f := range c.apply(t.Context(), s) {
				tried = tried || f.Level != Info
				if f.Level == Error {
					t.Error(f)
				} else {
					t.Log(f)
				}
			}
			if !tried {
				t.Skip("this runtime cannot express it")
			}
		})
	}
}
