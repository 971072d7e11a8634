package wasmscript

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/strategies/params"
)

// What a module may have. Each bounds the work or the memory that loading it takes.
const (
	// MaxModule is the largest module, in bytes. Go's runtime alone has 2 MiB.
	MaxModule = 4 << 20

	maxPages     = 256 // of 64 KiB each
	maxTypes     = 10_000
	maxFunctions = 20_000
	maxGlobals   = 1_000
	maxTable     = 100_000 // elements
	maxExports   = 1_000
	maxImports   = 100
)

// ids of sections.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// describing is the custom section with the title and the description.
const describing = "strategylab"

// signature is the type of a function: bytes of value types.
type signature struct{ params, results string }

// module is a module that instrument has read and rewritten.
type module struct {
	code     []byte // rewritten
	about    []byte // the custom section
	params   []params.Param
	imports  []imported
	types    []signature
	funcs    []uint32          // type of each function, imported ones first
	hooks    map[string]uint32 // exported functions
	globals  uint32            // the module's own
	mutable  []uint32
	memory   bool   // there is one
	least    uint32 // pages it begins with
	most     uint32
	starts   bool // there is a start function
	startsAt uint32

	bodies  int     // functions declared, but without code so far
	entries []entry // functions that the lab calls
}

type imported struct{ module, name string }

// magic begins every module, of version 1.
var magic = []byte("\x00asm\x01\x00\x00\x00")

// instrument reads a module, checks its limits, and rewrites it: its functions are metered, its
// mutable globals exported, so that a seat can be set back to its beginning, its start function is
// called by us instead of the runtime, and what the lab calls has an entry function. It checks no
// types: wazero does that afterwards, with the code that we inserted.
func instrument(source []byte) (m *module, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case malformed:
			m, err = nil, v.error
		default:
			panic(v)
		}
	}()
	if len(source) > MaxModule {
		return nil, fmt.Errorf("the module has %d bytes, more than %d", len(source), MaxModule)
	}
	rest, ok := bytes.CutPrefix(source, magic)
	if !ok {
		return nil, fmt.Errorf("not a WebAssembly module of version 1: it begins with %q", source[:min(len(source), len(magic))])
	}
	m = &module{hooks: make(map[string]uint32), code: slices.Clone(magic)}
	m.rewrite(m.split(newReader(rest)))
	return m, nil
}

type section struct {
	id      byte
	content []byte
}

// place is where a section stands among the others: the count of data segments stands
// before the code.
func (s section) place() int {
	if s.id == sectionDataCount {
		return 2*sectionElement + 1
	}
	return 2 * int(s.id)
}

// split reads the sections, in their order, without custom ones. A section that we add to
// and that is missing is there, empty.
func (m *module) split(r *reader) (all []section) {
	for len(r.rest) > 0 {
		s := section{id: r.byte()}
		s.content = r.bytes(int(r.unsigned()))
		if s.id == sectionCustom {
			if named := m.custom(newReader(s.content)); named != nil {
				defer func() { all = append(all, section{sectionCustom, named}) }()
			}
			continue
		}
		if s.id > sectionDataCount || len(all) > 0 && s.place() <= all[len(all)-1].place() {
			refuse("section %d is unknown or in the wrong place", s.id)
		}
		if s.id == sectionStart {
			start := newReader(s.content)
			m.starts, m.startsAt = true, start.unsigned()
			start.end()
			continue
		}
		all = append(all, s)
	}
	for _, id := range []byte{sectionType, sectionImport, sectionFunction, sectionGlobal, sectionExport, sectionCode} {
		missing := section{id: id, content: []byte{0}}
		at, found := slices.BinarySearchFunc(all, missing, func(a, b section) int { return a.place() - b.place() })
		if !found {
			all = slices.Insert(all, at, missing)
		}
	}
	return all
}

// read reads what has to be known before anything is written: functions, their types, and
// the hooks among them.
func (m *module) read(all []section) {
	for _, s := range all {
		r := newReader(s.content)
		switch s.id {
		case sectionType:
			m.readTypes(r)
		case sectionImport:
			m.readImports(r)
		case sectionFunction:
			m.readFunctions(r)
		case sectionMemory:
			m.readMemory(r)
		case sectionExport:
			m.findHooks(r)
		default:
			continue
		}
		r.end()
	}
}

// rewrite writes the sections as wazero gets them.
func (m *module) rewrite(all []section) {
	m.read(all)
	for _, s := range all {
		out, r := s.content, newReader(s.content)
		switch s.id {
		case sectionType:
			out, r.rest = m.addTypes(s.content), nil
		case sectionImport:
			out, r.rest = m.addImports(s.content), nil
		case sectionFunction:
			out, r.rest = m.addEntries(), nil
		case sectionTable:
			readTables(r)
		case sectionMemory:
			out, r.rest = m.limitMemory(), nil
		case sectionGlobal:
			out = m.addGlobals(r)
		case sectionExport:
			out = m.addExports(r)
		case sectionElement:
			out = m.moveElements(r)
		case sectionCode:
			out = m.meterCode(r)
		case sectionCustom:
			r.rest = nil
			if out = m.moveNames(s.content); out == nil {
				continue
			}
		default:
			r.rest = nil // wazero reads it
		}
		r.end()
		m.code = append(appendUnsigned(append(m.code, s.id), uint32(len(out))), out...)
	}
	if m.bodies > 0 {
		refuse("%d functions have no code", m.bodies)
	}
}

