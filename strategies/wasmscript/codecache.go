package wasmscript

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"

	"github.com/strategylab/strategylab/host/disk"
)

// The compiled code of a module lies in a file named after the module as wazero gets it. A file
// begins with its format and the SHA-256 of the rest, which is the name that wazero has for it, of
// its version and the processor, and what wazero wrote. wazero itself checks a part of that only,
// and says that its folder must be safe. So it gets a folder of its own in each process, with no
// more than was checked, and the cache is nobody else's to write.
const (
	codeFormat = "strategylab-code 1\n"
	codeSuffix = ".code"

	// worthCaching is the size from which a module takes longer to compile than to find.
	worthCaching = 64 << 10
)

// maxCode is the size of all files of a cache, in bytes. The oldest ones go.
var maxCode int64 = 256 << 20

// codeCache is one module's use of a cache. A nil one does nothing.
type codeCache struct {
	file    string // in the cache
	private string // the folder that wazero reads and writes
	held    string // what was put there, relative to it; empty if nothing was
	wazero  wazero.CompilationCache
}

// openCode prepares the use of the cache in a folder for a module. Without a cache, or if
// it cannot be used, a module is compiled as if there were none, so errors are not told.
func openCode(folder string, code []byte) *codeCache {
	if folder == "" || len(code) < worthCaching || !ownFolder(folder) {
		return nil
	}
	private, err := os.MkdirTemp("", "strategylab-code-*")
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(append([]byte(runtime.GOOS+"/"+runtime.GOARCH+"\n"), code...))
	c := &codeCache{file: filepath.Join(folder, hex.EncodeToString(sum[:])+codeSuffix), private: private}
	if err := c.fetch(); err != nil {
		_ = os.Remove(c.file) // damaged: keep writes it again
	}
	if c.wazero, err = wazero.NewCompilationCacheWithDir(private); err != nil {
		_ = c.close()
		return nil
	}
	return c
}

// ownFolder makes a folder that only its owner can read and write, and reports whether it is one.
func ownFolder(folder string) bool {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return false
	}
	info, err := os.Lstat(folder)
	return err == nil && info.IsDir() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0) && belongs(info)
}

var errDamaged = errors.New("the file is damaged")

// fetch puts the file of the module, if there is one, where wazero looks for it.
func (c *codeCache) fetch() error {
	content, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	rest, ok := bytes.CutPrefix(content, []byte(codeFormat))
	if !ok || len(rest) < sha256.Size {
		return errDamaged
	}
	if sum := sha256.Sum256(rest[sha256.Size:]); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return errDamaged
	}
	name, compiled, ok := bytes.Cut(rest[sha256.Size:], []byte("\n"))
	if !ok || !filepath.IsLocal(string(name)) {
		return errDamaged
	}
	at := filepath.Join(c.private, filepath.FromSlash(string(name)))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	c.held = string(name)
	return os.WriteFile(at, compiled, 0o600)
}

// keep writes what wazero has compiled into the cache, unless it comes from there.
func (c *codeCache) keep() error {
	if c == nil {
		return nil
	}
	return filepath.WalkDir(c.private, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(c.private, path)
		if err != nil || filepath.ToSlash(name) == c.held {
			return err
		}
		compiled, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content := append([]byte(filepath.ToSlash(name)+"\n"), compiled...)
		sum := sha256.Sum256(content)
		content = slices.Concat([]byte(codeFormat), sum[:], content)
		if int64(len(content)) > maxCode {
			return nil
		}
		if err := disk.WriteFile(c.file, content, 0o600); err != nil {
			return err
		}
		return evict(filepath.Dir(c.file), c.file)
	})
}

// evict removes the oldest files but one until the cache is within its size.
func evict(folder, but string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var total int64
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
			if strings.HasSuffix(e.Name(), codeSuffix) && e.Name() != filepath.Base(but) {
				files = append(files, info)
			}
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range files {
		if total <= maxCode {
			break
		}
		if err := os.Remove(filepath.Join(folder, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("evict compiled code: %w", err)
		}
		total -= info.Size()
	}
	return nil
}

// use returns a configuration that looks for code in the cache.
func (c *codeCache) use(config wazero.RuntimeConfig) wazero.RuntimeConfig {
	if c == nil {
		return config
	}
	return config.WithCompilationCache(c.wazero)
}

// compiled ends the use of files: the module is in memory.
func (c *codeCache) compiled() error {
	if c == nil || c.private == "" {
		return nil
	}
	private := c.private
	c.private = ""
	return os.RemoveAll(private)
}

// close releases the code. No module of the cache may be used afterwards.
func (c *codeCache) close() error {
	if c == nil {
		return nil
	}
	err := c.compiled()
	if c.wazero != nil {
		err = errors.Join(err, c.wazero.Close(context.Background()))
	}
	return err
}
