package catalog

import (
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// Format says how the files with one extension become factories.
type Format struct {
	Ext  string // in lower case, with the dot: ".lua"
	Kind strategies.Kind
	Load Loader
}

// Loader makes a factory of a file's content. The name is what the strategy is
// called, the path what the user calls the file. Errors that are the script's
// fault are *strategies.Error of operation load. Running over the limits is
// such an error; a Loader returns in any case.
type Loader func(name, path string, source []byte, limits budget.Limits) (strategies.Factory, error)

// Formats returns the languages that scripts can be written in.
func Formats() []Format {
	return []Format{
		{".lua", strategies.Lua, func(name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
			return luascript.Compile(name, path, source, luascript.Options{Limits: l})
		}},
		{".js", strategies.JavaScript, func(name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
			return jsscript.Compile(name, path, source, jsscript.Options{Limits: l})
		}},
	}
}
