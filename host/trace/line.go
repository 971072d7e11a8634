package trace

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Schema is the value of [Head.Schema].
const Schema = "strategylab/trace/v1"

// Head is the first line of each run of a recorder. A recording that was gone
// on with has several.
type Head struct {
	Schema  string    `json:"trace"`
	Command string    `json:"command"` // what recorded: "player", "host"
	Began   time.Time `json:"began"`
}

// Part says which side of an exchange a line is.
type Part string

// The parts of an exchange.
const (
	Request Part = "request"
	Answer  Part = "answer"
)

// Line is one message. Fields from Type on are what the recorder made of it,
// for those who read the file with other tools; they are empty where the
// message could not be understood.
type Line struct {
	// Time is when the message came or went by the recorder's clock, UTC.
	Time time.Time `json:"time"`
	// Exchange is the number that a request has in common with its answer,
	// from 1 in each run.
	Exchange int64 `json:"exchange"`
	Part     Part  `json:"part"`
	// Agent is who recorded: "manager", "REF01", "player".
	Agent string `json:"agent"`
	// Direction is seen from the agent: "in" or "out".
	Direction jsonrpc.Direction `json:"direction"`
	Transport jsonrpc.Transport `json:"transport"`
	// Peer is the URL that was called, or the address that called.
	Peer  string `json:"peer"`
	Route string `json:"route,omitzero"`
	// Status is the HTTP status of an answer, 0 where none came.
	Status int `json:"status,omitzero"`
	// Latency is the time from the request to the answer, in milliseconds.
	Latency float64 `json:"latency_ms,omitzero"`
	// Error says why no usable answer came.
	Error string `json:"error,omitzero"`

	Wrapping string `json:"wrapping,omitzero"` // name of the dialect
	Type     string `json:"message_type,omitzero"`
	Sender   string `json:"sender,omitzero"`
	Match    string `json:"match_id,omitzero"`

	// Body is the message if it is JSON; Text is it if not. An empty message
	// has neither.
	Body jsontext.Value `json:"body,omitzero"`
	Text string         `json:"text,omitzero"`
}
