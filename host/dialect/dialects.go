package dialect

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the dialects of the protocol itself.
const (
	DialectContracts = "contracts"
	DialectEnvelope  = "envelope"
	DialectTool      = "tool"
	DialectToolIO    = "tool-io"
	DialectBare      = "bare"
)

// Contracts is the dialect we speak first: one method per message, the fields
// flat in params and in result.
var Contracts = &Dialect{
	Name:  DialectContracts,
	Title: "One method per message, fields flat in params and result.",
}

// Envelope is the dialect with a single method and the header apart.
var Envelope = &Dialect{
	Name:    DialectEnvelope,
	Title:   "The method league.handle, the header in params.envelope, the rest in params.payload.",
	Request: Place{Method: "league.handle", Header: "envelope", Message: "payload"},
	Answer:  Place{Header: "envelope", Message: "payload"},
}

// Tool is the dialect of MCP clients: each message is a call of a tool.
var Tool = &Dialect{
	Name:    DialectTool,
	Title:   "MCP's tools/call with params.name and params.arguments.",
	Request: Place{Method: "tools/call", Name: "name", Message: "arguments"},
	Answer:  Place{Content: true, Message: "structuredContent"},
	Refusal: RefuseByToolError,
}

// ToolIO is the other form of tools/call, with tool, input and output.
var ToolIO = &Dialect{
	Name:    DialectToolIO,
	Title:   "tools/call with params.tool and params.input, answered with result.tool and result.output.",
	Request: Place{Method: "tools/call", Name: "tool", Message: "input"},
	Answer:  Place{Name: "tool", Message: "output"},
}

// Bare is the dialect without JSON-RPC: the body is the message. It is served
// in tolerant mode only.
var Bare = &Dialect{
	Name:    DialectBare,
	Title:   "No JSON-RPC: the body is the message.",
	Request: Place{Bare: true},
	Answer:  Place{Bare: true},
	Refusal: RefuseByMessage,
	Rejects: true,
}

// OfProtocol returns the dialects of the protocol itself, [Contracts] first.
func OfProtocol() []*Dialect {
	return slices.Clone(builtin)
}

// Named returns the dialect that has the name, of the protocol itself
// or of the wild, with the traits that are added to it by "+" signs:
// "contracts+numeric-ids". The error lists the names there are.
func Named(name string) (*Dialect, error) {
	base, rest, more := strings.Cut(name, "+")
	var names []string
	for _, d := range Known() {
		if d.Name == base {
			if !more {
				return d, nil
			}
			return d.withTraits(strings.Split(rest, "+"))
		}
		names = append(names, d.Name)
	}
	return nil, fmt.Errorf("protocol: there is no dialect %q; there are %s", name, strings.Join(names, ", "))
}

var builtin = []*Dialect{Contracts, Envelope, Tool, ToolIO, Bare}
