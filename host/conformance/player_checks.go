package conformance

import "slices"

// playerChecks are in the order in which they are made: what others build on
// comes first, and what may upset or end the player last.
func playerChecks() []Check {
	return slices.Concat(
		registrationChecks(), joinChecks(), choiceChecks(), answerChecks(), noticeChecks(), rpcChecks(), dialectChecks(),
		fieldChecks(), authChecks(), stateChecks(), loadChecks(), hostileChecks(), endChecks(),
	)
}
