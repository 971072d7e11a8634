package jsscript

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// choice reads an answer of choose. It asks nothing of an object: that would
// run code of the script.
func choice(answer goja.Value) (strategies.Choice, *failure) {
	switch {
	case answer == parities[game.Even]:
		return strategies.Even, nil
	case answer == parities[game.Odd]:
		return strategies.Odd, nil
	case goja.IsNumber(answer):
		if c := strategies.Choice(answer.ToFloat()); c.Valid() {
			return c + 0, nil // -0 is 0
		}
	}
	if s, ok := answer.(goja.String); ok && s.Length() <= len("even") {
		// A text that was put together may be represented in another way.
		switch s.String() {
		case "even":
			return strategies.Even, nil
		case "odd":
			return strategies.Odd, nil
		}
	}
	return 0, &failure{err: strategies.InvalidChoice(shown(answer)), hint: choiceHint(answer)}
}

func choiceHint(answer goja.Value) string {
	switch v := answer.(type) {
	case nil:
		return "does choose return on every path?"
	case goja.String:
		if s := strings.ToLower(strings.TrimSpace(textOf(v))); s == "even" || s == "odd" {
			return "in lower case, and nothing around it"
		}
	case *goja.Object:
		if _, ok := goja.AssertFunction(v); ok {
			return "is it to be called?"
		}
	default:
		if goja.IsUndefined(v) {
			return "does choose return on every path?"
		}
	}
	return ""
}

// shown is how a value looks in a message.
func shown(v goja.Value) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case goja.String:
		return strconv.Quote(textOf(v))
	case *goja.Symbol:
		return "a symbol"
	case *goja.Object:
		return shownObject(v)
	}
	if goja.IsNumber(v) {
		if f := v.ToFloat(); math.IsNaN(f) {
			return "NaN, which is not a number"
		}
	}
	return strategies.OneLine(v.String(), maxMessage)
}

func shownObject(o *goja.Object) string {
	if isProxy(o) {
		return "a proxy"
	}
	switch class := o.ClassName(); class {
	case "Function":
		return "a function"
	case "Array":
		return "an array"
	case "String", "Number", "Boolean":
		return "an object of class " + class
	}
	return "an object"
}
