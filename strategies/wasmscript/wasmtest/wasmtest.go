// Package wasmtest assembles WebAssembly modules for tests, so that they need no
// compiler. It checks nothing: broken modules are what many tests want.
package wasmtest

import (
	"encoding/binary"
	"math"
	"strings"
)

// Module is a module to assemble. The zero value is an empty one.
type Module struct {
	Imports []Import
	Funcs   []Func // after the imports
	Globals []Global
	Pages   int    // initial memory; 0 means no memory
	Table   []int  // functions by index; nil means no table
	Start   int    // index of the start function; 0 means none
	Data    []byte // at address 0
	About   string // the custom section that describes a strategy
	Extra   []Section
}

// Import is an imported function. Types are letters: i and l are i32 and i64, f and d are
// f32 and f64.
type Import struct{ Module, Name, Params, Results string }

// From returns an Import.
func From(module, name, params, results string) Import {
	return Import{Module: module, Name: name, Params: params, Results: results}
}

// Func is a function.
type Func struct {
	Name                    string // exported; empty means not
	Params, Results, Locals string // letters, as in Import
	Code                    []byte // without its end
}

// Global is a mutable global. Type is a letter, as in Import.
type Global struct {
	Type byte
	Init int64 // of an integer; floating-point globals begin with 0
}

// Section is a section by itself, put at the end.
type Section struct {
	ID      byte
	Content []byte
}

// Bytes returns the module.
func (m Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, n int, content []byte) {
		if n > 0 {
			out = appendSection(out, Section{id, append(uint32Bytes(n), content...)})
		}
	}
	var types, imports, funcs, exports, bodies []byte
	signature := func(params, results string) {
		types = Code(types, byte(0x60), name(valueTypes(params)), name(valueTypes(results)))
	}
	for i, im := range m.Imports {
		signature(im.Params, im.Results)
		imports = Code(imports, name(im.Module), name(im.Name), with(0, i))
	}
	exported := 0
	for i, f := range m.Funcs {
		index := len(m.Imports) + i
		signature(f.Params, f.Results)
		funcs = append(funcs, uint32Bytes(index)...)
		if f.Name != "" {
			exported++
			exports = Code(exports, name(f.Name), with(0, index))
		}
		body := uint32Bytes(len(f.Locals))
		for _, t := range []byte(valueTypes(f.Locals)) {
			body = append(body, 1, t)
		}
		bodies = Code(bodies, name(string(Code(body, f.Code, End))))
	}
	section(1, len(m.Imports)+len(m.Funcs), types)
	section(2, len(m.Imports), imports)
	section(3, len(m.Funcs), funcs)
	if m.Table != nil {
		section(4, 1, with(0x70, 0, len(m.Table)))
	}
	if m.Pages > 0 {
		section(5, 1, with(0, m.Pages))
		exported++
		exports = Code(exports, name("memory"), byte(2), byte(0))
	}
	section(6, len(m.Globals), m.globals())
	section(7, exported, exports)
	if m.Start > 0 {
		out = appendSection(out, Section{8, uint32Bytes(m.Start)})
	}
	if m.Table != nil {
		section(9, 1, Code(byte(0), I32(0), with(End, append([]int{len(m.Table)}, m.Table...)...)))
	}
	section(10, len(m.Funcs), bodies)
	if len(m.Data) > 0 {
		section(11, 1, Code(byte(0), I32(0), End, name(string(m.Data))))
	}
	if m.About != "" {
		out = appendSection(out, Section{0, Code(name("strategylab"), []byte(m.About))})
	}
	for _, s := range m.Extra {
		out = appendSection(out, s)
	}
	return out
}

func (m Module) globals() (b []byte) {
	for _, g := range m.Globals {
		b = append(b, valueTypes(string(g.Type))[0], 1)
		switch g.Type {
		case 'i':
			b = append(b, I32(int32(g.Init))...)
		case 'l':
			b = append(b, I64(g.Init)...)
		case 'f':
			b = append(b, 0x43, 0, 0, 0, 0)
		default:
			b = append(b, F64(0)...)
		}
		b = append(b, End)
	}
	return b
}

func appendSection(out []byte, s Section) []byte {
	return Code(out, s.ID, name(string(s.Content)))
}

func name(s string) []byte { return append(uint32Bytes(len(s)), s...) }

func uint32Bytes(n int) []byte { return binary.AppendUvarint(nil, uint64(uint32(n))) }

