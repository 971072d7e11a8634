//go:build !unix

package budget

import "time"

// ProcessorTime is not known on this system.
func ProcessorTime() time.Duration { return 0 }
