package budget

import (
	"runtime"
	"runtime/metrics"
)

// MaxGrowth is by how many bytes the memory of the process may grow during the
// life of a seat whose calls take suspiciously long. Such a seat is interrupted
// before it can starve the host: this is what bounds a script that fills memory
// with something no other guard counts, be it at once or a little in every
// call. Which of several seats is to blame cannot be told, so only those are
// looked at that have run for far longer than honest ones do.
const MaxGrowth = 128 << 20

const (
	// suspicious is at how many ticks in its life a seat has been found running
	// before it is looked at for that.
	suspicious = 4
	// reprieve is for how many ticks a seat is left alone that was looked at
	// and found innocent: what had grown was garbage.
	reprieve = 20
)

// memory tells what the process takes up.
type memory struct {
	size func() uint64 // at a glance, with what is dead already
	live func() uint64 // what is left after a collection, which takes its time
}

// fill is what is known of the memory that a seat has filled.
type fill struct {
	ticks  int // at which it was found running
	base   uint64
	waiver int // ticks before which it is not looked at again
}

// grown counts a tick and reports whether the seat has to be stopped.
func (f *fill) grown(m memory) bool {
	f.ticks++
	if f.ticks == 1 {
		f.base = m.size()
	}
	if f.ticks <= suspicious || f.ticks < f.waiver || m.size() <= f.base+MaxGrowth {
		return false
	}
	f.waiver = f.ticks + reprieve
	return m.live() > f.base+MaxGrowth
}

const (
	stacks  = "/memory/classes/heap/stacks:bytes"  // on which interpreters recurse
	objects = "/memory/classes/heap/objects:bytes" // the dead ones that have not been swept included
	living  = "/gc/heap/live:bytes"                // found by the last collection
)

func memorySize() uint64 { return sum(objects, stacks) }

// Live collects garbage and returns how many bytes the process holds on to.
func Live() uint64 {
	runtime.GC()
	return sum(living, stacks)
}

func sum(a, b string) uint64 {
	sample := [2]metrics.Sample{{Name: a}, {Name: b}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}
