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

// shipped has the fingerprints of the scripts that come with the program. One that a user
// has edited is the user's.
var shipped = map[string]bool{
	"a07ac49727865805a5abeb186caf5bf519df4284e952322876e1bbcd5ddb0928": true, // bandit.js
	"d9c9d4ad45f9fdd79e0c74877fa44fb579efdfe821868e9cfc23ed40cc847827": true, // council.lua
	"adbcb7c4489845066a1e9f733941dd34c1c6e99510cb869e28c55eff0d537071": true, // drift.lua
	"d8cabdeb7b38ce1686e285d745702b724cfa81622049c49701e630d77848485f": true, // echo.js
	"ceb5d418ea0393be1efa0a90d45f5b7422c7592c98ae3dfab26bc089e22f96e0": true, // ledger.js
	"4b40e65860bb30f9d435bd1a0c54429739b3976f6c2f9cbcb413e858ac5566b7": true, // pairwise.lua
	"018ed7cf3e5ab3aff96e52ab134c15fd6069860481b8630047824c050f7a0f13": true, // rhythm.js
	"5c791e30d70d76e08f6c546e93d872e5c33c78366d63587d0a5f8919089d1eb0": true, // settle.lua
}

// Shipped reports whether a strategy comes with the program: built in, one of its scripts,
// or one of the plugins that it builds, whose fingerprints differ from machine to machine.
func Shipped(kind strategies.Kind, name, fingerprint string) bool {
	switch kind {
	case strategies.Builtin:
		return true
	case strategies.Plugin:
		return name == "frequency-plugin" || name == "thue-morse"
	}
	return shipped[fingerprint]
}
