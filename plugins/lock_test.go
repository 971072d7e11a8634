package plugins_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// write writes a program, and returns its SHA-256.
func write(t *testing.T, file, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	sum, err := plugins.Sum(file)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestLock: a program is accepted as it was, or as it is if somebody works on it, and what
// it serves stays with its form.
func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	coin := filepath.Join(dir, "coin")
	sum := write(t, coin, "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(dir, "README"), "", 0o644)
	write(t, filepath.Join(dir, ".hidden"), "", 0o755)
	if names, err := plugins.Find(dir); err != nil || !slices.Equal(names, []string{"coin"}) {
		t.Errorf("found %v, %v", names, err)
	}
	lock, err := plugins.ReadLock(dir)
	if err != nil || len(lock) != 0 {
		t.Fatalf("no lock file: %v, %v", lock, err)
	}
	var unlocked *plugins.UnlockedError
	if _, err := lock.Check(coin); !errors.As(err, &unlocked) || unlocked.Want != "" {
		t.Errorf("accepted without a lock file: %v", err)
	}
	lock["coin"] = plugins.Pin{Name: "coin", Sum: sum, NoTLS: true, Dev: true}
	lock["other"] = plugins.Pin{Name: "other", Sum: strings.Repeat("0a", 32)}
	heads := strategies.Info{Name: "heads", Kind: strategies.Plugin, Title: "Always", Fingerprint: sum}
	if err := errors.Join(
		plugins.WriteLock(dir, lock),
		plugins.Learn(dir, plugins.Pin{Name: "coin", Sum: sum, Strategies: []strategies.Info{heads}}),
		plugins.Learn(dir, plugins.Pin{Name: "other", Sum: sum, Broken: true}), // accepted in another form meanwhile
		plugins.Learn(dir, plugins.Pin{Name: "gone", Sum: sum, Broken: true}),
	); err != nil {
		t.Fatal(err)
	}
	if lock, err = plugins.ReadLock(dir); err != nil || len(lock) != 2 || lock["other"].Broken {
		t.Fatalf("%+v, %v", lock, err)
	}
	if pin, err := lock.Check(coin); err != nil || !pin.NoTLS || pin.Sum != sum || !slices.Equal(pin.Strategies, []strategies.Info{heads}) {
		t.Errorf("pin %+v, %v", pin, err)
	}
	changed := write(t, coin, "#!/bin/sh\nrm\n", 0o755)
	if pin, err := lock.Check(coin); err != nil || pin.Sum != changed || pin.Strategies != nil {
		t.Errorf("a changed program in development: pin %+v, %v; want the SHA-256 it has now", pin, err)
	}
	lock["coin"] = plugins.Pin{Name: "coin", Sum: sum}
	if _, err := lock.Check(coin); !errors.As(err, &unlocked) || unlocked.Want != sum || unlocked.Got != changed ||
		!strings.Contains(err.Error(), sum) || !strings.Contains(err.Error(), changed) {
		t.Errorf("a changed program: %v", err)
	}
}

func FuzzParseLock(f *testing.F) {
	sum := strings.Repeat("0a", 32)
	for _, s := range []string{
		"", "# nothing\n\n", "coin sha256=" + sum + "\n", "coin sha256=" + sum + " mtls=false\nb sha256=" + sum,
		"coin", "../coin sha256=" + sum, "coin sha256=12", "coin sha256=" + sum + " mtls=no", "coin dev=true sha256=" + sum, "a sha256=" + sum + "\na sha256=" + sum,
		"coin sha256=" + sum + "\n  {\"name\":\"heads\",\"title\":\"A \\u001b[31m\"}\n\t{\"name\":\"tails\"}\nb starts=false sha256=" + sum,
		" {\"name\":\"x\"}", "coin sha256=" + sum + "\n {}", "{ sha256=" + sum,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := plugins.ParseLock(data)
		if err != nil {
			if line, _, ok := strings.Cut(err.Error(), ":"); !ok || strings.Trim(line, "0123456789") != "" {
				t.Errorf("error %q does not begin with a line", err)
			}
			return
		}
		again, err := plugins.ParseLock(lock.Bytes())
		if err != nil || len(again) != len(lock) {
			t.Fatalf("%q: written and read again: %v, %v", data, again, err)
		}
		for name, pin := range lock {
			if !reflect.DeepEqual(again[name], pin) {
				t.Errorf("%q: %v became %v", data, pin, again[name])
			}
		}
	})
}
