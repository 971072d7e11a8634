package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
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
	// Input and Output are JSON Schemas, draft 2020-12, each of an object. A
	// $ref reaches into the schema itself or, by file name, one of the schemas
	// of host/protocol ("league_query.json"); nothing is ever fetched.
	Input, Output jsontext.Value
	// Message says that the tool is a message of the league: its field table
	// checks it, and the schemas only word what it breaks.
	Message bool
}

// A Registry holds tools by their names, and compiles each schema once. It is safe for
// concurrent use.
type Registry struct {
	slots chan struct{} // one for each large document that is being checked

	mu    sync.RWMutex
	tools map[string]*entry // by name and by alias
}

type entry struct {
	Tool
	load func() (*ToolIO, error) // once
}

// NewRegistry returns a registry of tools. The error is that of Add.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]*entry), slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
	if err := r.Add(tools...); err != nil {
		return nil, err
	}
	return r, nil
}

// Add adds tools. Their schemas are compiled when they are first needed ([Registry.LoadToolIO]). It
// is an error, and nothing is added, if a name is empty, too long, or in use.
func (r *Registry) Add(tools ...Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := maps.Clone(r.tools)
	for _, t := range tools {
		e := &entry{Tool: t, load: sync.OnceValues(func() (*ToolIO, error) { return compileTool(t, r.slots) })}
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if name == "" || len(name) > maxToolName {
				return fmt.Errorf("schema: add tool %.*q: a name has 1 to %d bytes", maxToolName, name, maxToolName)
			}
			if _, taken := added[name]; taken {
				return fmt.Errorf("schema: add tool %q: the name is in use", name)
			}
			added[name] = e
		}
	}
	r.tools = added
	return nil
}

// Find returns the tool with that name or alias.
func (r *Registry) Find(name string) (_ Tool, ok bool) {
	e := r.find(name)
	if e == nil {
		return Tool{}, false
	}
	return e.Tool, true
}

func (r *Registry) find(name string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tools[name]
}

// LoadToolIO returns the schemas of the tool with that name or alias. They are compiled once,
// however many ask. The error says that the tool is unknown, or what is wrong with a schema.
func (r *Registry) LoadToolIO(toolID string) (*ToolIO, error) {
	e := r.find(toolID)
	if e == nil {
		return nil, fmt.Errorf("schema: unknown tool: %.*q", maxToolName, toolID)
	}
	return e.load()
}

// A ToolIO holds the schemas of one tool, ready for use. It is safe for concurrent use.
type ToolIO struct {
	// Tool is the name of the tool, even if it was loaded by an alias.
	Tool string
	// Input and Output are the original schemas.
	Input, Output jsontext.Value
	// Fingerprint is the SHA-256, in lower-case hexadecimal, of the canonical
	// JSON (RFC 8785) of {"tool", "input", "output"}.
	Fingerprint string

	input, output *Validator
	slots         chan struct{} // of the registry
}

func compileTool(t Tool, slots chan struct{}) (io *ToolIO, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("schema: tool %q: %w", t.Name, err)
		}
	}()
	io = &ToolIO{Tool: t.Name, Input: t.Input, Output: t.Output, slots: slots}
	if io.input, err = Compile(t.Input, embedded); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if io.output, err = Compile(t.Output, embedded); err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	if io.Fingerprint, err = fingerprint(t); err != nil {
		return nil, err
	}
	return io, nil
}

// CheckInput validates an input against its schema and returns what it breaks,
// sorted; nil if it keeps it. The root is put before every path.
func (io *ToolIO) CheckInput(input jsontext.Value, root string) []protocol.Violation {
	defer io.large(input)()
	return check(io.input, input, root, MaxValues)
}

// CheckOutput is CheckInput for output, without a bound on its size.
func (io *ToolIO) CheckOutput(output jsontext.Value, root string) []protocol.Violation {
	defer io.large(output)()
	return check(io.output, output, root, len(output)+1)
}

// large bounds the number of large documents that are checked at once, since
// decoded they take much memory.
func (io *ToolIO) large(doc jsontext.Value) (done func()) {
	const large = 16 << 10
	if len(doc) < large {
		return func() {}
	}
	io.slots <- struct{}{}
	return func() { <-io.slots }
}

// embedded returns the schema of a message of the league, and no other.
func embedded(ref string) (jsontext.Value, error) {
	name := strings.TrimPrefix(ref, protocol.SchemaBase)
	if strings.ContainsAny(name, "/#:") {
		return nil, ErrRemoteRef
	}
	base := strings.TrimSuffix(name, ".json")
	if base == strings.ToLower(base) && base != name {
		if raw, err := protocol.Schema(protocol.Type(strings.ToUpper(base)), protocol.Strict); err == nil {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("there is no embedded schema %.100q; %w", name, ErrRemoteRef)
}

// fingerprint identifies a tool by its name and the canonical form of its schemas.
func fingerprint(t Tool) (string, error) {
	raw, err := json.Marshal(map[string]any{"tool": t.Name, "input": t.Input, "output": t.Output})
	doc := jsontext.Value(raw)
	if err == nil {
		err = doc.Canonicalize()
	}
	if err != nil {
		return "", fmt.Errorf("there is no canonical form: %w", err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// LeagueTools returns the tools of an agent that accepts messages of these types, by default of all
// types with an answer, in the order of a league: one tool per method, with its other names as
// aliases. The input is the message as an agent in that mode requires it, the output its answer. A
// type without an answer is an error.
func LeagueTools(mode protocol.Mode, types ...protocol.Type) ([]Tool, error) {
	var tools []Tool
	for _, t := range protocol.Types() {
		about, _ := protocol.Describe(t)
		answered := about.Method != "" && about.Answer != ""
		switch wanted := slices.Contains(types, t); {
		case len(types) == 0 && !answered || len(types) > 0 && !wanted:
			continue
		case !answered:
			return nil, fmt.Errorf("schema: %s has no answer, so it cannot be a tool", t)
		}
		// The types are known, and come as a request and as an answer.
		input, _ := protocol.RequestSchema(t, mode)
		output, _ := protocol.Schema(about.Answer, mode)
		tools = append(tools, Tool{Name: about.Method, Aliases: about.Names[1:], Input: input, Output: output, Message: true})
	}
	return tools, nil
}