func valueTypes(letters string) string {
	return strings.NewReplacer("i", "\x7f", "l", "\x7e", "f", "\x7d", "d", "\x7c").Replace(letters)
}

// Instructions without operands. Those that are missing are written as their byte.
const (
	Unreachable byte = 0x00
	Else        byte = 0x05
	End         byte = 0x0b
	Return      byte = 0x0f
	Drop        byte = 0x1a
	Select      byte = 0x1b
	I32Eqz      byte = 0x45
	I32Eq       byte = 0x46
	I32LtS      byte = 0x48
	I32GtS      byte = 0x4a
	I32Add      byte = 0x6a
	I32Sub      byte = 0x6b
	I32Mul      byte = 0x6c
	I32And      byte = 0x71
	I32Shl      byte = 0x74
	F64Add      byte = 0xa0
	F64Mul      byte = 0xa2
	F64Div      byte = 0xa3
	F64FromI32  byte = 0xb7 // convert
)

// Code joins instructions: bytes and byte slices.
func Code(parts ...any) (code []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case byte:
			code = append(code, p)
		case []byte:
			code = append(code, p...)
		default:
			panic("wasmtest: Code wants bytes and byte slices")
		}
	}
	return code
}

func with(op byte, operands ...int) []byte {
	code := []byte{op}
	for _, n := range operands {
		code = append(code, uint32Bytes(n)...)
	}
	return code
}

func indexed(op byte) func(index int) []byte {
	return func(index int) []byte { return with(op, index) }
}

// Instructions with an index.
var (
	Get       = indexed(0x20) // pushes a local
	Set       = indexed(0x21) // sets a local
	Tee       = indexed(0x22) // sets a local and keeps the value
	GetGlobal = indexed(0x23)
	SetGlobal = indexed(0x24)
	Call      = indexed(0x10)
	Br        = indexed(0x0c)
	BrIf      = indexed(0x0d) // if the stack has a number other than 0
)

// CallIndirect calls the function of a table whose index is on the stack.
func CallIndirect(signature int) []byte { return with(0x11, signature, 0) }

func block(op byte) func(result byte) []byte {
	return func(result byte) []byte {
		if result == 0 {
			return []byte{op, 0x40}
		}
		return []byte{op, valueTypes(string(result))[0]}
	}
}

// What begins a block; its result is a letter, or 0 for none.
var Block, Loop, If = block(0x02), block(0x03), block(0x04)

// I32 pushes a number.
func I32(n int32) []byte { return signed(0x41, int64(n)) }

// I64 pushes a number.
func I64(n int64) []byte { return signed(0x42, n) }

func signed(op byte, n int64) []byte {
	code := []byte{op}
	for n < -64 || n > 63 {
		code = append(code, byte(n&0x7f)|0x80)
		n >>= 7
	}
	return append(code, byte(n&0x7f))
}

// F64 pushes a number.
func F64(x float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(x))
}

// Load reads memory, and Store writes to it: op is the instruction, offset is added to the address.
func Load(op byte, offset int) []byte  { return with(op, 0, offset) }
func Store(op byte, offset int) []byte { return with(op, 0, offset) }

// The instructions of Load and Store.
const (
	I32Load   byte = 0x28
	F64Load   byte = 0x2b
	I32Store  byte = 0x36
	F64Store  byte = 0x39
	I32Store8 byte = 0x3a
)

// Frequency returns a strategy: it plays the opposite of what an opponent has played more
// often, and tosses a coin where both are alike. It is that of `strategies new`.
func Frequency() Module {
	surplus := Code(Get(0), I32(1), I32Add, I32(2), I32Shl) // the address of a counter; nobody is -1
	return Module{
		Pages: 1,
		About: "Frequency\nThe opposite of the opponent's more frequent choice.\n",
		Funcs: []Func{
			{Name: "choose", Params: "i", Results: "d", Locals: "i", Code: Code(
				surplus, Load(I32Load, 0), Tee(1), I32Eqz,
				If('d'), F64(0.5), Else, Get(1), I32(0), I32LtS, F64FromI32, End,
			)},
			{Name: "observe", Params: "iiiii", Code: Code(
				Get(4), I32(0), I32LtS, If(0), Return, End, // the opponent made no choice
				surplus, surplus, Load(I32Load, 0), Get(4), I32(1), I32Shl, I32(1), I32Sub, I32Add, Store(I32Store, 0),
			)},
		},
	}
}
