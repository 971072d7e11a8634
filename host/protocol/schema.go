package protocol

import (
	"embed"
	"fmt"
)

//go:embed schemas
var schemas embed.FS

// SchemaBase is the base of the schemas' $id: a schema refers to another by
// its file name under it. It is a name, not a place; nothing is fetched.
const SchemaBase = "https://strategylab.example/league.v2/"

// Schema returns the JSON Schema (draft 2020-12) of a message type as the mode
// asks for it, in the direction in which the type travels by the book: a
// GAME_JOIN_ACK is an answer, a GAME_ERROR a request. Unknown members are
// allowed. The error says that there is no such type.
func Schema(t Type, mode Mode) ([]byte, error) {
	if mode == Tolerant {
		return readSchema("schemas/tolerant/", t)
	}
	return readSchema("schemas/", t)
}

// RequestSchema returns the JSON Schema of a message type as a receiver in the
// mode asks for it where it comes as a request. The error says that the type
// is never one.
func RequestSchema(t Type, mode Mode) ([]byte, error) {
	e := byType[t]
	switch {
	case e == nil || e.Method == "":
		return nil, fmt.Errorf("protocol: %q is no message type that comes as a request", t)
	case mode == Strict && e.answers():
		return readSchema("schemas/request/", t)
	}
	return Schema(t, mode)
}

func readSchema(folder string, t Type) ([]byte, error) {
	raw, err := schemas.ReadFile(folder + lower(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("protocol: no schema for message type %q: %w", t, err)
	}
	return raw, nil
}
