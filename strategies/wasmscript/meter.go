package wasmscript

import (
	"encoding/binary"
	"math/bits"
)

// Value types, and what else the format says with a byte.
const (
	typeI32, typeI64, typeF32, typeF64 = 0x7f, 0x7e, 0x7d, 0x7c

	typeFunction, typeTable = 0x60, 0x70
)

// Instructions that the meter treats by themselves or inserts.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Store     = 0x36
	opI64Store     = 0x37
	opF32Store     = 0x38
	opF64Store     = 0x39
	opI32Store8    = 0x3a
	opI32Store16   = 0x3b
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32LtS       = 0x48
	opI64LtS       = 0x53
	opF32Eq        = 0x5b
	opF64Eq        = 0x61
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64Or        = 0x84
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opF32Copysign  = 0x98
	opF64Copysign  = 0xa6
	opI64ExtendU   = 0xad
	opI32FromF32   = 0xbc // reinterpret
	opI64FromF64   = 0xbd
	opMisc         = 0xfc

	miscMemoryInit = 8
	miscMemoryCopy = 10
	miscMemoryFill = 11

	noResult = 0x40 // the type of a block
)

// What a call may use of the stack, in words of 8 bytes. A function's frame counts with
// its locals and all its instructions, each of which may leave a value, and with
// leastFrame, which bounds the frames where they are counted instead of measured: the
// compiler and the interpreter of wazero allow different numbers.
const (
	stackWords = 1 << 20
	leastFrame = 700 // 1497 nested calls
)

// growCost is what memory.grow costs, in instructions: it may copy the memory.
const growCost = 4096

// maxLocals is the number of locals of a function, maxNesting that of its blocks within each other.
const (
	maxLocals  = 20_000
	maxNesting = 5_000
)

// meter rewrites the functions of one module. The code that it inserts
//
//   - counts instructions in the global fuel and calls refill when none are left. What
//     lies within a loop is charged whole on each round, what lies outside on the call of
//     the function: nothing else is executed twice.
//   - counts the stack in the global room around every call,
//   - notes in the global wrote where the memory is written to,
//   - replaces every NaN by the canonical one where its bits become visible.
type meter struct {
	functions, imported uint32 // all, and those of them that are imported
	globals             uint32 // the module's own
	fuel, room, wrote   uint32 // indices of our globals
	grain               byte   // see module.grain

	in     *reader
	out    []byte
	locals uint32 // of the function, its parameters included
	instrs uint32
	open   []*region // by block; a block shares that of its surroundings
	frames []int     // holes for the size of the frame
}

// region is what one charge pays for: a function or a loop without the loops in it.
type region struct {
	cost uint32
	hole int
}

// body returns the function body code, instrumented.
func (m *meter) body(code []byte, params int) []byte {
	m.in, m.out, m.instrs, m.open, m.frames = newReader(code), nil, 0, nil, m.frames[:0]
	m.declare(params)
	m.enter()
	for len(m.open) > 0 {
		m.instrs++
		m.open[len(m.open)-1].cost++
		m.instruction(m.in.byte())
	}
	if len(m.in.rest) > 0 {
		refuse("a function goes on after its end")
	}
	for _, hole := range m.frames {
		fill(m.out[hole:], max(leastFrame, m.locals+m.instrs))
	}
	return m.out
}

// declare copies the declaration of the locals and adds five of our own.
func (m *meter) declare(params int) {
	groups := m.in.count("groups of locals", maxLocals)
	m.out = appendUnsigned(m.out, uint32(groups)+5)
	total := uint64(params)
	for range groups {
		n := m.in.unsigned()
		if total += uint64(n); total > maxLocals {
			refuse("a function has more than %d locals", maxLocals)
		}
		m.out = append(appendUnsigned(m.out, n), m.numberType())
	}
	m.locals = uint32(total)
	for _, t := range []byte{typeI32, typeI64, typeF32, typeF64, typeI32} {
		m.out = append(m.out, 1, t)
	}
}

