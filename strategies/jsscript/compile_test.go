package jsscript_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

func TestInfo(t *testing.T) {
	for _, tt := range []struct{ name, head, title, description string }{
		{"none", "", "", ""},
		{"one line", "// Title\n", "Title", ""},
		{"lines", "// Title\n//\n// It does this,\n// and that.\n\n// not this\n", "Title", "It does this, and that."},
		{"block", "/* Title\n   more of it */\n", "Title", "more of it"},
		{"doc block", "/**\n * Title\n *\n * Some more\n * of it.\n */\n", "Title", "Some more of it."},
		{"byte order mark", "\ufeff// Title\n", "Title", ""},
		{"interpreter", "\ufeff#!/usr/bin/env node\r\n// Title\r\n", "Title", ""},
		{"blank lines first", "\n\n  // Title\r\n  // more\r\n", "Title", "more"},
		{"strict", "// Title\n\"use strict\";\n", "Title", ""},
		{"code first", "'use strict'; // Title\n", "", ""},
		{"control characters", "// Ti\x1btle\tof it\n", "Ti\ufffdtle of it", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			info := compile(t, tt.head+"function choose() { return 'even' }").Info()
			if info.Title != tt.title || info.Description != tt.description {
				t.Errorf("title %q, description %q, want %q, %q", info.Title, info.Description, tt.title, tt.description)
			}
			if info.Name != "test" || info.Kind != strategies.JavaScript || info.Source != source || len(info.Fingerprint) != 64 {
				t.Errorf("Info() = %+v", info)
			}
		})
	}
}

// TestModules: what people and bundlers write plays, with its lines where they were.
func TestModules(t *testing.T) {
	const odd = "function choose() { return 'odd' }\n"
	for _, script := range []string{
		"export " + odd,
		"export default " + odd,
		"export default function () { return 'odd' }",
		"export default () => 'odd'",
		"export default { answer: 'odd', choose() { return this.answer } }",
		"export default class { static choose() { return 'odd' } }",
		"export const choose = () => 'odd', more = 1",
		odd + "export { choose }",
		"function bot_choose() { return 'odd' }\nexport {\n  bot_choose as choose, // here\n};",
		"let f = () => 'odd'\nexport { f as 'choose', }",
		odd + "export { choose as default };",
		"const s = 'export x', r = /export {/, t = `export ${1}`; // export y\n({ export: 1 }).export\nexport " + odd,
		"/* é */ export " + odd,
		"module.exports = { choose: () => 'odd' }",
		"module.exports = () => 'odd'",
		"exports.choose = () => 'odd'",
		"module.exports = { default: { choose: () => 'odd' }, __esModule: true }",
		"module.exports = new (class { #answer = 'odd'; choose() { return this.#answer } })",
		"var bot = (() => { " + odd + "return { choose } })()",
		"'use strict'; var bot = (function () { const all = {}; Object.defineProperty(all, 'choose', { get: () => () => 'odd' }); return all })()",
		"const module = 1; const exports = 2; " + odd,
	} {
		if c, err := ask(t, script); c != strategies.Odd || err != nil {
			t.Errorf("%s: %v, %v, want odd", script, c, err)
		}
	}
	_, err := jsscript.Compile("test", source, []byte("export default\n\nfunction choose() {}\nnull.x"), jsscript.Config{Limits: patient})
	want(t, err, strategies.OpLoad, game.FaultError, source+":4", "TypeError")
	if c, err := ask(t, "export let n = 0\nexport function start() { n++ }\nexport function choose() { return n ? 'odd' : 'even' }"); c != strategies.Odd || err != nil {
		t.Errorf("start of a module: %v, %v", c, err)
	}
}

// TestConsoleDecidesNothing: every method of the console exists, and none throws.
func TestConsoleDecidesNothing(t *testing.T) {
	c, err := ask(t, body(`const all = "assert clear count countReset debug dir dirxml error group groupCollapsed groupEnd info log profile profileEnd table time timeEnd timeLog timeStamp trace warn";
for (const name of all.split(" ")) { console[name](); console[name]({ get x() { throw 1 } }, turn) }
const { log } = console; log("x"); console.log = () => {}; console.log(1);
return "odd"`))
	if c != strategies.Odd || err != nil {
		t.Errorf("%v, %v, want odd", c, err)
	}
}

