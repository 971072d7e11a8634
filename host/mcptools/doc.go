// Package mcptools serves a table of tools, resources and prompts by the Model
// Context Protocol (https://modelcontextprotocol.io), over streamable HTTP and
// over STDIO. The caller supplies the table; this package knows no tool.
//
//	srv, err := mcptools.New(mcptools.Config{
//		Name: "dice", Version: "1.0.0",
//		Tools: []mcptools.Tool{{
//			Name:   "roll",
//			Input:  json.RawMessage(`{"type":"object","properties":{"sides":{"type":"integer"}},"required":["sides"]}`),
//			Output: json.RawMessage(`{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}`),
//			Call:   roll,
//		}},
//	})
//	...
//	defer srv.Close()
//	err = srv.ServeStdio(ctx, os.Stdin, os.Stdout) // or mount srv.Handler()
//
// The input of a call is validated against the tool's input schema before the
// tool is called, and its output against the output schema before it is sent.
// Sessions, concurrent calls and idle time are bounded, and every goroutine has
// ended when Close returns.
package mcptools
