package wasmscript_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// builds has a command for each language of docs/wasm.md that builds in into out, and one
// that fails where the compiler or its target is missing.
var builds = map[string]struct{ file, probe, build, template string }{
	"c": {
		"mine.c", "clang --print-targets | grep -q wasm32 && which wasm-ld",
		"clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,-z,stack-size=8192 -o mine.wasm mine.c", "new.c",
	},
	"rust": {
		"mine.rs", "ls \"$(rustc --print target-libdir --target wasm32-unknown-unknown)\"",
		"rustc --target wasm32-unknown-unknown --crate-type cdylib -O -C strip=debuginfo -C link-arg=-zstack-size=8192 -o mine.wasm mine.rs", "new.rs",
	},
	"go": {
		"mine.go", "which go",
		"GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags=-s -o mine.wasm mine.go", "new.go.txt",
	},
	"ts": {"mine.ts", "which asc", "asc mine.ts -O --runtime stub --use abort= -o mine.wasm", ""},
	"zig": {
		"mine.zig", "zig version",
		"zig build-exe mine.zig -target wasm32-freestanding -fno-entry -rdynamic -O ReleaseSmall --stack 8192 -femit-bin=mine.wasm", "new.zig",
	},
}

// templates are the files that `strategies new` writes for some of these languages.
const templates = "../../cmd/strategylab/internal/authoring/templates/"

// TestDocumentedExamples builds the strategy of docs/wasm.md, and that of `strategies new`, in
// every language that this machine can compile. Each plays as the one without a compiler, in
// both engines.
func TestDocumentedExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/wasm.md")
	must(t, err)
	choices := func(told string) string {
		return strings.Join(regexp.MustCompile(`(?m)^choose .*$`).FindAllString(told, -1), "\n")
	}
	want := choices(agree(t, wasmtest.Frequency().Bytes()))
	for language, b := range builds {
		t.Run(language, func(t *testing.T) {
			code := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)\n```\n").FindSubmatch(page)
			if code == nil {
				t.Fatalf("docs/wasm.md has no strategy in %s", language)
			}
			dir := t.TempDir()
			run := func(command string) ([]byte, error) {
				cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
				cmd.Dir = dir
				return cmd.CombinedOutput()
			}
			if language != "c" && os.Getenv("WHOLE_TESTS") == "" {
				t.Skip("WHOLE_TESTS is not set")
			}
			if _, err := run(b.probe); err != nil {
				t.Skipf("this machine does not compile %s for WebAssembly", language)
			}
			sources := map[string][]byte{"docs/wasm.md": code[1]}
			if b.template != "" {
				if sources[b.template], err = os.ReadFile(templates + b.template); err != nil {
					t.Fatal(err)
				}
			}
			for from, source := range sources {
				must(t, os.WriteFile(filepath.Join(dir, b.file), bytes.ReplaceAll(source, []byte("NAME"), []byte("mine")), 0o600))
				if out, err := run(b.build); err != nil {
					t.Fatalf("%s: %s: %v\n%s", from, b.build, err, out)
				}
				module, err := os.ReadFile(filepath.Join(dir, "mine.wasm"))
				must(t, err)
				// Go's runtime needs more for its initialization than other tests grant.
				told := agreeWithin(t, budget.Limits{Time: patient.Time, Instructions: budget.DefaultInstructions}, module)
				if choices(told) != want {
					t.Errorf("%s: it plays\n%s\nwant\n%s", from, told, want)
				}
			}
		})
	}
}
