//go:build !linux

package subprocess

import "time"

// CPU returns the processor time that a running process has used; false if the system
// does not say.
func CPU(int) (time.Duration, bool) { return 0, false }
