package jsscript_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

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
		// What node runs as the body of a function.
		"module.exports = { choose() { return 'odd' } }; return;",
		"#!/usr/bin/env node\n" + odd + "if (true) return;\nthrow new Error('not reached');",
		"'use strict';\nif (false) { return }\nexports.choose = () => 'odd';",
		odd + "return choose",
	} {
		if c, err := ask(t, script); c != strategies.Odd || err != nil {
			t.Errorf("%s: %v, %v, want odd", script, c, err)
		}
	}
	_, err := jsscript.Compile("test", source, []byte("export default\n\nfunction choose() {}\nnull.x"), patient)
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
		script, where, text string
		fault               game.Fault
	}{
		{"", source, "there is no function choose", game.FaultError},
		{"const choose = 'even'", source, "there is no function choose", game.FaultError},
		{"if (false) var choose; let x", source, "there is no function choose", game.FaultError},
		{"Object.defineProperty(globalThis, 'choose', { get() { throw 1 } })", source, "there is no function choose", game.FaultError},
		{even + "let = ;", source + ":2", "Unexpected", game.FaultError},
		{"function choose() {\n", "", "is a closing bracket missing?", game.FaultError},
		{even + "with ({}) {}", source + ":2", "with", game.FaultError},
		{"import fs from 'fs'\n" + even, source + ":1", "a script cannot import: it has no files", game.FaultError},
		{even + "\nexport {x} from 'x'", source + ":3", "cannot export from another file", game.FaultError},
		{even + "export * from 'x'", source + ":2", "cannot export from another file", game.FaultError},
		{even + strings.Repeat("export {}\n", 100), source, "more than 64 exports", game.FaultError},
		{even + "if (1) { export let x }}", source + ":2", "Unexpected", game.FaultError},
		{"(() => {\n  function choose() {}\n})()", source + ":2", "add globalThis.choose = choose;", game.FaultError},
		{even + "\nnull.x", source + ":3", "TypeError", game.FaultError},
		{"let a; let a;", source + ":1", "already been declared", game.FaultError},
		{even + "oops = 1", source + ":2", "oops is not defined", game.FaultError},
		{even + "const fs = require('fs')", source + ":2", "there are no modules", game.FaultError},
		{even + "const began = Date.now()", source + ":2", "scripts see no clock", game.FaultError},
		{even + "const r = /(/", source + ":2", "Unterminated group", game.FaultError},
		{even + "return;\nlet y = ;", source + ":3", "Unexpected", game.FaultError},
		{even + "while (true) {}", "", "exceeded its time limit", game.FaultTimeout},
		{"function choose() { choose() }\nchoose()", source + ":1", "nested too deeply", game.FaultBudget},
		{even + strings.Repeat("// more\n", 40_000), source, "bytes, more than", game.FaultError},
		{even + "// \xff", source, "UTF-8", game.FaultError},
	} {
		limits := patient
		if tt.fault == game.FaultTimeout {
			limits = budget.Limits{Time: limit}
		}
		f, err := jsscript.Compile("test", source, []byte(tt.script), limits)
		if err == nil {
			_ = f.Close()
		}
		want(t, err, strategies.OpLoad, tt.fault, tt.where, tt.text)
	}
}

// A source map may name any file, and the parser would read it.
func TestSourceMapsAreNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not-there.map")
	compile(t, body("return 'even'")+"\n//# sourceMappingURL=file://"+path+"\n")
	compile(t, body("return 'even'")+"\n//# sourceMappingURL=/dev/zero\n")
}
