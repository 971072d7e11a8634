package jsscript

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/strategies"
)

// Limits on what one seat may print in its league.
const (
	maxLine  = 500 // bytes
	maxLines = 200
)

// console is where a script prints. What is printed is put into words whether
// or not anybody listens: that may run code of the script, and a league must
// go the same way with and without a log.
type console struct {
	name  string // of the script
	log   *slog.Logger
	lines int // printed so far
}

var consoleLevels = []struct {
	method string
	level  slog.Level
}{
	{"debug", slog.LevelDebug}, {"error", slog.LevelError}, {"info", slog.LevelInfo}, {"log", slog.LevelInfo},
	{"warn", slog.LevelWarn},
}

// installConsole gives the script what it prints with, if it prints.
// Without these names in its source a script cannot print, and each function that is
// installed costs a seat a microsecond.
func (b *sandbox) installConsole(source string) {
	if strings.Contains(source, "print") {
		_ = b.vm.GlobalObject().Set("print", b.printer("print", slog.LevelInfo))
	}
	if !strings.Contains(source, "console") {
		return
	}
	o := b.vm.NewObject()
	for _, l := range consoleLevels {
		_ = o.Set(l.method, b.printer(l.method, l.level))
	}
	_ = b.vm.GlobalObject().Set("console", o)
}

// printer returns a function that prints, under a name that a script may see.
func (b *sandbox) printer(name string, level slog.Level) *goja.Object {
	c := &b.console
	f := b.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		if c.lines > maxLines {
			return goja.Undefined()
		}
		c.lines++
		line := fmt.Sprintf("the script has printed %d lines; the rest is dropped", maxLines)
		if c.lines <= maxLines {
			line = b.printed(call.Arguments)
		}
		if c.log != nil {
			c.log.LogAttrs(context.Background(), level, line, slog.String("script", c.name))
		}
		return goja.Undefined()
	}).(*goja.Object)
	_ = f.DefineDataProperty("name", b.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return f
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
		if w.Len() > maxLine {
			break
		}
	}
	return strategies.Clip(strategies.OneLine(w.String(), maxLine), maxLine)
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
		w.WriteString(strategies.Clip(key, maxLine) + ": ")
		w.value(o.Get(key), depth+1)
	}
	w.WriteByte('}')
}

func (w *writer) full() bool { return w.left <= 0 || w.Len() > maxLine }
