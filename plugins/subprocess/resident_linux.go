package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Resident returns the memory that this process and those below it hold now, in bytes,
// and how many they are.
func Resident() (memory uint64, processes int) { return resident(os.Getpid()) }

func resident(pid int) (memory uint64, processes int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	var size, pages uint64
	statm, err := os.ReadFile(filepath.Join(dir, "statm"))
	if err != nil {
		return 0, 0 // it has ended
	}
	if _, err := fmt.Sscan(string(statm), &size, &pages); err != nil {
		return 0, 0
	}
	memory, processes = pages*uint64(os.Getpagesize()), 1
	lists, _ := filepath.Glob(filepath.Join(dir, "task", "*", "children")) // the pattern is sound
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
