package protocol

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The canonical codes of envelope and tool validation.
const (
	CanonicalInvalidEnvelope  = "INVALID_ENVELOPE"
	CanonicalInvalidToolInput = "INVALID_TOOL_INPUT"
	CanonicalToolNotFound     = "TOOL_NOT_FOUND"
	CanonicalInternalError    = "INTERNAL_ERROR"
)

// A CanonicalError is how a canonical code is told over HTTP and JSON-RPC.
type CanonicalError struct {
	Code    string
	HTTP    int
	RPC     int
	Message string
}

var canonicalTable = []CanonicalError{
	{CanonicalInvalidEnvelope, statusBadRequest, RPCInvalidRequest, "Invalid MCP envelope"},
	{CanonicalInvalidToolInput, statusUnprocessable, rpcInvalidParams, "Invalid tool input"},
	{CanonicalToolNotFound, statusNotFound, -32001, "Unknown tool"},
	{CanonicalInternalError, statusInternalError, rpcInternalError, "Internal error"},
}

// Canonical returns the row of the canonical table for a code. An unknown code
// is an error, so that no refusal goes out with a status of zero.
func Canonical(code string) (CanonicalError, error) {
	for _, row := range canonicalTable {
		if row.Code == code {
			return row, nil
		}
	}
	return CanonicalError{}, fmt.Errorf("protocol: %q is no canonical error code", code)
}

// Payload returns the JSON-RPC error object {code, message, data: {canonical,
// violations}}, the violations sorted by path and rule. It cannot fail for
// violations that hold UTF-8.
func (c CanonicalError) Payload(violations []Violation) (jsontext.Value, error) {
	data, err := c.data(violations)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	}{c.RPC, c.Message, data}, plain)
}

func (c CanonicalError) data(violations []Violation) (jsontext.Value, error) {
	sorted := append([]Violation{}, violations...)
	SortViolations(sorted)
	data, err := json.Marshal(struct {
		Canonical  string      `json:"canonical"`
		Violations []Violation `json:"violations"`
	}{c.Code, sorted}, plain)
	if err != nil {
		return nil, fmt.Errorf("protocol: encode %s: %w", c.Code, err)
	}
	return data, nil
}

// SortViolations sorts by path, then by rule.
func SortViolations(v []Violation) {
	slices.SortFunc(v, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
}
