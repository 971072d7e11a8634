package isolate

import (
	"runtime"
	"runtime/debug"
)

// tune has the collector work rather than let the process grow up to its cap.
// Up to the limit it lets most be garbage, since short-lived machines are. Half
// the processors are left to the host and to other workers: threads that look
// for work in all of them at once take a tenth of the time.
func tune(memory uint64) {
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(int64(memory - memory/4))
}
