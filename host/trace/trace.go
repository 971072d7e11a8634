// Package trace records the messages that league.v2 agents exchange, reads
// recordings back, and shows them as a conversation.
//
// A recording is a file of JSON lines. The first line of each run names the
// recorder and the time ([Head]); every other line is one message ([Line]): the
// request that opens an exchange, the answer that closes it, or a [Remark]. Messages are
// stored as they were on the wire, except that tokens and keys are replaced by
// names that only tell them apart.
//
// A [Recorder] hands out taps, one for each agent of a process; each goes into
// the configuration of the agent's endpoint and client. [Read] returns the
// exchanges of a recording; [Show] prints them for people.
package trace

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Schema is the value of [Head.Schema].
const Schema = "strategylab/trace/v1"

// beginning is how each recording begins.
const beginning = `{"trace":"` + Schema

// Head is the first line of each run of a recorder. A recording that was
// continued has several.
type Head struct {
	Schema  string    `json:"trace"`
	Command string    `json:"command"` // that recorded: "player", "host"
	Began   time.Time `json:"began"`
}

// Part says which side of an exchange a line is, or that it is a remark.
type Part string

// The parts of an exchange, and a remark, which is a line of its own.
const (
	Request Part = "request"
	Answer  Part = "answer"
	Remarks Part = "remark"
)

// Remark is what a program knows about a match and tells no other agent, such as the
// error of a player's script.
type Remark struct {
	At    time.Time `json:"time"`
	Agent string    `json:"agent"` // that it is about, as the recorder names it
	Match string    `json:"match_id,omitempty"`
	Text  string    `json:"text"`
}

// Line is one message, or a remark.
type Line struct {
	// Time is when the message passed by the recorder's clock, UTC.
	Time time.Time `json:"time"`
	// Exchange is the number that a request shares with its answer, from 1 in
	// each run.
	Exchange int64 `json:"exchange"`
	Part     Part  `json:"part"`
	// Agent is the agent that recorded: "manager", "REF01", "player".
	Agent string `json:"agent"`
	// Direction is the agent's view: "in" or "out".
	Direction jsonrpc.Direction `json:"direction"`
	// Peer is the URL that was called, or the address that called.
	Peer string `json:"peer"`
	// Status is the HTTP status of an answer, 0 if none came.
	Status int `json:"status,omitzero"`
	// Latency is the time from the request to the answer, in milliseconds.
	Latency float64 `json:"latency_ms,omitzero"`
	// Error says why no usable answer came. Of a remark it is the text.
	Error string `json:"error,omitzero"`
	// Match is that of a remark; a message names its own.
	Match string `json:"match_id,omitzero"`

	// Body is a message in JSON, Text any other. An empty message has neither.
	Body jsontext.Value `json:"body,omitzero"`
	Text string         `json:"text,omitzero"`
}
