package schema

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
)

const maxToolName = 128

// A Tool is something that can be called by a name.
type Tool struct {
	Name string
	// Aliases are other names of the tool.
	Aliases []string
	// Input and Output are JSON Schemas, draft 2020-12, each of an object, that stand alone.
	Input, Output jsontext.Value
	// Message says that the tool is a message of the league: its field table
	// checks it, and the schemas only word what it breaks.
	Message bool
}

// A Registry holds tools by their names, and compiles each schema once, when it is first
// needed ([Registry.LoadToolIO]). It is safe for concurrent use.
type Registry struct{ tools map[string]entry } // by name and by alias

type entry struct {
	Tool
	load func() (*ToolIO, error) // once
}

// NewRegistry returns a registry of tools. It is an error if a name is empty, too long, or in use.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{make(map[string]entry)}
	for _, t := range tools {
		e := entry{t, sync.OnceValues(t.compile)}
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if name == "" || len(name) > maxToolName {
				return nil, fmt.Errorf("schema: add tool %.*q: a name has 1 to %d bytes", maxToolName, name, maxToolName)
			}
			if _, taken := r.tools[name]; taken {
				return nil, fmt.Errorf("schema: add tool %q: the name is in use", name)
			}
			r.tools[name] = e
		}
	}
	return r, nil
}

// Find returns the tool with that name or alias.
func (r *Registry) Find(name string) (_ Tool, ok bool) {
	e, ok := r.tools[name]
	return e.Tool, ok
}

// LoadToolIO returns the schemas of the tool with that name or alias. They are compiled once,
// however many ask. The error says that the tool is unknown, or what is wrong with a schema.
func (r *Registry) LoadToolIO(toolID string) (*ToolIO, error) {
	e, ok := r.tools[toolID]
	if !ok {
		return nil, fmt.Errorf("schema: unknown tool: %.*q", maxToolName, toolID)
	}
	return e.load()
}

// A ToolIO holds the schemas of one tool, ready for use. It is safe for concurrent use.
type ToolIO struct {
	Tool // as it was added
	// Fingerprint is the SHA-256, in lower-case hexadecimal, of the canonical
	// JSON (RFC 8785) of {"tool", "input", "output"}.
	Fingerprint string

	In, Out *Validator // of Input and Output
}

func (t Tool) compile() (io *ToolIO, err error) {
	io = &ToolIO{Tool: t}
	if io.In, err = Compile(t.Input); err != nil {
		return nil, fmt.Errorf("schema: tool %q: input schema: %w", t.Name, err)
	}
	if io.Out, err = Compile(t.Output); err != nil {
		return nil, fmt.Errorf("schema: tool %q: output schema: %w", t.Name, err)
	}
	doc, err := json.Marshal(map[string]any{"tool": t.Name, "input": t.Input, "output": t.Output})
	if err == nil {
		err = (*jsontext.Value)(&doc).Canonicalize()
	}
	if err != nil {
		return nil, fmt.Errorf("schema: tool %q: there is no canonical form: %w", t.Name, err)
	}
	io.Fingerprint = fmt.Sprintf("%x", sha256.Sum256(doc))
	return io, nil
}

// LeagueTools returns the tools of an agent that accepts messages of these types, by default of all,
// in the order of a league: one tool per method of a message that has an answer, with its other names
// as aliases. The input is the message as an agent in that mode requires it, the output its answer.
func LeagueTools(mode protocol.Mode, types ...protocol.Type) (tools []Tool) {
	for _, t := range protocol.Types() {
		about, _ := protocol.Describe(t)
		if about.Method == "" || about.Answer == "" || len(types) > 0 && !slices.Contains(types, t) {
			continue
		}
		input, output := protocol.Schema(t, mode, true), protocol.Schema(about.Answer, mode, false)
		tools = append(tools, Tool{Name: about.Method, Aliases: about.Names[1:], Input: input, Output: output, Message: true})
	}
	return tools
}
