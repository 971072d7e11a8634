// Package memory connects two processes by memory that both see. A message is
// copied into it and the receiver woken: no socket buffers, and on a processor
// that both share, no more than the switch between them.
//
// It also saves what Go's scheduler would do around a system call that blocks: a
// goroutine that waits keeps its processor for a moment, because the answer
// mostly comes before another thread could have taken it over.
package memory

import "errors"

// ErrUnsupported is returned on systems without this kind of memory.
var ErrUnsupported = errors.New("shared memory: not supported on this system")
