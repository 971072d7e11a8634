package lab

import (
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// shipped has the fingerprints of the scripts that come with the program. One that a user
// has edited is the user's.
var shipped = map[string]bool{
	"88eaf8b96716cad45522b647eaed3b6be032e2c28c850a540c5c0b0312d31be8": true, // bandit.js
	"4b3f5150c75c6a206282b5b1d368037f02e9ec186b7bc578ead2fa9f88cd34af": true, // council.lua
	"c41bbb1ff7eed1f17a2a266c0d437080a21b8e4670debb88877ee7117b1c30f8": true, // drift.lua
	"ae7459142e6e24ec1e9e1e215c9f974ad71388ced8bbda7ddd753b65fc074410": true, // echo.js
	"26dbef89b79522b897cce9a85482a7f87c6ee60a4da027d447212d8cdc9344a2": true, // ledger.js
	"4b40e65860bb30f9d435bd1a0c54429739b3976f6c2f9cbcb413e858ac5566b7": true, // pairwise.lua
	"018ed7cf3e5ab3aff96e52ab134c15fd6069860481b8630047824c050f7a0f13": true, // rhythm.js
	"5c791e30d70d76e08f6c546e93d872e5c33c78366d63587d0a5f8919089d1eb0": true, // settle.lua
}

// isShipped reports whether a strategy comes with the program: built in, one of its scripts,
// or one of the plugins that it builds, whose fingerprints differ from machine to machine.
func isShipped(kind strategies.Kind, name, fingerprint string) bool {
	switch kind {
	case strategies.Builtin:
		return true
	case strategies.Plugin:
		return name == "frequency-plugin" || name == "thue-morse"
	}
	return shipped[fingerprint]
}

// yoursIn returns the field indices of the strategies of a plan that are the user's, as far
// as the plan alone says: those that do not come with the program.
func yoursIn(plan results.Plan) []int {
	var list []int
	for i, f := range plan.Field {
		if !isShipped(strategies.Kind(f.Kind), f.Name, f.Fingerprint) {
			list = append(list, i)
		}
	}
	return list
}