// scratch returns the index of our local of a type, address that of one for addresses.
func (m *meter) scratch(t byte) uint32 { return m.locals + uint32(typeI32-t) }
func (m *meter) address() uint32       { return m.locals + 4 }

func (m *meter) numberType() byte { return numberType(m.in) }

// enter begins a region and charges for it.
func (m *meter) enter() {
	m.emit(opGlobalGet, m.fuel)
	m.out = append(m.out, opI64Const)
	m.open = append(m.open, &region{hole: len(m.out)})
	m.out = append(appendHole(m.out), opI64Sub)
	m.charged()
}

// charged stores the fuel on top of the stack and asks for more if there is none left.
func (m *meter) charged() {
	m.emit(opLocalTee, m.scratch(typeI64))
	m.emit(opGlobalSet, m.fuel)
	m.emit(opLocalGet, m.scratch(typeI64))
	m.out = append(m.out, opI64Const, 0, opI64LtS, opIf, noResult)
	m.emit(opCall, m.imported) // refill
	m.out = append(m.out, opEnd)
}

func (m *meter) emit(op byte, index uint32) { m.out = appendUnsigned(append(m.out, op), index) }

// instruction copies one instruction with what goes before and after it.
func (m *meter) instruction(op byte) {
	switch op {
	case opBlock, opIf, opLoop:
		m.block(op)
	case opElse:
		m.out = append(m.out, op)
	case opEnd:
		m.end()
	case opBr, opBrIf:
		m.emit(op, m.in.unsigned())
	case opBrTable:
		n := m.in.unsigned()
		m.emit(op, n)
		for range uint64(n) + 1 {
			m.out = appendUnsigned(m.out, m.in.unsigned())
		}
	case opCall, opCallIndirect:
		m.call(op)
	case opSelectTyped:
		m.emit(op, uint32(m.in.count("types of a select", 1)))
		m.out = append(m.out, m.numberType())
	case opLocalGet, opLocalSet, opLocalTee:
		m.emit(op, m.index("local", m.locals))
	case opGlobalGet, opGlobalSet:
		m.emit(op, m.index("global", m.globals))
	case opI32Const:
		m.out = appendSigned(append(m.out, op), m.in.signed(32))
	case opI64Const:
		m.out = appendSigned(append(m.out, op), m.in.signed(64))
	case opF32Const:
		m.out = append(append(m.out, op), m.in.bytes(4)...)
	case opF64Const:
		m.out = append(append(m.out, op), m.in.bytes(8)...)
	case opMemorySize, opMemoryGrow:
		if op == opMemoryGrow {
			m.open[len(m.open)-1].cost += growCost
		}
		m.out = append(m.out, op, m.zero())
	case opMisc:
		m.misc(m.in.unsigned())
	default:
		m.plain(op)
	}
}

// index reads an index below most. Ours lie above: the module must not reach them.
func (m *meter) index(what string, most uint32) uint32 {
	i := m.in.unsigned()
	if i >= most {
		refuse("a function uses %s %d of %d", what, i, most)
	}
	return i
}

// zero reads the index of the only memory.
func (m *meter) zero() byte {
	if m.in.byte() != 0 {
		refuse("a function uses a second memory")
	}
	return 0
}

func (m *meter) block(op byte) {
	if len(m.open) >= maxNesting {
		refuse("a function nests more than %d blocks", maxNesting)
	}
	m.out = appendSigned(append(m.out, op), m.in.signed(33))
	if op == opLoop {
		m.enter()
		return
	}
	m.open = append(m.open, m.open[len(m.open)-1])
}

// end ends a block, and with the last one of a region pays for it.
func (m *meter) end() {
	m.out = append(m.out, opEnd)
	last := len(m.open) - 1
	if r := m.open[last]; last == 0 || m.open[last-1] != r {
		fill(m.out[r.hole:], r.cost)
	}
	m.open = m.open[:last]
}