func TestLoadErrors(t *testing.T) {
	const even = "function choose() { return 'even' }\n"
	for _, tt := range []struct {
		name, script, where, text string
		fault                     game.Fault
	}{
		{"empty", "", source, "there is no function choose", game.FaultError},
		{"no function", "const choose = 'even'", source, "there is no function choose", game.FaultError},
		{"never initialised", "if (false) var choose; let x", source, "there is no function choose", game.FaultError},
		{"a getter that throws", "Object.defineProperty(globalThis, 'choose', { get() { throw 1 } })", source, "there is no function choose", game.FaultError},
		{"syntax", even + "let = ;", source + ":2", "Unexpected", game.FaultError},
		{"unclosed", "function choose() {\n", "", "is a closing bracket missing?", game.FaultError},
		{"strict", even + "with ({}) {}", source + ":2", "with", game.FaultError},
		{"import", "import fs from 'fs'\n" + even, source + ":1", "a script cannot import: it has no files", game.FaultError},
		{"export from", even + "\nexport {x} from 'x'", source + ":3", "cannot export from another file", game.FaultError},
		{"export all", even + "export * from 'x'", source + ":2", "cannot export from another file", game.FaultError},
		{"many exports", even + strings.Repeat("export {}\n", 100), source, "more than 64 exports", game.FaultError},
		{"export in a block", even + "if (1) { export let x }}", source + ":2", "Unexpected", game.FaultError},
		{"function in a function", "(() => {\n  function choose() {}\n})()", source + ":2", "add globalThis.choose = choose;", game.FaultError},
		{"throws", even + "\nnull.x", source + ":3", "TypeError", game.FaultError},
		{"duplicate", "let a; let a;", source + ":1", "already been declared", game.FaultError},
		{"undeclared", even + "oops = 1", source + ":2", "oops is not defined", game.FaultError},
		{"node", even + "const fs = require('fs')", source + ":2", "there are no modules", game.FaultError},
		{"clock", even + "const began = Date.now()", source + ":2", "scripts see no clock", game.FaultError},
		{"bad pattern", even + "const r = /(/", source + ":2", "Unterminated group", game.FaultError},
		{"loops", even + "while (true) {}", "", "exceeded its time limit", game.FaultTimeout},
		{"recurses", "function choose() { choose() }\nchoose()", source + ":1", "nested too deeply", game.FaultBudget},
		{"too long", even + strings.Repeat("// more\n", 40_000), source, "bytes, more than", game.FaultError},
		{"no text", even + "// \xff", source, "UTF-8", game.FaultError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limits := patient
			if tt.fault == game.FaultTimeout {
				limits = budget.Limits{Time: limit}
			}
			f, err := jsscript.Compile("test", source, []byte(tt.script), jsscript.Config{Limits: limits})
			if err == nil {
				_ = f.Close()
			}
			want(t, err, strategies.OpLoad, tt.fault, tt.where, tt.text)
		})
	}
}

// A source map may name any file, and the parser would read it.
func TestSourceMapsAreNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not-there.map")
	compile(t, body("return 'even'")+"\n//# sourceMappingURL=file://"+path+"\n")
	compile(t, body("return 'even'")+"\n//# sourceMappingURL=/dev/zero\n")
}

// TestReturnsOutsideOfFunctions loads what node runs as the body of a function.
func TestReturnsOutsideOfFunctions(t *testing.T) {
	for _, text := range []string{
		"module.exports = { choose() { return 'odd' } }; return;",
		"#!/usr/bin/env node\nfunction choose() { return 'odd' }\nif (true) return;\nthrow new Error('not reached');",
		"'use strict';\nif (false) { return }\nexports.choose = () => 'odd';",
		"function choose() { return 'odd' }\nreturn choose",
	} {
		st, err := compile(t, text).New(t.Context(), setup(game.Key{}))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if c, err := st.Choose(t.Context(), &strategies.Turn{}); err != nil || c != strategies.Odd {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
	var se *strategies.Error
	_, err := jsscript.Compile("x", "x.js", []byte("function choose() { return 1 }\nreturn;\nlet y = ;"), jsscript.Config{})
	if !errors.As(err, &se) || se.Line != 3 {
		t.Errorf("error %v, want one of line 3", err)
	}
}
