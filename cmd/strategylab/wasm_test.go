package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// writeModule writes a strategy in WebAssembly: module FILE.
func writeModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: module FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), wasmtest.Frequency().Bytes(), 0o644))
}
