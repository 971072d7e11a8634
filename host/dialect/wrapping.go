package dialect

import (
	"embed"
	"fmt"
)

//go:embed schemas
var wrappings embed.FS

// WrappingSchema returns the JSON Schema (draft 2020-12) of the documents of a
// dialect of the protocol itself: the request, the response and the refusal,
// without what it carries. The error says that there is no such dialect.
func WrappingSchema(dialect string) ([]byte, error) {
	raw, err := wrappings.ReadFile("schemas/" + dialect + ".json")
	if err != nil {
		return nil, fmt.Errorf("protocol: no schema for dialect %q: %w", dialect, err)
	}
	return raw, nil
}
