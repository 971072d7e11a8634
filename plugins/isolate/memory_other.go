//go:build !linux

package isolate

import (
	"os"
	"runtime/metrics"
	"time"
)

// lookEvery is the interval between two looks at the size of the process.
const lookEvery = 5 * time.Millisecond

// limitMemory makes the process end itself when it grows too large.
func limitMemory(memory uint64) error {
	if memory == 0 {
		return nil
	}
	tune(memory)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	go func() { // for as long as the process lives
		sample := [1]metrics.Sample{{Name: "/memory/classes/total:bytes"}}
		for range time.Tick(lookEvery) {
			if metrics.Read(sample[:]); sample[0].Value.Uint64() > memory {
				_ = self.Kill()
			}
		}
	}()
	return nil
}
