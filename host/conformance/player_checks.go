package conformance

import "slices"

func playerChecks() []Check {
	return slices.Concat(registrationChecks(), joinChecks())
}
