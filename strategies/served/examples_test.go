package served_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies/served"
)

// example opens an example of the documentation, started by an interpreter that may be
// missing.
func example(t *testing.T, c served.Config, interpreter, file string, args ...string) *served.Factory {
	t.Helper()
	program, err := exec.LookPath(interpreter)
	if err != nil {
		t.Skip("needs " + interpreter)
	}
	path, err := filepath.Abs(filepath.Join("../../docs/examples", file))
	if err != nil {
		t.Fatal(err)
	}
	c.Start, c.Deadline = time.Minute, time.Minute
	f, err := served.Open(served.Spec{Name: "agent", Command: append([]string{program, path}, args...)}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestExamplesPlay(t *testing.T) {
	t.Parallel()
	for file, interpreter := range map[string]string{"player.py": "python3", "player.mjs": "node"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			f := example(t, served.Config{}, interpreter, file, "{manager}", "{port}")
			if _, faults, notes := play(t, f, 3, 2); len(faults) != 0 {
				t.Errorf("faults %v: %q; usage %+v", faults, notes, f.Usage())
			}
		})
	}
}

// Not parallel, since it sets the environment of its agent.
func TestAgentThatAsksAModel(t *testing.T) {
	var asked atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"}}],"usage":{"total_tokens":10}}`, []string{"Even.", "odd"}[asked.Add(1)%2])
	}))
	defer endpoint.Close()
	t.Setenv("OPENAI_BASE_URL", endpoint.URL+"/v1")
	t.Setenv("OPENAI_API_KEY", "secret")
	folder := t.TempDir()
	f := example(t, served.Config{Cassette: folder}, "python3", "llm_player.py", "{port}", "9", "1000")
	digest, faults, notes := play(t, f, 3, 1)
	if len(faults) != 0 || asked.Load() != 9 {
		t.Errorf("the model was asked %d times, want 9, its budget; faults %v: %q", asked.Load(), faults, notes)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = example(t, served.Config{Cassette: folder}, "python3", "llm_player.py", "{port}", "9", "1000")
	if again, _, _ := play(t, f, 3, 2); again != digest || asked.Load() != 9 || f.Usage().Asked != 0 {
		t.Errorf("again: digest %s, want %s; the model was asked %d times; usage %+v", again, digest, asked.Load(), f.Usage())
	}
}
