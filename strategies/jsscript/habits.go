package jsscript

import (
	"fmt"

	"github.com/strategylab/strategylab/strategies/script"
)

// jsHabits are the forms of other languages, the most specific first.
var jsHabits = script.Habits([][2]string{
	{`\belif\b|\belseif\b`, "write else if"},
	{`\blocal\b`, "declare a variable with const or let"},
	{`^\s*def\b`, "declare a function with function choose(turn) { ... }"},
	{`~=`, "\"not equal\" is !=="},
	{`\bnil\b|\bNone\b`, "use null"},
	{`\bthen\b|\bend\b\s*$`, "blocks are if (...) { ... }"},
	{`\band\b`, "in JavaScript it is &&"}, {`\bor\b`, "in JavaScript it is ||"}, {`\bnot\b`, "in JavaScript it is !"},
	{`\b(if|while|for)\b.*:\s*$|\belse\s*:`, "blocks are if (...) { ... }"},
	{`\b(if|while)\s+[^(\s]`, "put the condition in brackets: if (...) { ... }"},
	{`\.\.[^.]`, "join texts with +"},
	{`:\s*(number|string|boolean|any)\b`, "scripts are JavaScript: leave out the types of TypeScript"},
})

var (
	jsFunction = script.Pattern(`\bfunction\s+(\w+)\s*\(|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:function\b|\(?[\w\s,]*\)?\s*=>)`)
	inObject   = script.Pattern(`\bchoose\s*:|^\s*(?:static\s+)?choose\s*\([^()]*\)\s*\{|\.choose\s*=[^=]`)
)

// declaresChoose matches what makes choose a name at the top level.
var declaresChoose = script.Pattern(`\bfunction\s*\*?\s*choose\b|\bchoose\s*=[^=]|^\s*choose\b`)

// indentedChoose matches a function choose inside of something.
var indentedChoose = script.Pattern(`^\s+(?:async\s+)?function\s*\*?\s*choose\b`)

// noChoose returns the failure of a script without a function choose at its top level:
// with the place where one is declared in another way.
func (f *factory) noChoose() *failure {
	line, hint := 0, "every strategy has function choose(turn) { ... }"
	if n := f.text.First(inObject()); n > 0 {
		line, hint = n, "declare function choose(turn) { ... } by itself, outside of any class or object"
	} else if name, n := f.text.Declared("choose", jsFunction()); n > 0 {
		line, hint = n, fmt.Sprintf("rename %s to choose: upper and lower case matter", name)
	} else if n := f.text.First(indentedChoose()); n > 0 {
		return failAt(n, "build it with --format=esm, or add globalThis.choose = choose; as the last line inside that function",
			"choose is declared inside a function, where nobody can call it")
	}
	return failAt(line, hint, "there is no function choose")
}
