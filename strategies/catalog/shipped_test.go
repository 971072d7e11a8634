package catalog

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// TestShippedScripts: the scripts that come with the program are known, and a script that is
// one of them no more is the user's.
func TestShippedScripts(t *testing.T) {
	var files []string
	for _, kind := range []string{"lua", "js", "wasm"} {
		list, err := filepath.Glob("../../scripts/*." + kind)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(source)); !Shipped(strategies.Lua, "x", sum) {
			t.Errorf("shipped lacks %q: true, // %s", sum, filepath.Base(file))
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(append(source, '\n'))); Shipped(strategies.Lua, "x", sum) {
			t.Errorf("an edited %s is taken for the shipped one", file)
		}
	}
	if len(shipped) != len(files) {
		t.Errorf("%d scripts are shipped, and %d known", len(files), len(shipped))
	}
}
