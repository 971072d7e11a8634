package budget

import "time"

// clock measures how long a goroutine that never waits has had a processor. The zero
// value starts with its first lap.
type clock struct {
	wall      time.Time
	processor time.Duration
}

// lap returns the time since the last lap, 0 for the first: the processor time of the
// process, if it is known, but no more than has passed, as one goroutine uses one processor.
func (c *clock) lap() time.Duration {
	wall, processor := time.Now(), ProcessorTime()
	passed := wall.Sub(c.wall)
	if processor > 0 {
		passed = min(passed, processor-c.processor)
	}
	if c.wall.IsZero() {
		passed = 0
	}
	c.wall, c.processor = wall, processor
	return passed
}
