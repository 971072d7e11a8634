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
// mode asks for it: of the request where the type can be one, otherwise of the
// answer. The error says that there is no such type.
func Schema(t Type) ([]byte, error) {
	raw, err := schemas.ReadFile("schemas/" + lower(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("protocol: no schema for message type %q: %w", t, err)
	}
	return raw, nil
}
