// Package leaguetools offers the messages that an agent of a league takes as
// tools of the Model Context Protocol: one tool for each method, under the
// method's name. What a client gives as arguments is the message, what it gets
// is the answer, and everything in between is done by the agent that the
// message would have reached otherwise: authentication, rules, refusals.
package leaguetools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
)

// An Agent is what takes the messages.
type Agent struct {
	Role protocol.Role
	// Mode is how much the agent asks of messages, Takes the types that it
	// takes.
	Mode  protocol.Mode
	Takes []protocol.Type
	// Serve answers a request as the agent's endpoint would, and returns HTTP
	// status and body: jsonrpc.Serve with the agent's handler.
	Serve func(ctx context.Context, req *jsonrpc.Request) (status int, body []byte)
}

// Tools returns the tools of an agent, in the order in which a league sees its
// messages. The error says that the agent takes what is no request, which is a
// mistake in the agent.
func Tools(a Agent) ([]mcptools.Tool, error) {
	var tools []mcptools.Tool
	for _, t := range protocol.Types() {
		if !slices.Contains(a.Takes, t) {
			continue
		}
		tool, err := a.tool(t)
		if err != nil {
			return nil, fmt.Errorf("leaguetools: %w", err)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

func (a Agent) tool(t protocol.Type) (mcptools.Tool, error) {
	about, _ := protocol.Describe(t)
	input, err := protocol.RequestSchema(t, a.Mode)
	if err != nil {
		return mcptools.Tool{}, err
	}
	output, err := protocol.AnswerSchema(about.Answer, a.Mode)
	if err != nil {
		return mcptools.Tool{}, err
	}
	refusal, err := protocol.AnswerSchema(a.refusal(), protocol.Tolerant)
	if err != nil {
		return mcptools.Tool{}, err
	}
	tool := mcptools.Tool{
		Name: about.Method, Title: about.Title, Description: describe(about, a.Mode),
		Input: alone(input), Output: alone(output), Refusal: alone(refusal), Guarded: true,
	}
	annotate(&tool, t)
	tool.Call = func(ctx context.Context, call *mcptools.Call) (json.RawMessage, error) {
		return a.call(ctx, t, call)
	}
	return tool, nil
}

// refusal is the type of the agent's refusals.
func (a Agent) refusal() protocol.Type {
	if a.Role == protocol.RoleManager {
		return protocol.TypeLeagueError
	}
	return protocol.TypeGameError
}

// alone returns a schema without the name that other schemas know it by: a
// client would take it for an address.
func alone(schema []byte) json.RawMessage {
	var doc map[string]json.RawMessage
	if json.Unmarshal(schema, &doc) != nil {
		return schema
	}
	delete(doc, "$id")
	delete(doc, "$schema") // it is what the standard assumes
	out, err := json.Marshal(doc)
	if err != nil {
		return schema
	}
	return out
}

// call sends the message to the agent in MCP's own wrapping, and reads what
// comes back.
func (a Agent) call(ctx context.Context, t protocol.Type, call *mcptools.Call) (json.RawMessage, error) {
	raw := slices.Concat([]byte(`{"jsonrpc":"2.0","id":"`+jsonrpc.RandomID()+`","method":"tools/call","params":{"name":"`+call.Tool+`","arguments":`), call.Input, []byte("}}"))
	status, body := a.Serve(ctx, &jsonrpc.Request{
		Raw: jsontext.Value(raw), Transport: call.Transport, Route: call.Route, RemoteAddr: call.RemoteAddr, Host: call.Host, Header: plain(call.Header),
	})
	return read(t, status, body)
}

// plain returns the header without what says that the request came by MCP: the
// message is the league's now.
func plain(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	h = h.Clone()
	for _, name := range []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"} {
		h.Del(name)
	}
	h.Set("Accept", "application/json")
	return h
}

// anyAnswer reads an answer wherever it may sit.
var anyAnswer = protocol.NewCodec(protocol.Tolerant)

// read returns the answer in the body of a response, or the refusal as an
// error.
func read(t protocol.Type, status int, body []byte) (json.RawMessage, error) {
	answer, err := protocol.ParseAnswer(status, body)
	if err != nil {
		return nil, fmt.Errorf("the agent's answer cannot be read: %w", err)
	}
	var result struct {
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if answer.Result.Kind() == '{' && json.Unmarshal(answer.Result, &result) == nil && result.Structured != nil {
		if result.IsError {
			return nil, refusal(result.Structured, "")
		}
		return result.Structured, nil
	}
	if answer.Error.Kind() == '{' {
		var e struct {
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(answer.Error, &e); err != nil {
			return nil, err
		}
		return nil, refusal(e.Data, e.Message)
	}
	// The sender has shown that it reads no answer in kind, so that this one is
	// in another wrapping.
	m, err := anyAnswer.ReadAnswer(t, answer)
	if err != nil {
		return nil, err
	}
	doc, err := protocol.Encode(m)
	return json.RawMessage(doc), err
}

// refusal returns the error for a refusal: with its fields where it has the
// form of the league, else by what text there is.
func refusal(data json.RawMessage, message string) error {
	var told struct {
		Code   string `json:"error_code"`
		Name   string `json:"error_name"`
		Detail string `json:"detail"`
	}
	if jsontext.Value(data).Kind() != '{' || json.Unmarshal(data, &told) != nil || told.Code == "" {
		var plain struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(data, &plain) // what it does not say is empty
		return errors.New(strings.TrimSpace(message + ": " + plain.Detail))
	}
	return &mcptools.Refusal{Structured: data, Text: strings.TrimSpace(told.Code + " " + told.Name + ": " + told.Detail)}
}
