package wasmscript

import "math/bits"

// Where a module has written to its memory stands in the global wrote: one of its 64 bits
// for each grain, a piece of the memory, and the same bit again for every 64th. So a seat
// sets back what its predecessor has changed, which is mostly a few grains, instead of all
// of the memory. The bits may name more than was written, never less.

// everywhere is all bits of wrote.
const everywhere = -1

// leastGrain is the binary logarithm of the smallest grain: with it, a page has 64.
const leastGrain = 10

// widest is the most that an instruction writes, in bytes. The last ones may lie in the
// next grain, whose bit is not set for them.
const widest = 8

// grain returns the binary logarithm of the size of a grain, in bytes: the memory has about
// 64 of them in the beginning.
func (m *module) grain() byte {
	const page = 16 // logarithm of its size
	return byte(max(leastGrain, page+bits.Len32(max(m.least, 1)-1)-6))
}

// writing notes the write of an instruction, whose address and value are on the stack.
func (m *meter) writing(op byte, offset uint32) {
	value := m.scratch(stored(op))
	m.emit(opLocalSet, value)
	m.emit(opLocalTee, m.address())
	m.emit(opGlobalGet, m.wrote)
	m.out = append(m.out, opI64Const, 1)
	m.emit(opLocalGet, m.address())
	if offset > 0 {
		m.out = append(appendSigned(append(m.out, opI32Const), int64(int32(offset))), opI32Add)
	}
	m.out = append(m.out, opI64ExtendU, opI64Const, m.grain, opI64ShrU, opI64Shl, opI64Or)
	m.emit(opGlobalSet, m.wrote)
	m.emit(opLocalGet, value)
}

// stored returns the type of the value that a store writes.
func stored(op byte) byte {
	switch op {
	case opF32Store:
		return typeF32
	case opF64Store:
		return typeF64
	case opI32Store, opI32Store8, opI32Store16:
		return typeI32
	}
	return typeI64
}

// noted notes a write of the lab.
func (in *instance) noted(at, n uint64) {
	wrote := uint64(1) << (at >> in.grain & 63)
	if n > widest {
		wrote = ^uint64(0)
	}
	in.global[wroteGlobal].Set(in.global[wroteGlobal].Get() | wrote)
}

// undo sets the memory, which has the size of the snapshot, back where it was written to.
func (in *instance) undo(s *snapshot) {
	all, _ := in.memory.Read(0, s.size)
	wrote := in.global[wroteGlobal].Get()
	in.global[wroteGlobal].Set(0)
	if wrote == ^uint64(0) {
		reset(all, s.memory, 0, len(all))
		return
	}
	grain := 1 << in.grain
	for ; wrote != 0; wrote &= wrote - 1 {
		for at := bits.TrailingZeros64(wrote) * grain; at < len(all); at += 64 * grain {
			reset(all, s.memory, at, min(at+grain+widest, len(all)))
		}
	}
}

// reset copies a piece of a snapshot, whose zeros at the end are missing.
func reset(memory, from []byte, at, end int) {
	n := 0
	if at < len(from) {
		n = copy(memory[at:end], from[at:])
	}
	clear(memory[at+n : end])
}
