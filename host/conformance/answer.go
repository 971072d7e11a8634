package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// fields are the members of a message, as they stand on the wire.
type fields map[string]json.RawMessage

// text returns a member that is a string, "" otherwise.
func (f fields) text(name string) string {
	var s string
	_ = json.Unmarshal(f[name], &s) // what is no string is none
	return s
}

// has reports whether a member is there and not null.
func (f fields) has(name string) bool { return f[name] != nil && string(f[name]) != "null" }

// Answer is a reply taken apart, as far as that is possible. It is read with a
// looser hand than the protocol asks for, since it is for each check to say
// what is wrong with it.
type Answer struct {
	Reply
	// Document is the whole body, nil if that is no JSON object.
	Document fields
	// Wrapping is the dialect that the message stood in: the name of one, or
	// "request" for an answer that is itself a request.
	Wrapping string
	// Message is the message itself, nil if there is none.
	Message fields
	// Refused says that the answer is a refusal, Code with which JSON-RPC code
	// (0 without one) and Reason what it says of it.
	Refused bool
	Code    int
	Reason  string
}

// ReadAnswer takes a reply apart.
func ReadAnswer(r Reply) *Answer {
	a := &Answer{Reply: r}
	if json.Unmarshal(r.Body, &a.Document) != nil {
		a.Document = nil
		return a
	}
	if a.Document == nil {
		return a
	}
	a.locate()
	a.refusal()
	return a
}

// object reads a member that is an object, or a string that holds one.
func object(raw json.RawMessage) fields {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		raw = json.RawMessage(text)
	}
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// locate finds the message in the document.
func (a *Answer) locate() {
	result := object(a.Document["result"])
	switch {
	case a.Document.has("error"):
		a.Wrapping = protocol.DialectContracts
		e := object(a.Document["error"])
		a.Message = object(e["data"])
		if a.Message.has("envelope") {
			a.Wrapping, a.Message = protocol.DialectEnvelope, joined(a.Message, "envelope", "payload")
		}
	case a.Document.has("method"):
		a.Wrapping, a.Message = "request", object(a.Document["params"])
	case a.Document["result"] == nil:
		a.Wrapping, a.Message = protocol.DialectBare, a.Document
	case result.has("envelope"):
		a.Wrapping, a.Message = protocol.DialectEnvelope, joined(result, "envelope", "payload")
	case result.has("structuredContent"):
		a.Wrapping, a.Message = protocol.DialectTool, object(result["structuredContent"])
	case result.has("content"):
		a.Wrapping, a.Message = protocol.DialectTool, content(result["content"])
	case result.has("output"):
		a.Wrapping, a.Message = protocol.DialectToolIO, object(result["output"])
	default:
		a.Wrapping, a.Message = protocol.DialectContracts, result
	}
}

// joined puts the members of two objects together.
func joined(f fields, names ...string) fields {
	out := fields{}
	for _, name := range names {
		for k, v := range object(f[name]) {
			out[k] = v
		}
	}
	return out
}

// content reads the text of an MCP tool result.
func content(raw json.RawMessage) fields {
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return nil
	}
	return object(json.RawMessage(parts[0].Text))
}

// refusal finds out whether the answer is one, however it is told.
func (a *Answer) refusal() {
	var e struct {
		Code    json.Number
		Message string
	}
	switch t := protocol.Type(a.Message.text("message_type")); {
	case a.Document.has("error"):
		a.Refused = true
		_ = json.Unmarshal(a.Document["error"], &e) // an error of any form refuses
		if n, err := e.Code.Int64(); err == nil {
			a.Code = int(n)
		}
		a.Reason = e.Message
	case string(object(a.Document["result"])["isError"]) == "true":
		a.Refused = true
	case t == protocol.TypeLeagueError, t == protocol.TypeGameError, t == "ERROR":
		a.Refused = true
	case strings.EqualFold(a.Message.text("status"), "error"), a.Message.text("status") == protocol.StatusRejected:
		a.Refused = true
	}
	for _, name := range []string{"detail", "error_description", "reason", "error"} {
		if s := a.Message.text(name); a.Refused && s != "" {
			a.Reason = strings.TrimPrefix(a.Reason+": "+s, ": ")
			break
		}
	}
}

// String says in a few words what the answer is.
func (a *Answer) String() string {
	switch {
	case a.Err != nil:
		return "no answer: " + a.Err.Error()
	case a.Refused && a.Code != 0:
		return fmt.Sprintf("a refusal: %d %s", a.Code, a.Reason)
	case a.Refused:
		return "a refusal: " + a.Reason
	case len(a.Body) == 0:
		return fmt.Sprintf("HTTP %d with an empty body", a.Status)
	case a.Document == nil:
		return fmt.Sprintf("HTTP %d with a body that is no JSON object", a.Status)
	case a.Message.text("message_type") != "":
		return "a " + a.Message.text("message_type")
	}
	return fmt.Sprintf("HTTP %d with a message without message_type", a.Status)
}
