package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// ownGroup puts a process into its own group and makes the kernel kill it when
// the thread that started it ends. Go's threads end with the process, except
// locked ones, which are not used here.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// tick is the unit of times in /proc, the same on all processors.
const tick = time.Second / 100

// CPU returns the processor time that a running process has used, its threads included,
// to about 10 ms; false if the system does not say.
func CPU(pid int) (time.Duration, bool) {
	const user, system = 11, 12 // see proc(5)
	fields := stat(pid)
	if len(fields) <= system {
		return 0, false
	}
	var ticks [2]int64
	_, err := fmt.Sscan(fields[user]+" "+fields[system], &ticks[0], &ticks[1])
	return time.Duration(ticks[0]+ticks[1]) * tick, err == nil
}

// Delayed returns how long the threads of a running process, together, have waited for a
// processor; false if the system does not say.
func Delayed(pid int) (all time.Duration, known bool) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is sound
	for _, file := range files {
		var ran, delayed time.Duration
		text, _ := os.ReadFile(file) // the thread may have ended
		n, _ := fmt.Sscan(string(text), &ran, &delayed)
		all, known = all+delayed, known || n == 2
	}
	return all, known
}

// statm returns the memory that a process holds now, and that of its data, in bytes; see
// proc(5).
func statm(pid int) (resident, data uint64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0, err
	}
	var size, shared, code, library uint64
	_, err = fmt.Sscan(string(text), &size, &resident, &shared, &code, &library, &data)
	page := uint64(os.Getpagesize())
	return resident * page, data * page, err
}

// Resident returns the memory that this process and those below it hold now, in bytes,
// and how many they are.
func Resident() (memory uint64, processes int) { return resident(os.Getpid()) }

func resident(pid int) (memory uint64, processes int) {
	var err error
	if memory, _, err = statm(pid); err != nil {
		return 0, 0 // it has ended
	}
	processes = 1
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is sound
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range bytes.Fields(children) {
			if id, err := strconv.Atoi(string(child)); err == nil {
				m, n := resident(id)
				memory, processes = memory+m, processes+n
			}
		}
	}
	return memory, processes
}

// killMarked kills the processes that have a text in their environment, such as children of
// a plugin that have left its group.
func killMarked(mark string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is sound
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environment, []byte(mark)) {
			continue // it has ended, or is not ours
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// MemoryLimit is the limit of this process, which has one.
type MemoryLimit struct{ before uint64 } // in bytes, at the last Reset

// Reset makes the kernel refuse more than the given memory, in bytes, on top
// of what the process has now, which is mostly reserved address space. 0 means no
// limit. Only the soft limit changes, so that Start can lift it for others.
func (m *MemoryLimit) Reset(memory uint64) (err error) {
	if _, m.before, err = statm(os.Getpid()); err != nil {
		return fmt.Errorf("read the size of this process: %w", err)
	}
	if memory == 0 {
		return nil
	}
	return m.Set(memory)
}

// Set replaces the limit by one on top of what the process had at the last Reset.
func (m *MemoryLimit) Set(memory uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, m.before+memory)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
}

// LargePages has the kernel use large pages, if it does so on request, for the next bytes by
// which the heap of this process grows. What programs of scripts use lies scattered over the
// heap: with small pages, leagues in lockstep take a sixth more time.
func LargePages(size uint64) {
	heap := make([]byte, size) // nothing touches it, and the heap keeps its addresses
	_ = syscall.Madvise(heap, syscall.MADV_HUGEPAGE)
	debug.FreeOSMemory()
}

// liftLimit sets the soft limit to the hard one until restore is called.
func liftLimit() (restore func(), err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return nil, err
	}
	lifted := syscall.Rlimit{Cur: limit.Max, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &lifted); err != nil {
		return nil, err
	}
	return func() { _ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) }, nil
}
