package wasmscript

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
)

// linear is the memory of an instance. It begins in Go's heap, as most modules never grow theirs,
// and grows into memory of its own from the system, which goes back as soon as the next growth or
// the end of the seat replaces it. In Go's heap each growth would leave the memory of before to the
// garbage collector, and a process that may use little memory could end before that comes by.
type linear struct {
	most   uint64 // bytes
	all    []byte // up to its capacity
	mapped bool   // all is from the system
}

// withLinear makes the next instance of a context use l.
func withLinear(ctx context.Context, l *linear) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		l.most = most
		return l
	}))
}

// Reallocate implements experimental.LinearMemory. It doubles what a module has, so that
// growing page by page copies each page about once.
func (l *linear) Reallocate(size uint64) []byte {
	switch old := uint64(cap(l.all)); {
	case l.all == nil:
		l.all = make([]byte, size)
	case size > old:
		larger, err := mapMemory(int(max(size, min(2*old, l.most))))
		mapped := err == nil
		if !mapped {
			larger = make([]byte, size) // it ends the process where no memory is left
		}
		copy(larger, l.all)
		l.release()
		l.all, l.mapped = larger, mapped
	}
	l.all = l.all[:size]
	return l.all
}

// Free implements experimental.LinearMemory. It does nothing: the runtime frees memory when
// it closes, which a seat could outlive by mistake. See release.
func (l *linear) Free() {}

// release gives memory back to the system. Nobody may use it any more.
func (l *linear) release() {
	if l.mapped {
		_ = unmapMemory(l.all[:cap(l.all)]) // it was mapped
	}
	l.all, l.mapped = nil, false
}
