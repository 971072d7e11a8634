package validation

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/host/protocol"
)

// ErrUnknownTool is the cause when a registry does not know a tool.
var ErrUnknownTool = errors.New("there is no such tool")

// A Tool is what can be called by a name.
type Tool struct {
	Name string
	// Aliases are other names under which the tool answers.
	Aliases []string
	// Input and Output are JSON Schemas, draft 2020-12, each of an object. A
	// $ref reaches into the schema itself or, by file name, one of the schemas
	// of host/protocol ("league_query.json"); nothing is ever fetched.
	Input, Output jsontext.Value
	// Guarded says that whoever serves the tool finds out first who calls, and
	// has the input judged when it knows: see [Pipeline.Call].
	Guarded bool
}

// A Registry knows the envelope, and tools by their names, and keeps their
// validators. It is safe for concurrent use.
type Registry struct {
	cache *cache // shared with the registries made by Beside

	mu    sync.RWMutex
	tools map[string]*entry // by name and by alias
}

// entry is a tool in a registry.
type entry struct {
	Tool
	once sync.Once
	io   *ToolIO
	err  error
}

// NewRegistry returns a registry of tools. The error is that of Add.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{cache: newCache(), tools: make(map[string]*entry)}
	if err := r.Add(tools...); err != nil {
		return nil, err
	}
	return r, nil
}

// Add makes tools known. Their schemas are read when they are first wanted
// ([Registry.LoadToolIO]) or by [Registry.Check]. It is an error, and nothing
// is added, if a name is empty, too long, or taken.
func (r *Registry) Add(tools ...Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := maps.Clone(r.tools)
	for _, t := range tools {
		e := &entry{Tool: t}
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if name == "" || len(name) > maxToolName {
				return fmt.Errorf("validation: a tool has the name %.*q, want 1 to %d bytes", maxToolName, name, maxToolName)
			}
			if _, taken := added[name]; taken {
				return fmt.Errorf("validation: two tools answer to the name %q", name)
			}
			added[name] = e
		}
	}
	r.tools = added
	return nil
}

// maxToolName bounds a tool's name, in bytes.
const maxToolName = 128

// Beside returns a registry of other tools, which shares the validators of r: a
// tool that both know is compiled once. The error is that of Add.
func (r *Registry) Beside(tools ...Tool) (*Registry, error) {
	other := &Registry{cache: r.cache, tools: make(map[string]*entry)}
	if err := other.Add(tools...); err != nil {
		return nil, err
	}
	return other, nil
}

