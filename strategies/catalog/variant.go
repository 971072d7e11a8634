package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/wasmscript"
)

// refuseValues returns the error for values that a strategy does not take.
func (e *Entry) refuseValues(err error) error {
	if len(e.Params) == 0 {
		return fmt.Errorf("strategy %s: %w", e.Info.Name, err)
	}
	var known []string
	for _, p := range e.Params {
		known = append(known, p.String())
	}
	return fmt.Errorf("strategy %s: %w; it declares %s", e.Info.Name, err, strings.Join(known, ", "))
}

// variant returns the strategy that another one is with some values of its parameters.
// It is loaded like any other, from a text with other defaults.
func (c *Catalog) variant(ctx context.Context, target, text string) (*Entry, error) {
	base, err := c.find(ctx, target)
	if err != nil {
		return nil, err
	}
	values, err := params.Read(base.Params, text)
	if err != nil {
		return nil, base.refuseValues(err)
	}
	key := fmt.Sprintf("%s\x00%s\x00%s", base.Info.Source, base.Info.Name, params.Format(values)) // is no path
	if e := c.files[key]; e != nil {
		return e, e.broken
	}
	e := &Entry{Info: base.Info, Params: slices.Clone(base.Params), loaded: base.loaded}
	e.Info.Name = params.Name(base.Info.Name, base.Params, values, maxName)
	for i, v := range params.Current(base.Params, values) {
		e.Params[i].Default = v.Text
	}
	load := c.variantOfScript
	if base.program != nil {
		load = c.variantOfPlugin
	}
	if e.Factory, err = load(ctx, base, e.Info.Name, params.Format(values)); err != nil {
		return nil, err
	}
	name := e.Info.Name // that of a plugin does not know its values
	e.Info = e.Factory.Info()
	e.Info.Name = name
	c.files[key] = e
	return e, nil
}

func (c *Catalog) variantOfScript(ctx context.Context, base *Entry, name, values string) (strategies.Factory, error) {
	path := base.Info.Source
	source, now, err := c.options.readFile(path)
	if err == nil && now.sum != base.loaded.sum {
		err = errors.New("the file changed while it was read")
	}
	if err == nil {
		source, err = WithValues(base.Info.Kind, source, values)
	}
	if err != nil {
		return nil, base.refuse(err, "")
	}
	format, _ := c.options.format(path)
	f, err := format.Load(ctx, name, path, source, c.options.Limits)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("load %s: %w", path, context.Cause(ctx))
	}
	return f, err
}

func (c *Catalog) variantOfPlugin(ctx context.Context, base *Entry, _, values string) (strategies.Factory, error) {
	all, err := c.options.OpenPlugin(ctx, base.program.key, base.program.Path, values)
	var found strategies.Factory
	for _, f := range all {
		if f.Info().Name == base.Info.Name && found == nil {
			found = f
		} else {
			err = errors.Join(err, f.Close())
		}
	}
	if found == nil && err == nil {
		err = errors.New("the program does not serve it with these values")
	}
	if err != nil {
		return nil, base.refuse(err, "")
	}
	return found, nil
}

// Declared returns the parameters of a strategy that has loaded: those in the head of its
// source or, of a module or a plugin, in its description.
func Declared(info strategies.Info, source []byte) []params.Param {
	text := []byte(strings.ReplaceAll(info.Description, " param:", "\nparam:")) // it is on one line
	if info.Kind.Script() {
		text, _ = declaring(info.Kind, source)
	}
	list, _ := params.Parse(text) // a script has been read so before; of a plugin it is a sentence
	return list
}

// declaring returns the text with the declarations of a script, and a function that replaces it.
func declaring(kind strategies.Kind, source []byte) (text []byte, replace func([]byte) []byte) {
	if kind == strategies.WebAssembly {
		return wasmscript.Describe(source)
	}
	head := params.Head(source)
	return head, func(text []byte) []byte { return slices.Concat(text, source[len(head):]) }
}

// WithValues returns the source of a script with other defaults of its parameters, given
// as params.Read reads them.
func WithValues(kind strategies.Kind, source []byte, values string) ([]byte, error) {
	if values == "" {
		return source, nil
	}
	text, replace := declaring(kind, source)
	list, err := params.Parse(text)
	if err != nil {
		return nil, err
	}
	given, err := params.Read(list, values)
	if err != nil {
		return nil, err
	}
	return replace(params.Set(text, list, given)), nil
}
