package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemasAreCurrent: the schemas are those of the types, and valid themselves.
// Package cmd/strategylab tests them with the files of real runs.
func TestSchemasAreCurrent(t *testing.T) {
	for name := range files {
		want, err := schema(name, "../..")
		must(t, err)
		got, err := os.ReadFile(name)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not the schema of the types; run go generate ./docs/schemas", name)
		}
		if _, err := jsonschema.NewCompiler().Compile(name); err != nil {
			t.Error(err)
		}
	}
}
