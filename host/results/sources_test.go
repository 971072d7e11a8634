package results

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

func scripted(source, path string) Entrant {
	return Entrant{Name: "mine", Kind: "lua", Source: path, Fingerprint: fmt.Sprintf("%x", sha256.Sum256([]byte(source)))}
}

// A run keeps the scripts that played, and notices one that is damaged.
func TestSources(t *testing.T) {
	folder, source := t.TempDir(), "function choose() return 1 end"
	e := scripted(source, "scripts/mine.lua")
	if _, err := ReadSource(folder, e); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing kept: %v", err)
	}
	if err := KeepSource(folder, e, []byte("another")); err == nil {
		t.Error("kept the source of another script")
	}
	if err := KeepSource(folder, e, []byte(source)); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSource(folder, e); err != nil || string(got) != source {
		t.Errorf("kept %q, %v", got, err)
	}
	name, err := SourceFile(folder, e)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("function"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSource(folder, e); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a torn file: %v", err)
	}
	if err := KeepSource(folder, e, []byte(source)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSource(folder, e); err != nil {
		t.Errorf("kept again: %v", err)
	}
}

// A plan from elsewhere names no file outside its run.
func TestSourceFileStaysInside(t *testing.T) {
	for _, fingerprint := range []string{"", "../../secret", "builtin/3", "abcd"} {
		if name, err := SourceFile("run", Entrant{Source: "x.lua", Fingerprint: fingerprint}); err == nil {
			t.Errorf("fingerprint %q gives %s", fingerprint, name)
		}
	}
}
