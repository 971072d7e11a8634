//go:build !unix

package plugins

// cpuTime is not measured on this system.
func cpuTime() uint64 { return 0 }
