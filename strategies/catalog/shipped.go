package catalog

import "github.com/strategylab/strategylab/strategies"

// shipped has the fingerprints of the scripts that come with the program. One that a user
// has edited is the user's.
var shipped = map[string]bool{
	"a07ac49727865805a5abeb186caf5bf519df4284e952322876e1bbcd5ddb0928": true, // bandit.js
	"d9c9d4ad45f9fdd79e0c74877fa44fb579efdfe821868e9cfc23ed40cc847827": true, // council.lua
	"adbcb7c4489845066a1e9f733941dd34c1c6e99510cb869e28c55eff0d537071": true, // drift.lua
	"d8cabdeb7b38ce1686e285d745702b724cfa81622049c49701e630d77848485f": true, // echo.js
	"ceb5d418ea0393be1efa0a90d45f5b7422c7592c98ae3dfab26bc089e22f96e0": true, // ledger.js
	"4b40e65860bb30f9d435bd1a0c54429739b3976f6c2f9cbcb413e858ac5566b7": true, // pairwise.lua
	"018ed7cf3e5ab3aff96e52ab134c15fd6069860481b8630047824c050f7a0f13": true, // rhythm.js
	"5c791e30d70d76e08f6c546e93d872e5c33c78366d63587d0a5f8919089d1eb0": true, // settle.lua
}

// Shipped reports whether a strategy comes with the program: built in, one of its scripts,
// or one of the plugins that it builds, whose fingerprints differ from machine to machine.
func Shipped(kind strategies.Kind, name, fingerprint string) bool {
	switch kind {
	case strategies.Builtin:
		return true
	case strategies.Plugin:
		return name == "frequency-plugin" || name == "thue-morse"
	}
	return shipped[fingerprint]
}
