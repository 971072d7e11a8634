package wasmscript

import (
	"fmt"
	"slices"
	"strings"
)

// What instrument adds to a module:
//
//   - the import refill, after the imports of the module. So the index of every function
//     of the module itself grows by one, wherever it stands.
//   - an entry function for each function that the lab calls: it gives the call its fuel
//     and adds up what was used, which would cost more from outside.
//   - one that observes an outcome and then chooses: to enter a module costs more than
//     most of its calls.
//   - the globals of the meter, and exports of all this.
//
// A module with exports that begin with ours is refused.
const (
	ours       = "lab."
	beginEntry = ours + "begin" // of the start function
	stepEntry  = ours + "step"  // observe, then choose

	meterModule, refillImport = ours + "meter", "refill"
)

// The globals that instrument adds, by their place after those of the module.
const (
	fuelGlobal  = iota // i64: what is left of the granted instructions, negative if none are
	roomGlobal         // i32: what is left of the stack, in words
	grantGlobal        // i64: the fuel with which a call begins
	usedGlobal         // i64: what all calls have used that ended well
	wroteGlobal        // i64: where the memory was written to, see wrote
	stageGlobal        // i32: 1 while a deferred outcome is observed
	ourGlobals
)

var globalNames = [ourGlobals]string{ours + "fuel", ours + "room", ours + "grant", ours + "used", ours + "wrote", ours + "stage"}

func entryName(hook string) string { return ours + "call." + hook }

// moved returns the index of a function of the module after the addition of refill.
func (m *module) moved(index uint32) uint32 { return moved(index, uint32(len(m.imports))) }

func moved(index, imported uint32) uint32 {
	if index >= imported {
		index++
	}
	return index
}

// addTypes adds the type of refill, which is that of _initialize too, and the type of a step.
func (m *module) addTypes(content []byte) []byte {
	added := []signature{{}}
	if observe, choose, both := m.stepped(); both {
		added = append(added, signature{observe.params + choose.params, choose.results})
	}
	out := append(appendUnsigned(nil, uint32(len(m.types)+len(added))), listed(content)...)
	for _, s := range added {
		out = appendName(appendName(append(out, typeFunction), s.params), s.results)
	}
	return out
}

// stepped returns the types of the two hooks of a step. Only a module that imports nothing
// but lab.random and lab.param has steps: with another, it could be seen when it observes.
func (m *module) stepped() (observe, choose signature, both bool) {
	o, observes := m.hooks["observe"]
	c, chooses := m.hooks["choose"]
	seen := slices.ContainsFunc(m.imports, func(im imported) bool { return im != randomImport && im != paramImport })
	if !observes || !chooses || seen {
		return observe, choose, false
	}
	return m.types[m.funcs[o]], m.types[m.funcs[c]], true
}

// listed returns the entries of a section, without their number.
func listed(content []byte) []byte {
	r := newReader(content)
	r.unsigned()
	return r.rest
}

// addImports adds refill.
func (m *module) addImports(content []byte) []byte {
	out := append(appendUnsigned(nil, uint32(len(m.imports))+1), listed(content)...)
	out = append(appendName(appendName(out, meterModule), refillImport), exportFunction)
	return appendUnsigned(out, uint32(len(m.types)))
}

// entry is a function that we add and the lab calls. It is exported as name and calls
// functions of the module.
type entry struct {
	name      string
	typ       uint32
	functions []uint32 // before refill was added
}

// addEntries adds an entry function for each hook that the module exports, for its start
// function, and for a step. It returns the section of functions.
func (m *module) addEntries() []byte {
	add := func(name string, function uint32) {
		m.entries = append(m.entries, entry{name, m.funcs[function], []uint32{function}})
	}
	for _, hook := range []string{"start", "choose", "observe", "_initialize"} {
		if index, ok := m.hooks[hook]; ok {
			add(entryName(hook), index)
		}
	}
	if m.starts {
		if m.startsAt >= uint32(len(m.funcs)) {
			refuse("the start function is function %d of %d", m.startsAt, len(m.funcs))
		}
		add(beginEntry, m.startsAt)
	}
	if _, _, both := m.stepped(); both {
		step := []uint32{m.hooks["observe"], m.hooks["choose"]}
		m.entries = append(m.entries, entry{stepEntry, uint32(len(m.types)) + 1, step})
	}
	out := appendUnsigned(nil, uint32(m.bodies+len(m.entries)))
	for _, t := range m.funcs[len(m.imports):] {
		out = appendUnsigned(out, t)
	}
	for _, e := range m.entries {
		out = appendUnsigned(out, e.typ)
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

// entryBody returns the code of an entry function. Each of the functions that it calls gets
// the next parameters, and fuel of its own.
func (m *module) entryBody(e entry) []byte {
	out := []byte{0} // no locals
	emit := func(op byte, index uint32) { out = appendUnsigned(append(out, op), index) }
	global := func(op byte, i uint32) { emit(op, m.globals+i) }
	stage := func(n byte) {
		out = append(out, opI32Const, n)
		global(opGlobalSet, stageGlobal)
	}
	param := uint32(0)
	for i, f := range e.functions {
		if last := i == len(e.functions)-1; !last {
			stage(1)
		} else if i > 0 {
			stage(0)
		}
		global(opGlobalGet, grantGlobal)
		global(opGlobalSet, fuelGlobal)
		for range m.types[m.funcs[f]].params {
			emit(opLocalGet, param)
			param++
		}
		emit(opCall, m.moved(f))
		global(opGlobalGet, usedGlobal)
		global(opGlobalGet, grantGlobal)
		global(opGlobalGet, fuelGlobal)
		out = append(out, opI64Sub, opI64Add)
		global(opGlobalSet, usedGlobal)
	}
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
		switch i {
		case roomGlobal:
			out = appendSigned(append(out, typeI32, 1, opI32Const), stackWords)
		case stageGlobal:
			out = append(out, typeI32, 1, opI32Const, 0)
		case wroteGlobal:
			out = appendSigned(append(out, typeI64, 1, opI64Const), everywhere)
		default:
			out = append(out, typeI64, 1, opI64Const, 0)
		}
		out = append(out, opEnd)
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
