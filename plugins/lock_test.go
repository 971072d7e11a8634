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

func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	coin, readme := filepath.Join(dir, "coin"), filepath.Join(dir, "README")
	for file, mode := range map[string]os.FileMode{coin: 0o755, readme: 0o644, filepath.Join(dir, ".hidden"): 0o755} {
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
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
	sum, err := plugins.Sum(coin)
	if err != nil {
		t.Fatal(err)
	}
	lock["coin"] = plugins.Pin{Name: "coin", Sum: sum, NoTLS: true}
	if err := os.WriteFile(filepath.Join(dir, plugins.LockName), lock.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if lock, err = plugins.ReadLock(dir); err != nil {
		t.Fatal(err)
	}
	if pin, err := lock.Check(coin); err != nil || !pin.NoTLS || pin.Sum != sum {
		t.Errorf("pin %v, %v", pin, err)
	}
	if err := os.WriteFile(coin, []byte("#!/bin/sh\nrm\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Check(coin); !errors.As(err, &unlocked) || unlocked.Want != sum || unlocked.Got == sum ||
		!strings.Contains(err.Error(), sum) || !strings.Contains(err.Error(), unlocked.Got) {
		t.Errorf("a changed program: %v", err)
	}
	lock["coin"] = plugins.Pin{Name: "coin", Sum: sum, Dev: true}
	if pin, err := lock.Check(coin); err != nil || pin.Sum != unlocked.Got {
		t.Errorf("a changed program in development: pin %v, %v; want the SHA-256 it has now", pin, err)
	}
}

// TestLearn: what a program serves stays with its form.
func TestLearn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	coin := filepath.Join(dir, "coin")
	if err := os.WriteFile(coin, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	sum, err := plugins.Sum(coin)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("0a", 32)
	if err := plugins.WriteLock(dir, plugins.Lock{"coin": {Name: "coin", Sum: sum, Dev: true}, "other": {Name: "other", Sum: other}}); err != nil {
		t.Fatal(err)
	}
	heads := strategies.Info{Name: "heads", Kind: strategies.Plugin, Title: "Always", Fingerprint: sum}
	if err := errors.Join(
		plugins.Learn(dir, plugins.Pin{Name: "coin", Sum: sum, Strategies: []strategies.Info{heads}}),
		plugins.Learn(dir, plugins.Pin{Name: "other", Sum: sum, Broken: true}), // accepted in another form meanwhile
		plugins.Learn(dir, plugins.Pin{Name: "gone", Sum: sum, Broken: true}),
	); err != nil {
		t.Fatal(err)
	}
	lock, err := plugins.ReadLock(dir)
	if err != nil || len(lock) != 2 || lock["other"].Broken || !lock["coin"].Dev {
		t.Fatalf("%+v, %v", lock, err)
	}
	if pin, err := lock.Check(coin); err != nil || !slices.Equal(pin.Strategies, []strategies.Info{heads}) {
		t.Errorf("%+v, %v", pin, err)
	}
	if err := os.WriteFile(coin, []byte("#!/bin/sh\nrm\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if pin, err := lock.Check(coin); err != nil || pin.Strategies != nil {
		t.Errorf("in another form: %+v, %v", pin, err)
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