// Names returns the names of all tools, without aliases, sorted.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var names []string
	for name, e := range r.tools {
		if name == e.Name {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// LoadToolIO returns the schemas of the tool with that name or alias. They are
// compiled once for each fingerprint, however many ask and whenever. The error
// is an ErrUnknownTool, or says what is wrong with a schema.
func (r *Registry) LoadToolIO(toolID string) (*ToolIO, error) {
	e := r.find(toolID)
	if e == nil {
		return nil, fmt.Errorf("validation: %w: %.*q", ErrUnknownTool, maxToolName, toolID)
	}
	return e.load(r.cache)
}

func (r *Registry) find(toolID string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tools[toolID]
}

// Check loads every tool and returns what is wrong with their schemas, all at
// once. A server whose tools are not its own asks before it listens.
func (r *Registry) Check() error {
	var all []error
	for _, name := range r.Names() {
		if _, err := r.LoadToolIO(name); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func (e *entry) load(c *cache) (*ToolIO, error) {
	e.once.Do(func() {
		digest, err := fingerprint(e.Name, e.Input, e.Output)
		if err != nil {
			e.err = fmt.Errorf("validation: tool %q: %w", e.Name, err)
			return
		}
		e.io, e.err = c.get(digest, &e.Tool)
	})
	return e.io, e.err
}

// A ToolIO holds the schemas of one tool, ready for use. It is safe for
// concurrent use.
type ToolIO struct {
	// Tool is the tool's name, also where it was loaded by an alias.
	Tool string
	// Input and Output are the schemas as they were given.
	Input, Output jsontext.Value
	// Fingerprint is the SHA-256, in lower-case hexadecimal, of the canonical
	// JSON (RFC 8785) of {"tool", "input", "output"}.
	Fingerprint string

	input, output *jsonschema.Schema
	slots         chan struct{} // of the cache
}

// CheckInput holds input to its schema and returns what it breaks, sorted; nil
// if it keeps it. Paths begin at the input.
func (io *ToolIO) CheckInput(input jsontext.Value) []protocol.Violation {
	return io.checkInput(input, "")
}

// CheckOutput is CheckInput for output.
func (io *ToolIO) CheckOutput(output jsontext.Value) []protocol.Violation {
	return io.checkOutput(output, "")
}

// CheckRecord holds the record of a whole call, {"tool", "input", "output"}, to
// the contract: all three are there, the tool is this one, the others keep
// their schemas.
func (io *ToolIO) CheckRecord(record jsontext.Value) []protocol.Violation {
	parts, err := membersOf(record)
	if err != nil {
		return []protocol.Violation{{Path: "", Rule: "type"}}
	}
	var found []protocol.Violation
	for _, name := range []string{"tool", "input", "output"} {
		if parts[name] == nil {
			found = append(found, protocol.Violation{Path: "/" + name, Rule: "required"})
		}
	}
	if tool := parts["tool"]; tool != nil && text(tool) != io.Tool {
		found = append(found, protocol.Violation{Path: "/tool", Rule: "const"})
	}
	if parts["input"] != nil {
		found = append(found, io.checkInput(parts["input"], "/input")...)
	}
	if parts["output"] != nil {
		found = append(found, io.checkOutput(parts["output"], "/output")...)
	}
	return tidy(found)
}

func (io *ToolIO) checkInput(input jsontext.Value, root string) []protocol.Violation {
	defer io.large(input)()
	return check(io.input, input, root, maxValues)
}

// checkOutput does not bound the output, which is our own.
func (io *ToolIO) checkOutput(output jsontext.Value, root string) []protocol.Violation {
	defer io.large(output)()
	return check(io.output, output, root, len(output)+1)
}

// large lets only a few large documents be judged at once. Taken apart they
// take much memory, and judging them does nothing but compute.
func (io *ToolIO) large(doc jsontext.Value) (done func()) {
	const large = 16 << 10
	if len(doc) < large {
		return func() {}
	}
	io.slots <- struct{}{}
	return func() { <-io.slots }
}

// fingerprint identifies a tool by its name and schemas, whatever the spelling
// of the schemas.
func fingerprint(tool string, input, output jsontext.Value) (string, error) {
	for name, schema := range map[string]jsontext.Value{"input": input, "output": output} {
		if !schema.IsValid() {
			return "", fmt.Errorf("the %s schema is not JSON", name)
		}
	}
	quoted, err := jsontext.AppendQuote(nil, tool)
	if err != nil {
		return "", fmt.Errorf("the name: %w", err)
	}
	doc := jsontext.Value(slices.Concat([]byte(`{"tool":`), quoted, []byte(`,"input":`), input, []byte(`,"output":`), output, []byte("}")))
	return digestOf(doc)
}

// digestOf returns the SHA-256 of the canonical form of a document, which is
// overwritten.
func digestOf(doc jsontext.Value) (string, error) {
	if err := doc.Canonicalize(); err != nil {
		return "", fmt.Errorf("there is no canonical form: %w", err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// cache keeps compiled schemas by fingerprint.
type cache struct {
	known     sync.Map // fingerprint to *compiled
	compiled  atomic.Int64
	envelopes sync.Map      // file name to *compiledEnvelope
	slots     chan struct{} // one for each large document that is being judged
}

func newCache() *cache { return &cache{slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))} }

// compiled is the result of compiling, once.
type compiled struct {
	once sync.Once
	io   *ToolIO
	err  error
}

func (c *cache) get(digest string, t *Tool) (*ToolIO, error) {
	found, _ := c.known.LoadOrStore(digest, new(compiled))
	entry := found.(*compiled)
	entry.once.Do(func() {
		c.compiled.Add(1)
		if entry.io, entry.err = compileTool(digest, t); entry.err == nil {
			entry.io.slots = c.slots
		}
	})
	return entry.io, entry.err
}

func compileTool(digest string, t *Tool) (*ToolIO, error) {
	io := &ToolIO{Tool: t.Name, Input: t.Input, Output: t.Output, Fingerprint: digest}
	var err error
	if io.input, err = compile("input-"+digest+".json", t.Input); err != nil {
		return nil, fmt.Errorf("validation: tool %q: input schema: %w", t.Name, err)
	}
	if io.output, err = compile("output-"+digest+".json", t.Output); err != nil {
		return nil, fmt.Errorf("validation: tool %q: output schema: %w", t.Name, err)
	}
	return io, nil
}
