package wasmscript

import (
	"fmt"
	"strings"
)

// What instrument adds to a module:
//
//   - the import refill, after the imports of the module. So the index of every function
//     of the module itself grows by one, wherever it stands.
//   - an entry function for each function that the lab calls: it gives the call its fuel
//     and adds up what was used, which would cost more from outside.
//   - the globals of the meter, and exports of all this.
//
// A module with exports that begin with ours is refused.
const (
	ours       = "lab."
	beginEntry = ours + "begin" // of the start function

	meterModule, refillImport = ours + "meter", "refill"
)

// The globals that instrument adds, by their place after those of the module.
const (
	fuelGlobal  = iota // i64: what is left of the granted instructions, negative if none are
	roomGlobal         // i32: what is left of the stack, in words
	grantGlobal        // i64: the fuel with which a call begins
	usedGlobal         // i64: what all calls have used that ended well
	ourGlobals
)

var globalNames = [ourGlobals]string{ours + "fuel", ours + "room", ours + "grant", ours + "used"}

func entryName(hook string) string { return ours + "call." + hook }

// moved returns the index of a function of the module after the addition of refill.
func (m *module) moved(index uint32) uint32 { return moved(index, uint32(len(m.imports))) }

func moved(index, imported uint32) uint32 {
	if index >= imported {
		index++
	}
	return index
}

// addTypes adds the type of refill, which is that of _initialize too.
func (m *module) addTypes(r *reader) []byte {
	whole := r.rest
	n := m.readTypes(r)
	return append(append(appendUnsigned(nil, uint32(n)+1), listed(whole)...), typeFunction, 0, 0)
}

// listed returns the entries of a section, without their number.
func listed(content []byte) []byte {
	r := newReader(content)
	r.unsigned()
	return r.rest
}

// addImports adds refill.
func (m *module) addImports(r *reader) []byte {
	whole := r.rest
	m.readImports(r)
	out := append(appendUnsigned(nil, uint32(len(m.imports))+1), listed(whole)...)
	out = append(appendName(appendName(out, meterModule), refillImport), exportFunction)
	return appendUnsigned(out, uint32(len(m.types)))
}

// entry is a function that the lab calls, by way of one that we add. It exports that as
// name.
type entry struct {
	name     string
	function uint32 // before refill was added
}

// addEntries adds an entry function for each hook that the module exports, and for its
// start function. It returns the section of functions.
func (m *module) addEntries(all []section) []byte {
	for _, s := range all {
		if s.id == sectionExport {
			m.findHooks(newReader(s.content))
		}
	}
	for _, hook := range []string{"start", "choose", "observe", "_initialize"} {
		if index, ok := m.hooks[hook]; ok {
			m.entries = append(m.entries, entry{entryName(hook), index})
		}
	}
	if m.starts {
		if m.startsAt >= uint32(len(m.funcs)) {
			refuse("the start function is function %d of %d", m.startsAt, len(m.funcs))
		}
		m.entries = append(m.entries, entry{beginEntry, m.startsAt})
	}
	out := appendUnsigned(nil, uint32(m.bodies+len(m.entries)))
	for _, t := range m.funcs[len(m.imports):] {
		out = appendUnsigned(out, t)
	}
	for _, e := range m.entries {
		out = appendUnsigned(out, m.funcs[e.function])
	}
	return out
}

func (m *module) findHooks(r *reader) {
	for range r.count("exports", maxExports) {
		name, kind, index := r.name(), r.byte(), r.unsigned()
		if kind != exportFunction {
			continue
		}
		if index >= uint32(len(m.funcs)) {
			refuse("the module exports function %d of %d as %s", index, len(m.funcs), name)
		}
		m.hooks[name] = index
	}
}

// entryBody returns the code of an entry function.
func (m *module) entryBody(e entry) []byte {
	global := func(i uint32) uint32 { return m.globals + i }
	out := []byte{0} // no locals
	emit := func(op byte, index uint32) { out = appendUnsigned(append(out, op), index) }
	emit(opGlobalGet, global(grantGlobal))
	emit(opGlobalSet, global(fuelGlobal))
	for i := range m.types[m.funcs[e.function]].params {
		emit(opLocalGet, uint32(i))
	}
	emit(opCall, m.moved(e.function))
	emit(opGlobalGet, global(usedGlobal))
	emit(opGlobalGet, global(grantGlobal))
	emit(opGlobalGet, global(fuelGlobal))
	out = append(out, opI64Sub, opI64Add)
	emit(opGlobalSet, global(usedGlobal))
	return append(out, opEnd)
}

