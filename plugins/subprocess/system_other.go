//go:build !linux

package subprocess

import (
	"os"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// CPU returns the processor time that a running process has used; false if the system
// does not say.
func CPU(int) (time.Duration, bool) { return 0, false }

// Delayed is not known on this system.
func Delayed(int) (time.Duration, bool) { return 0, false }

// Resident returns the memory that this process holds now, in bytes; those below it are
// known on Linux only.
func Resident() (memory uint64, processes int) {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64() - all[1].Value.Uint64(), 1
}

// killMarked does nothing: the system does not show the environment of processes.
func killMarked(string) {}

// lookEvery is the interval between two looks at the size of the process.
const lookEvery = 5 * time.Millisecond

// MemoryLimit is the limit of this process, which has one.
type MemoryLimit struct {
	most  atomic.Uint64 // bytes; 0 for none
	watch sync.Once
}

// Reset makes the process end itself when it has more than the given memory, in bytes. 0
// means no limit.
func (m *MemoryLimit) Reset(memory uint64) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	m.watch.Do(func() {
		go func() { // for as long as the process lives
			sample := [1]metrics.Sample{{Name: "/memory/classes/total:bytes"}}
			for range time.Tick(lookEvery) {
				metrics.Read(sample[:])
				if most := m.most.Load(); most > 0 && sample[0].Value.Uint64() > most {
					_ = self.Kill()
				}
			}
		}()
	})
	return m.Set(memory)
}

// Set replaces the limit.
func (m *MemoryLimit) Set(memory uint64) error {
	m.most.Store(memory)
	return nil
}

// LargePages does nothing.
func LargePages(uint64) {}

// liftLimit has nothing to do: only this process checks its size.
func liftLimit() (restore func(), err error) { return func() {}, nil }
