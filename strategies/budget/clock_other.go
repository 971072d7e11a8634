//go:build !unix

package budget

import "time"

// begun is where time is counted from, as the processor time is not known here.
var begun = time.Now()

// processorTime returns the time that this process exists.
func processorTime() time.Duration { return time.Since(begun) }
