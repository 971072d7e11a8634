package luascript

import (
	"context"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// Text returns the source, for hints.
func (f *factory) Text() *script.Text { return f.text }

// NewWatched makes a seat that reports what its script reads although it does not
// exist: fields of what the host hands out, members of libraries, and variables. A
// metatable notices that, which other seats do not have: it costs them nothing.
func (f *factory) NewWatched(ctx context.Context, s strategies.Setup, seen func(script.Slip)) (strategies.Strategy, error) {
	w := &watch{seen: seen, text: f.text}
	for _, slip := range f.differ {
		seen(slip)
	}
	seat, err := f.open(ctx, s, w)
	if err != nil {
		return nil, err
	}
	f.text.Uncalled(func(hook string) bool {
		_, has := seat.machine.state.G.Global.RawGetString(hook).(*lua.LFunction)
		return has
	}, luaFunction(), seen)
	if err := seat.begin(ctx, s); err != nil {
		_ = seat.Close()
		return nil, err
	}
	return seat, nil
}

// watch reports the slips of one seat. The zero pointer watches nothing.
type watch struct {
	seen func(script.Slip)
	text *script.Text
}

// furnish watches the libraries and the variables of a new state.
func (w *watch) furnish(l *lua.LState) {
	globals := l.G.Global
	w.inspect(l)
	for _, name := range []string{lua.TabLibName, lua.StringLibName, lua.MathLibName} {
		lib := globals.RawGetString(name).(*lua.LTable)
		w.mark(l, lib, false, func(key lua.LValue) (what, hint string) {
			return fmt.Sprintf("there is no %s.%s", name, key), libraryHint(name, lib, key)
		})
	}
	if t, ok := globals.RawGetString("params").(*lua.LTable); ok {
		w.mark(l, t, false, func(key lua.LValue) (what, hint string) {
			return fmt.Sprintf("there is no parameter %s", key), "the head of the script declares " + strings.Join(names(t), ", ")
		})
	}
	w.mark(l, globals, false, func(key lua.LValue) (what, hint string) {
		name := key.String()
		if slices.Contains([]string{"start", "choose", "observe"}, name) || w.text.Assigns(name) {
			return "", ""
		}
		return fmt.Sprintf("the variable %s is never set", name), variableHint(globals, name)
	})
}

func libraryHint(name string, lib *lua.LTable, key lua.LValue) string {
	if hint := elsewhere[name+"."+key.String()]; hint != "" {
		return hint
	}
	if near := script.Nearest(key.String(), names(lib)); near != "" {
		return fmt.Sprintf("did you mean %s.%s?", name, near)
	}
	return ""
}

func variableHint(globals *lua.LTable, name string) string {
	if hint := elsewhere[name]; hint != "" {
		return hint
	}
	if near := script.Nearest(name, names(globals)); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "is it misspelled?"
}

// names returns the text keys of a table, in order.
func names(t *lua.LTable) (list []string) {
	for key, _ := t.Next(lua.LNil); key != lua.LNil; key, _ = t.Next(key) { // ForEach has no order
		if s, ok := key.(lua.LString); ok {
			list = append(list, string(s))
		}
	}
	return list
}

// mark reports what describe says of the keys that are read from a table and not in
// it, if it says anything.
func (w *watch) mark(l *lua.LState, t *lua.LTable, doubtful bool, describe func(key lua.LValue) (what, hint string)) {
	meta := l.CreateTable(0, 1)
	meta.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		line, _, _ := cutPosition(l.Where(1))
		if what, hint := describe(l.Get(2)); what != "" && line > 0 {
			w.seen(script.Slip{Line: line, What: strategies.OneLine(what, maxMessage), Hint: hint, Doubtful: doubtful})
		}
		return 0
	}))
	l.SetMetatable(t, meta)
}

// object watches the fields of a setup, turn or outcome.
func (w *watch) object(l *lua.LState, t *lua.LTable, name string) {
	if w == nil {
		return
	}
	w.mark(l, t, false, func(key lua.LValue) (what, hint string) {
		field := key.String()
		if w.text.Assigns(field) {
			return "", ""
		}
		return script.Missing(name, field)
	})
}

// list watches the reading of a list at places where Lua has none. An empty list may
// be read at 0: t[#t] is how its last entry is read.
func (w *watch) list(l *lua.LState, t *lua.LTable, name string) {
	if w == nil {
		return
	}
	w.mark(l, t, true, func(key lua.LValue) (what, hint string) {
		switch key := key.(type) {
		case lua.LNumber:
			if key <= 0 && t.Len() > 0 {
				return fmt.Sprintf("%s is read at %s", name, key), "lists begin at 1 in Lua; the last entry is at #list"
			}
		case lua.LString:
			if !w.text.Assigns(string(key)) {
				return fmt.Sprintf("%s is a list and has no field %q", name, string(key)), "#list is its length, list[1] its first entry"
			}
		}
		return "", ""
	})
}
