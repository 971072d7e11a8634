package isolate

import "runtime/debug"

// tune has the collector work rather than let the process grow up to its cap.
// Up to the limit it lets most be garbage, since short-lived machines are.
func tune(memory uint64) {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(int64(memory - memory/4))
}
