package jsscript

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// printing are the methods of the console that print their arguments.
var printing = map[string]slog.Level{
	"debug": slog.LevelDebug, "dir": slog.LevelInfo, "dirxml": slog.LevelInfo, "error": slog.LevelError,
	"group": slog.LevelInfo, "groupCollapsed": slog.LevelInfo, "info": slog.LevelInfo, "log": slog.LevelInfo,
	"table": slog.LevelInfo, "trace": slog.LevelInfo, "warn": slog.LevelWarn,
}

// silent are the methods that print nothing here, since there is no clock, no indentation
// and no screen.
var silent = []string{
	"clear", "countReset", "groupEnd", "profile", "profileEnd", "time", "timeEnd", "timeLog", "timeStamp",
}

// consoleObject is the object console: every method of the standard (console.spec.whatwg.org)
// and of browsers, made when a script first uses it.
type consoleObject struct {
	b    *sandbox
	made map[string]goja.Value
}

// Get implements goja.DynamicObject.
func (o *consoleObject) Get(name string) goja.Value {
	if v, ok := o.made[name]; ok {
		return v
	}
	level, prints := printing[name]
	var f func(args []goja.Value)
	switch {
	case prints:
		f = func(args []goja.Value) { o.b.print(level, args) }
	case name == "assert":
		f = func(args []goja.Value) {
			if len(args) == 0 || !args[0].ToBoolean() {
				o.b.print(slog.LevelError, append([]goja.Value{o.b.vm.ToValue("Assertion failed:")}, args[min(1, len(args)):]...))
			}
		}
	case name == "count":
		counts := map[string]int{}
		f = func(args []goja.Value) {
			label := "default"
			if len(args) > 0 {
				label = o.b.printed(args[:1])
			}
			if len(counts) < script.MaxLines || counts[label] > 0 {
				counts[label]++
			}
			o.b.print(slog.LevelInfo, []goja.Value{o.b.vm.ToValue(fmt.Sprintf("%s: %d", label, counts[label]))})
		}
	case slices.Contains(silent, name):
		f = func([]goja.Value) {}
	default:
		return nil
	}
	v := o.b.function(name, f)
	o.made[name] = v
	return v
}

// Set implements goja.DynamicObject.
func (o *consoleObject) Set(name string, v goja.Value) bool { o.made[name] = v; return true }

// Has implements goja.DynamicObject.
func (o *consoleObject) Has(name string) bool { return o.Get(name) != nil }

// Delete implements goja.DynamicObject.
func (o *consoleObject) Delete(name string) bool { o.made[name] = goja.Undefined(); return true }

// Keys implements goja.DynamicObject.
func (o *consoleObject) Keys() []string {
	return slices.Sorted(maps.Keys(printing))
}

// installConsole gives the script what it prints with, if it prints. Without these names
// in its source a script cannot print, and what is installed costs a seat a microsecond.
func (b *sandbox) installConsole(source string) {
	if strings.Contains(source, "print") {
		_ = b.vm.GlobalObject().Set("print", b.function("print", func(args []goja.Value) { b.print(slog.LevelInfo, args) }))
	}
	if strings.Contains(source, "console") {
		_ = b.vm.GlobalObject().Set("console", b.vm.NewDynamicObject(&consoleObject{b, map[string]goja.Value{}}))
	}
}

// function returns a function under a name that a script may see. What a script prints never
// decides a match: an exception of its own, thrown while it is put into words, is dropped.
func (b *sandbox) function(name string, do func(args []goja.Value)) *goja.Object {
	f := b.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		_ = b.vm.Try(func() { do(call.Arguments) })
		return goja.Undefined()
	}).(*goja.Object)
	_ = f.DefineDataProperty("name", b.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return f
}

// print prints a line.
func (b *sandbox) print(level slog.Level, args []goja.Value) {
	b.log.Print(level, func() string { return b.printed(args) })
}

// printed puts values into one line.
func (b *sandbox) printed(args []goja.Value) string {
	w := &writer{b: b, left: maxValues}
	for i, arg := range args {
		if i > 0 {
			w.WriteByte(' ')
		}
		if _, ok := arg.(goja.String); ok {
			w.WriteString(textOf(arg))
		} else {
			w.value(arg, 0)
		}
		if w.Len() > script.MaxLine {
			break
		}
	}
	return strategies.Clip(strategies.OneLine(w.String(), script.MaxLine), script.MaxLine)
}

// Limits on what is shown of an object.
const (
	maxValues = 60 // in all
	maxShown  = 20 // of one object
	maxDepth  = 3
)

// writer puts values into words.
type writer struct {
	strings.Builder
	b    *sandbox
	left int // values
}

func (w *writer) value(v goja.Value, depth int) {
	w.left--
	o, ok := v.(*goja.Object)
	if !ok {
		w.WriteString(shown(v))
		return
	}
	switch class := className(o); {
	case class == "Error":
		message, _ := w.b.thrown(o)
		w.WriteString(message)
	case class == "Array" && depth < maxDepth:
		w.array(o, depth)
	case class == "Object" && depth < maxDepth:
		w.object(o, depth)
	default:
		w.WriteString("[" + class + "]")
	}
}

func (w *writer) array(o *goja.Object, depth int) {
	n := int(o.Get("length").ToInteger())
	w.WriteByte('[')
	for i := range min(n, maxShown) {
		if i > 0 {
			w.WriteString(", ")
		}
		if w.full() {
			break
		}
		w.value(o.Get(strconv.Itoa(i)), depth+1)
	}
	if n > maxShown {
		fmt.Fprintf(w, ", ... %d in all", n)
	}
	w.WriteByte(']')
}

func (w *writer) object(o *goja.Object, depth int) {
	w.WriteByte('{')
	for i, key := range o.Keys() {
		if i > 0 {
			w.WriteString(", ")
		}
		if i == maxShown || w.full() {
			w.WriteString("...")
			break
		}
		w.WriteString(strategies.Clip(key, script.MaxLine) + ": ")
		w.value(o.Get(key), depth+1)
	}
	w.WriteByte('}')
}

func (w *writer) full() bool { return w.left <= 0 || w.Len() > script.MaxLine }
