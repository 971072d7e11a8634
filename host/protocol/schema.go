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

// Schema returns the JSON Schema (draft 2020-12) of a message type as strict
// mode asks for it, in the direction in which the type travels by the book: a
// GAME_JOIN_ACK is an answer, a GAME_ERROR a request. Unknown members are
// allowed. The error says that there is no such type.
func Schema(t Type) ([]byte, error) {
	raw, err := schemas.ReadFile("schemas/" + lower(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("protocol: no schema for message type %q: %w", t, err)
	}
	return raw, nil
}

// WrappingSchema returns the JSON Schema (draft 2020-12) of the documents of a
// dialect of the protocol itself: the request, the response and the refusal,
// without what it carries. The error says that there is no such dialect.
func WrappingSchema(dialect string) ([]byte, error) {
	raw, err := schemas.ReadFile("schemas/wrapping/" + dialect + ".json")
	if err != nil {
		return nil, fmt.Errorf("protocol: no schema for dialect %q: %w", dialect, err)
	}
	return raw, nil
}
