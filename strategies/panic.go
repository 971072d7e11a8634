package strategies

import "fmt"

// Panicked returns the error for a panic in a strategy's code; v is what
// recover returned. Whoever calls strategies recovers, so that a strategy in
// Go can no more end the host than a script can.
func Panicked(v any) error { return fmt.Errorf("panic: %v", v) }