// custom reads the description. It returns the names of functions, for stack traces:
// what else there is, such as positions in the code, is not true after rewriting.
func (m *module) custom(r *reader) []byte {
	whole := r.rest
	switch r.name() {
	case describing:
		const most = 10_000
		m.about = r.rest[:min(len(r.rest), most)]
		m.about = bytes.ReplaceAll(bytes.ReplaceAll(m.about, []byte("\x00"), []byte(" ")), []byte("\r"), []byte(" ")) // as long
	case "name":
		return whole
	}
	return nil
}

// Describe returns the text that describes a module, and a function that replaces it; nil
// without one.
func Describe(source []byte) (about []byte, replace func([]byte) []byte) {
	m, err := instrument(source)
	if err != nil || m.about == nil {
		return nil, nil
	}
	return m.about, func(text []byte) []byte {
		r := newReader(source[len(magic):])
		for {
			at := len(magic) + r.at()
			id, content := r.byte(), newReader(r.bytes(int(r.unsigned())))
			if id != sectionCustom || content.name() != describing {
				continue
			}
			name := appendUnsigned(nil, uint32(len(describing)))
			size := uint32(len(name) + len(describing) + len(text))
			out := append(appendUnsigned(append(slices.Clone(source[:at]), id), size), name...)
			return append(append(append(out, describing...), text...), r.rest...)
		}
	}
}

func numberType(r *reader) byte {
	t := r.byte()
	if t < typeF64 || t > typeI32 {
		refuse("the module uses values of type 0x%02x; a strategy has i32, i64, f32 and f64", t)
	}
	return t
}

func (m *module) readTypes(r *reader) {
	list := func() string {
		var types []byte
		for range r.count("values in one type", 1_000) {
			types = append(types, numberType(r))
		}
		return string(types)
	}
	for range r.count("types", maxTypes) {
		if form := r.byte(); form != typeFunction {
			refuse("a type has the form 0x%02x, want a function", form)
		}
		m.types = append(m.types, signature{list(), list()})
	}
}

func (m *module) typeIndex(r *reader) uint32 {
	i := r.unsigned()
	if i >= uint32(len(m.types)) {
		refuse("a function has type %d of %d", i, len(m.types))
	}
	return i
}

func (m *module) readFunctions(r *reader) {
	for range r.count("functions", maxFunctions) {
		m.funcs = append(m.funcs, m.typeIndex(r))
		m.bodies++
	}
}

func (m *module) readImports(r *reader) {
	for range r.count("imports", maxImports) {
		from, name := r.name(), r.name()
		if kind := r.byte(); kind != 0 {
			refuse("the module imports %s.%s, which is not a function; let the module have it, and export it", from, name)
		}
		i := m.typeIndex(r)
		checkImport(from, name, m.types[i])
		m.imports = append(m.imports, imported{from, name})
		m.funcs = append(m.funcs, i)
	}
}

func readTables(r *reader) {
	for range r.count("tables", 1) {
		if t := r.byte(); t != typeTable {
			refuse("a table has elements of type 0x%02x, want functions", t)
		}
		bounded := r.byte()
		if n := r.unsigned(); n > maxTable {
			refuse("a table has %d elements, more than %d", n, maxTable)
		}
		switch bounded {
		case 0:
		case 1:
			r.unsigned()
		default:
			refuse("a table has the limits 0x%02x", bounded)
		}
	}
}

func (m *module) readMemory(r *reader) {
	for range r.count("memories", 1) {
		m.memory = true
		bounded := r.byte()
		m.least, m.most = r.unsigned(), maxPages
		switch bounded {
		case 0:
		case 1:
			m.most = min(m.most, r.unsigned())
		default:
			refuse("the memory has the limits 0x%02x, want a memory of 32 bits that is not shared", bounded)
		}
		if m.least > m.most {
			refuse("the memory begins with %d pages of 64 KiB, more than %d", m.least, m.most)
		}
	}
}

// limitMemory gives the memory a largest size.
func (m *module) limitMemory() []byte {
	if !m.memory {
		return []byte{0}
	}
	return appendUnsigned(appendUnsigned([]byte{1, 1}, m.least), m.most)
}

func (m *module) meterCode(r *reader) []byte {
	if n := r.count("function bodies", maxFunctions); n != m.bodies {
		refuse("the module has %d functions and code for %d", m.bodies, n)
	}
	out := appendUnsigned(nil, uint32(m.bodies+len(m.entries)))
	meter := meter{
		functions: uint32(len(m.funcs)), imported: uint32(len(m.imports)),
		globals: m.globals, fuel: m.globals + fuelGlobal, room: m.globals + roomGlobal,
		wrote: m.globals + wroteGlobal, grain: m.grain(),
	}
	for ; m.bodies > 0; m.bodies-- {
		t := m.types[m.funcs[len(m.funcs)-m.bodies]]
		body := meter.body(r.bytes(int(r.unsigned())), len(t.params))
		out = append(appendUnsigned(out, uint32(len(body))), body...)
	}
	for _, e := range m.entries {
		body := m.entryBody(e)
		out = append(appendUnsigned(out, uint32(len(body))), body...)
	}
	return out
}
