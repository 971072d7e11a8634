package wasmscript_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// largeModule is a strategy that is large enough to be cached. kind makes it another one.
func largeModule(kind byte) []byte {
	m := Frequency()
	m.Funcs = append(m.Funcs, Func{Code: Code(I32(int32(kind)), Drop)})
	m.Pages, m.Start = 4, len(m.Funcs)-1
	m.Data = bytes.Repeat([]byte{0}, 200_000)
	m.Data[len(m.Data)-1] = kind
	return m.Bytes()
}

// cached returns the only file of a cache, nil if there is none.
func cached(t *testing.T, folder string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(names) > 1 {
		t.Fatalf("the cache has %v, %v, want one file", names, err)
	}
	if len(names) == 0 {
		return nil
	}
	content, err := os.ReadFile(names[0])
	must(t, err)
	return content
}

func stories(t *testing.T, folder string, source []byte) string {
	t.Helper()
	c := engines["compiled"]
	c.Code = folder
	return story(t, c, source)
}

// TestCompiledCodeIsKept compiles a module twice: the second time it reads what the first
// has written. Damaged files are compiled again.
func TestCompiledCodeIsKept(t *testing.T) {
	folder, source := filepath.Join(t.TempDir(), "code"), largeModule(1)
	want := story(t, engines["compiled"], source)
	if got := stories(t, folder, source); got != want {
		t.Errorf("with a cache it plays\n%s\nwant\n%s", got, want)
	}
	whole := cached(t, folder)
	name, _ := filepath.Glob(filepath.Join(folder, "*"))
	before, err := os.Stat(name[0])
	if err != nil || before.Mode().Perm() != 0o600 {
		t.Fatalf("the file has the mode %v, %v", before.Mode(), err)
	}
	if got := stories(t, folder, source); got != want {
		t.Errorf("from the cache it plays\n%s\nwant\n%s", got, want)
	}
	if after, err := os.Stat(name[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("the second process has compiled the module again: %v", err)
	}
	damaged := map[string][]byte{"empty": {}, "cut": whole[:len(whole)-1], "longer": append(bytes.Clone(whole), 0), "other": []byte("strategylab-code 1\n")}
	for at := 0; at < len(whole); at += len(whole)/4 + 1 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 4
		damaged["bit "+string(rune('a'+len(damaged)))] = flipped
	}
	for what, content := range damaged {
		must(t, os.WriteFile(name[0], content, 0o600))
		if got := stories(t, folder, source); got != want {
			t.Errorf("%s: it plays\n%s\nwant\n%s", what, got, want)
		}
		if !bytes.Equal(cached(t, folder), whole) {
			t.Errorf("%s: the file was not written again", what)
		}
	}
}

// TestUnsafeFolders leaves folders alone that others can read or that are none, and
// modules that are small.
func TestUnsafeFolders(t *testing.T) {
	dir := t.TempDir()
	open, file, private, link := filepath.Join(dir, "open"), filepath.Join(dir, "file"), filepath.Join(dir, "private"), filepath.Join(dir, "link")
	must(t, os.Mkdir(open, 0o755), os.Mkdir(private, 0o700), os.WriteFile(file, nil, 0o600))
	if err := os.Symlink(private, link); err != nil {
		t.Skip(err)
	}
	source := largeModule(1)
	want := story(t, engines["compiled"], source)
	for _, folder := range []string{open, file, link, filepath.Join(file, "below"), "/dev/null/none"} {
		if got := stories(t, folder, source); got != want {
			t.Errorf("%s: it plays\n%s\nwant\n%s", folder, got, want)
		}
	}
	stories(t, private, Frequency().Bytes())
	for _, folder := range []string{open, private} {
		if content := cached(t, folder); content != nil {
			t.Errorf("%s has a file", folder)
		}
	}
}

// TestCacheIsBounded compiles more than there is room for: the oldest go. It changes the
// size of all caches, so no other test runs beside it.
func TestCacheIsBounded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "code")
	stories(t, folder, largeModule(1))
	first := cached(t, folder)
	defer wasmscript.LimitCode(int64(len(first)) * 3 / 2)()
	stories(t, folder, largeModule(2))
	if second := cached(t, folder); bytes.Equal(first, second) {
		t.Error("the second module did not replace the first")
	}
	defer wasmscript.LimitCode(int64(len(first)) / 2)()
	stories(t, folder, largeModule(1))
	if got := cached(t, folder); bytes.Equal(got, first) {
		t.Error("a module that exceeds the cache is in it")
	}
}

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
		must(t, made.Close())
		agree(t, source)
	})
}