// addGlobals adds ours to the globals.
func (m *module) addGlobals(r *reader) []byte {
	m.globals = uint32(r.count("globals", maxGlobals))
	whole := r.rest
	for i := range m.globals {
		numberType(r)
		if r.byte() == 1 {
			m.mutable = append(m.mutable, i)
		}
		skipConstant(r, "a global begins with")
	}
	out := append(appendUnsigned(nil, m.globals+ourGlobals), whole[:len(whole)-len(r.rest)]...)
	for i := range ourGlobals {
		if i == roomGlobal {
			out = append(appendSigned(append(out, typeI32, 1, opI32Const), stackWords), opEnd)
		} else {
			out = append(out, typeI64, 1, opI64Const, 0, opEnd)
		}
	}
	return out
}

// skipConstant reads an expression. There are no imported globals, so it is a number.
func skipConstant(r *reader, what string) {
	for {
		switch op := r.byte(); op {
		case opEnd:
			return
		case opI32Const:
			r.signed(32)
		case opI64Const:
			r.signed(64)
		case opF32Const:
			r.bytes(4)
		case opF64Const:
			r.bytes(8)
		default:
			refuse("%s the instruction 0x%02x, want a number", what, op)
		}
	}
}

// The kinds of exports.
const exportFunction, exportGlobal = 0, 3

// addExports adds ours to the exports.
func (m *module) addExports(r *reader) []byte {
	n := r.count("exports", maxExports)
	var out []byte
	add := func(name string, kind byte, index uint32) {
		out = appendUnsigned(append(appendName(out, name), kind), index)
	}
	for range n {
		name, kind, index := r.name(), r.byte(), r.unsigned()
		switch {
		case strings.HasPrefix(name, ours):
			refuse("the module exports %s, a name that the lab needs", name)
		case kind == exportFunction:
			index = m.moved(index)
		case kind == exportGlobal && index >= m.globals:
			refuse("the module exports global %d of %d as %s", index, m.globals, name)
		}
		add(name, kind, index)
	}
	for i, name := range globalNames {
		add(name, exportGlobal, m.globals+uint32(i))
	}
	for i, index := range m.mutable {
		add(stateName(i), exportGlobal, index)
	}
	for i, e := range m.entries {
		add(e.name, exportFunction, uint32(len(m.funcs)+1+i))
	}
	return append(appendUnsigned(nil, uint32(n+ourGlobals+len(m.mutable)+len(m.entries))), out...)
}

func stateName(i int) string { return fmt.Sprint(ours, "global.", i) }

// moveElements moves the indices with which tables begin.
func (m *module) moveElements(r *reader) []byte {
	n := r.count("segments of a table", maxTable)
	out := appendUnsigned(nil, uint32(n))
	for range n {
		if form := r.unsigned(); form != 0 {
			refuse("a segment of a table has the form %d, want 0: the table, and functions by index; build for WebAssembly 1.0 (MVP)", form)
		}
		before := r.rest
		skipConstant(r, "the place of a segment of a table is")
		out = append(append(out, 0), before[:len(before)-len(r.rest)]...)
		functions := r.count("functions in a table", maxTable)
		out = appendUnsigned(out, uint32(functions))
		for range functions {
			out = appendUnsigned(out, m.moved(r.unsigned()))
		}
	}
	return out
}

// moveNames returns the custom section with the names of functions, for stack traces; nil
// if there are none that can be read.
func (m *module) moveNames(content []byte) (out []byte) {
	defer func() {
		if _, broken := recover().(malformed); broken {
			out = nil
		}
	}()
	const ofFunctions = 1
	r := newReader(content)
	out = appendName(nil, r.name())
	for len(r.rest) > 0 {
		id, names := r.byte(), newReader(r.bytes(int(r.unsigned())))
		if id != ofFunctions {
			continue
		}
		n := names.count("names", maxFunctions+maxImports)
		moved := appendUnsigned(nil, uint32(n))
		for range n {
			moved = appendUnsigned(moved, m.moved(names.unsigned()))
			moved = appendName(moved, names.name())
		}
		return append(appendUnsigned(append(out, id), uint32(len(moved))), moved...)
	}
	return nil
}
