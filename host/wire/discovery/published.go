package discovery

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Tool is a tool of an MCP server.
type Tool struct {
	Name  string
	Input Schema // of its arguments
}

// A Toolbox holds the tools that a peer lists; nil where it lists none.
type Toolbox []Tool

// ReadTools reads the result of tools/list, at most 200 tools. It reports whether it is one.
func ReadTools(result jsontext.Value) (Toolbox, bool) {
	doc := rawjson.Split(result)
	if doc.Get("tools").Kind() != '[' {
		return nil, false
	}
	var all Toolbox
	for _, e := range rawjson.Elements(doc.Get("tools")) {
		if e.Kind() == '"' {
			all = append(all, Tool{Name: string(rawjson.Text(e))})
			continue
		}
		tool := rawjson.Split(e)
		if tool.Text("name") == "" {
			continue
		}
		all = append(all, Tool{Name: tool.Text("name"), Input: NewSchema(tool.Get("inputSchema", "input_schema", "parameters"))})
	}
	return all[:min(len(all), 200)], true
}

// For returns the tool that takes a type of message.
func (b Toolbox) For(t protocol.Type) (Tool, bool) {
	if at := protocol.Best(t, b.Names()); at >= 0 {
		return b[at], true
	}
	return Tool{}, false
}

// Names returns the names of the tools.
func (b Toolbox) Names() []string {
	names := make([]string, len(b))
	for i, tool := range b {
		names[i] = tool.Name
	}
	return names
}

// An Operation is a POST that a server publishes in its OpenAPI description.
type Operation struct {
	Path  string
	Name  string // its operationId, or else its summary; may be empty
	Body  Schema // of the JSON body
	Query Schema // of the parameters of the URL
}

// ReadOpenAPI reads an OpenAPI description, at most 200 operations. It reports whether it is one.
func ReadOpenAPI(raw []byte) ([]Operation, bool) {
	doc, err := rawjson.Parse(raw)
	if err != nil || doc.Get("paths").Kind() != '{' {
		return nil, false
	}
	var all []Operation
	for _, p := range rawjson.Split(doc.Get("paths")) {
		post := rawjson.Split(rawjson.Split(p.Value).Get("post"))
		if post == nil || len(all) == 200 || !strings.HasPrefix(p.Name, "/") || strings.Contains(p.Name, "{") {
			continue
		}
		op := Operation{Path: p.Name, Name: post.Text("operationId"), Query: queryOf(post, raw)}
		if op.Name == "" {
			op.Name = post.Text("summary")
		}
		if body := follow(post.Get("requestBody"), "/content/application~1json/schema"); body != nil {
			op.Body = within(raw, body, 0)
		}
		all = append(all, op)
	}
	return all, true
}

// queryOf returns the parameters of the URL of an operation as one schema.
func queryOf(post rawjson.Object, root jsontext.Value) Schema {
	s := Schema{root: root}
	for _, e := range rawjson.Elements(post.Get("parameters")) {
		p := rawjson.Split(e)
		if p.Text("in") != "query" || p.Text("name") == "" {
			continue
		}
		s.properties = append(s.properties, rawjson.Member{Name: p.Text("name"), Value: p.Get("schema")})
		if p.Get("required").Kind() == 't' {
			s.required = append(s.required, p.Text("name"))
		}
	}
	return s
}

// general are the words of paths that take messages of all types.
var general = []string{"api", "rpc", "jsonrpc", "mcp", "league", "manager", "agent", "message", "messages", "handle", "endpoint", "protocol", "v1", "v2"}

// General reports whether an operation takes messages of any type: its body is that of a JSON-RPC
// request or, where that is not described, its path names no action, or JSON-RPC.
func (o Operation) General() bool {
	declared, words := o.Body.properties, protocol.WordsOf(o.Path)
	return declared.Get("method") != nil || len(declared) == 0 &&
		(slices.ContainsFunc(words, func(w string) bool { return w == "mcp" || w == "rpc" || w == "jsonrpc" }) ||
			!slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(general, w) }))
}

// Fit returns how well an operation fits a type of message, by its path or its name.
func (o Operation) Fit(t protocol.Type) int {
	return max(protocol.Fit(o.Path, t), protocol.Fit(o.Name, t))
}
