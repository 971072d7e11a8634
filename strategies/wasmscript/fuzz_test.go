package wasmscript_test

import (
	"errors"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// FuzzCompile loads changed modules: each is refused with an error of its own, or plays
// the same in both engines.
func FuzzCompile(f *testing.F) {
	const every = 4 // TestHostileModules plays all of them
	for i, h := range hostileModules() {
		if i%every == 0 && len(h.module) < 10_000 {
			f.Add(h.module)
		}
	}
	whole := Frequency().Bytes()
	for cut := 0; cut <= len(whole); cut += 23 {
		f.Add(whole[:cut])
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		made, err := wasmscript.Compile("x", "x.wasm", source, engines["compiled"])
		if err != nil {
			var typed *strategies.Error
			if !errors.As(err, &typed) || typed.Op != strategies.OpLoad || typed.Source != "x.wasm" {
				t.Fatalf("an error that is none of a load: %v", err)
			}
			return
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
		agree(t, source)
	})
}