// call takes the frame of the caller off the room for as long as the callee runs.
func (m *meter) call(op byte) {
	callee := m.in.unsigned()
	host := op == opCall && callee < m.imported
	if op == opCall && callee >= m.functions {
		refuse("a function calls function %d of %d", callee, m.functions)
	}
	if !host {
		m.frame(opI32Sub)
		m.emit(opGlobalGet, m.room)
		m.out = append(m.out, opI32Const, 0, opI32LtS, opIf, noResult, opUnreachable, opEnd)
	}
	if op == opCall {
		m.emit(op, moved(callee, m.imported))
	} else {
		m.emit(op, callee)              // a type
		m.out = append(m.out, m.zero()) // the only table
	}
	if !host {
		m.frame(opI32Add)
	}
}

// frame adds the size of the frame to the room, or takes it off.
func (m *meter) frame(op byte) {
	m.emit(opGlobalGet, m.room)
	m.out = append(m.out, opI32Const)
	m.frames = append(m.frames, len(m.out))
	m.out = append(appendHole(m.out), op)
	m.emit(opGlobalSet, m.room)
}

// misc copies an instruction with the prefix opMisc.
func (m *meter) misc(op uint32) {
	switch {
	case op < miscMemoryInit: // saturating conversions
		m.emit(opMisc, op)
	case op == miscMemoryInit:
		segment := m.in.unsigned()
		m.filling()
		m.emit(opMisc, op)
		m.out = append(appendUnsigned(m.out, segment), m.zero())
	case op == miscMemoryCopy:
		m.filling()
		m.emit(opMisc, op)
		m.out = append(m.out, m.zero(), m.zero())
	case op == miscMemoryFill:
		m.filling()
		m.emit(opMisc, op)
		m.out = append(m.out, m.zero())
	default:
		refuse("a function uses the instruction 0xfc %d, which a strategy may not: tables and data segments stay as they are", op)
	}
}

// filling charges for an instruction by the bytes on top of the stack, sixteen at a time.
// It may write anywhere.
func (m *meter) filling() {
	m.out = appendSigned(append(m.out, opI64Const), everywhere)
	m.emit(opGlobalSet, m.wrote)
	m.emit(opLocalTee, m.scratch(typeI32))
	m.emit(opGlobalGet, m.fuel)
	m.emit(opLocalGet, m.scratch(typeI32))
	m.out = append(m.out, opI64ExtendU, opI64Const, 4, opI64ShrU, opI64Sub)
	m.charged()
}

// plain copies an instruction without operands in the code, or with those of a memory access.
func (m *meter) plain(op byte) {
	switch op {
	case opF32Store, opI32FromF32, opF32Copysign:
		m.canonical(typeF32)
	case opF64Store, opI64FromF64, opF64Copysign:
		m.canonical(typeF64)
	}
	switch {
	case 0x28 <= op && op <= 0x3e:
		align := m.in.unsigned()
		if align > 3 {
			refuse("a memory access has the alignment 2^%d", align)
		}
		offset := m.in.unsigned()
		if op >= opI32Store {
			m.writing(op, offset)
		}
		m.emit(op, align)
		m.out = appendUnsigned(m.out, offset)
	case op <= 0x01, op == 0x0f, op == 0x1a, op == opSelect, 0x45 <= op && op <= 0xc4:
		m.out = append(m.out, op)
	case op == 0xfd:
		refuse("a function uses vector instructions, which a strategy may not; build without SIMD, in C with -mno-simd128")
	default:
		refuse("a function uses the instruction 0x%02x, which a strategy may not; build for WebAssembly 1.0 (MVP)", op)
	}
}

// canonical replaces a NaN on top of the stack by the canonical one. Which NaN an
// operation makes depends on the processor.
func (m *meter) canonical(t byte) {
	x := m.scratch(t)
	m.emit(opLocalTee, x)
	eq := byte(opF32Eq)
	if t == typeF32 {
		m.out = binary.LittleEndian.AppendUint32(append(m.out, opF32Const), 0x7fc00000)
	} else {
		m.out = binary.LittleEndian.AppendUint64(append(m.out, opF64Const), 0x7ff8000000000000)
		eq = opF64Eq
	}
	m.emit(opLocalGet, x)
	m.emit(opLocalGet, x)
	m.out = append(m.out, eq, opSelect)
}

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
