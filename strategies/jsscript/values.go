package jsscript

import (
	"reflect"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/host/game"
)

// plain makes values of texts and numbers. They belong to no runtime.
var plain = new(goja.Runtime)

// The words that scripts are told, by the host's numbers for them.
var (
	parities = [...]goja.Value{
		game.NoParity: goja.Null(), game.Even: plain.ToValue("even"), game.Odd: plain.ToValue("odd"),
	}
	roles = [...]goja.Value{
		game.NoRole: goja.Null(), game.RoleA: plain.ToValue("PLAYER_A"), game.RoleB: plain.ToValue("PLAYER_B"),
	}
	results = [...]goja.Value{
		game.NoResult: goja.Null(), game.Win: plain.ToValue("win"), game.Drawn: plain.ToValue("draw"),
		game.Loss: plain.ToValue("loss"), game.TechnicalLoss: plain.ToValue("technical_loss"),
	}
)

// word makes a value of a text of which empty means unknown.
func word(s string) goja.Value {
	if s == "" {
		return goja.Null()
	}
	return plain.ToValue(s)
}

func number(n int) goja.Value { return plain.ToValue(n) }

// What goja exports is the one thing that tells some kinds of objects apart. It
// may be asked of any object without running code of the script.
var (
	proxyType = reflect.TypeFor[goja.Proxy]()
	mapType   = reflect.TypeFor[[][2]any]()
	setType   = reflect.TypeFor[[]any]() // and that of arrays
)

// isProxy reports whether o is a proxy. Of a proxy nothing else may be asked
// without running code of the script.
func isProxy(o *goja.Object) bool { return o.ExportType() == proxyType }

// isArray reports whether o is an array, and not something that only looks
// like one. The length of an array is no getter, so it stays what it is.
func isArray(o *goja.Object) bool {
	return o.ExportType() == setType && o.ClassName() == "Array"
}

// className is what kind of object o is.
func className(o *goja.Object) string {
	switch t := o.ExportType(); {
	case t == proxyType:
		return "Proxy"
	case t == mapType:
		return "Map"
	case t == setType && o.ClassName() != "Array":
		return "Set"
	}
	return o.ClassName()
}
