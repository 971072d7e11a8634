package authoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// build builds a module without a network, and without changing its go.mod.
func build(t *testing.T, dir, program string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-o", program, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The module of 'plugins new' builds offline from a checkout and plays; one that
// answers with game.Even instead of strategies.Even does not compile.
func TestNewPluginBuilds(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := pluginFiles(root, dir, "mine")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := writeNew(filepath.Join(dir, name), text); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "mine")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := build(t, dir, program); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, err := plugins.Open(t.Context(), plugins.Config{Command: []string{program}, CallTime: time.Minute, StartTimeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer all[0].Close()
	s, err := all[0].New(t.Context(), strategies.Setup{ID: "P01", Name: "P01", Field: []string{"P01", "P02"}, Rand: game.NewRand(game.Key{})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Observe(t.Context(), &strategies.Outcome{Match: 1, MatchID: "R1M1", Round: 1, Opponent: "P02", Choice: game.Odd, OpponentChoice: game.Even}); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Choose(t.Context(), &strategies.Turn{Match: 2, MatchID: "R2M1", Round: 2, Opponent: "P02"}); err != nil || c != strategies.Odd {
		t.Errorf("against an opponent that played even: %v, %v; want odd", c, err)
	}

	for right, wrong := range map[string]string{"return strategies.Even, nil": "return game.Even, nil", "case game.Even:": "case strategies.Even:"} {
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(strings.Replace(files["main.go"], right, wrong, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := build(t, dir, program); err == nil || !strings.Contains(out, "game.Parity") && !strings.Contains(out, "strategies.Choice") {
			t.Errorf("%q for %q compiles, or fails otherwise: %v\n%s", wrong, right, err, out)
		}
	}
}

func TestCheckout(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := checkout(filepath.Join(root, "plugins", "mine")); err != nil || got != root {
		t.Errorf("found %q, %v; want %q", got, err, root)
	}
	if got, err := checkout(filepath.Join(t.TempDir(), "mine")); err != nil || got != "" {
		t.Errorf("found %q outside, %v", got, err)
	}
}
