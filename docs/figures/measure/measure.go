// Package measure reads the Go files and documentation pages of a source tree
// and counts what makes it easy or hard to read.
package measure

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The limits that the tests of docs enforce: what a reader can take in at once.
const (
	MaxFileLines     = 400
	MaxFunctionLines = 80
	MaxPackageFiles  = 25
	MaxPageLines     = 250
)

// Tree is a source tree. Generated files are not part of it.
type Tree struct {
	Packages []*Package // sorted by folder
	Pages    []Page     // the Markdown pages of docs, scripts and the root
	Module   string     // module path
	Scripts  int        // lines of test scripts
}

// Package is the Go files of one folder.
type Package struct {
	Dir       string // slash-separated, below the root
	Name      string
	Files     []*File // non-test
	Tests     int     // lines of test files
	Example   bool    // has a runnable example
	Importers int     // other packages of the tree whose non-test files import it

	fset *token.FileSet
}

// ForTests reports whether the package only serves tests, as net/http/httptest does: its
// name ends in test, and nothing but tests imports it. Its lines count as those of tests.
func (p *Package) ForTests() bool { return strings.HasSuffix(p.Name, "test") && p.Importers == 0 }

// File is one non-test Go file.
type File struct {
	Path      string
	Lines     int
	Imports   []string // folders of the tree
	Functions []Function
	Exported  []string // exported package-level names and methods

	syntax *ast.File
}

// Function is a function or method with a body.
type Function struct {
	Name  string // Type.Method for methods
	File  string
	Lines int // from "func" to the closing brace
}

// Page is a documentation page.
type Page struct {
	Path  string
	Lines int
}

// Read reads the tree below root, which holds go.mod. It skips testdata and
// folders whose name starts with a dot.
func Read(root string) (*Tree, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	t := &Tree{Module: strings.TrimSpace(strings.TrimPrefix(first, "module"))}
	packages := map[string]*Package{}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir():
			switch n := d.Name(); {
			case n == "testdata":
				if err := t.readScripts(file); err != nil {
					return err
				}
				return filepath.SkipDir
			case rel != "." && strings.HasPrefix(n, "."):
				return filepath.SkipDir
			}
			return nil
		case strings.HasSuffix(rel, ".go"):
			return t.readGo(packages, file, rel)
		case strings.HasSuffix(rel, ".md") && page(rel):
			text, err := os.ReadFile(file)
			t.Pages = append(t.Pages, Page{rel, lines(text)})
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := packages[dir]
		imported := map[string]bool{}
		for _, f := range p.Files {
			for _, other := range f.Imports {
				imported[other] = true
			}
		}
		for other := range imported {
			if packages[other] != nil {
				packages[other].Importers++
			}
		}
		if len(p.Files) > 0 || p.Tests > 0 {
			t.Packages = append(t.Packages, p)
		}
	}
	return t, nil
}

func page(rel string) bool {
	return !strings.Contains(rel, "/") || strings.HasPrefix(rel, "docs/") || strings.HasPrefix(rel, "scripts/")
}

// readScripts counts the lines of the test scripts in a folder of test data.
func (t *Tree) readScripts(testdata string) error {
	scripts, err := filepath.Glob(filepath.Join(testdata, "*", "*.txtar"))
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		t.Scripts += lines(text)
	}
	return err
}

func lines(text []byte) int { return bytes.Count(text, []byte("\n")) }

func (t *Tree) readGo(packages map[string]*Package, file, rel string) error {
	dir := path.Dir(rel)
	p := packages[dir]
	if p == nil {
		p = &Package{Dir: dir, fset: token.NewFileSet()}
		packages[dir] = p
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(p.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(syntax) {
		return nil
	}
	if strings.HasSuffix(rel, "_test.go") {
		p.Tests += lines(text)
		for _, e := range doc.Examples(syntax) {
			p.Example = p.Example || e.Output != "" || e.EmptyOutput
		}
		return nil
	}
	p.Name = syntax.Name.Name
	f := &File{Path: rel, Lines: lines(text), syntax: syntax}
	for _, spec := range syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if other, ok := strings.CutPrefix(name, t.Module+"/"); ok {
			f.Imports = append(f.Imports, other)
		}
	}
	for _, d := range syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.export(d.Name)
			if d.Body != nil {
				length := p.fset.Position(d.End()).Line - p.fset.Position(d.Pos()).Line + 1
				f.Functions = append(f.Functions, Function{receiver(d) + d.Name.Name, rel, length})
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					f.export(s.Name)
				case *ast.ValueSpec:
					f.export(s.Names...)
				}
			}
		}
	}
	p.Files = append(p.Files, f)
	return nil
}

func (f *File) export(names ...*ast.Ident) {
	for _, n := range names {
		if n.IsExported() {
			f.Exported = append(f.Exported, n.Name)
		}
	}
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[")
	return strings.TrimPrefix(name, "*") + "."
}

// Lines counts the lines of the package's non-test files.
func (p *Package) Lines() (n int) {
	for _, f := range p.Files {
		n += f.Lines
	}
	return n
}

// Exported counts the package's exported package-level names and methods.
func (p *Package) Exported() (n int) {
	for _, f := range p.Files {
		n += len(f.Exported)
	}
	return n
}

// Total counts lines and files of the tree, tests apart.
func (t *Tree) Total() (lines, files, tests int) {
	for _, p := range t.Packages {
		if p.ForTests() {
			tests += p.Tests + p.Lines()
			continue
		}
		lines += p.Lines()
		files += len(p.Files)
		tests += p.Tests
	}
	return lines, files, tests
}

// Functions returns all functions, the longest first.
func (t *Tree) Functions() []Function {
	var all []Function
	for _, p := range t.Packages {
		for _, f := range p.Files {
			all = append(all, f.Functions...)
		}
	}
	slices.SortStableFunc(all, func(a, b Function) int { return cmp.Compare(b.Lines, a.Lines) })
	return all
}

// Files returns all files, the longest first.
func (t *Tree) Files() []*File {
	var all []*File
	for _, p := range t.Packages {
		all = append(all, p.Files...)
	}
	slices.SortStableFunc(all, func(a, b *File) int { return cmp.Compare(b.Lines, a.Lines) })
	return all
}

// WithoutExample returns the packages that another package imports and that
// have no runnable example. Internal packages need none.
func (t *Tree) WithoutExample() []*Package {
	var found []*Package
	for _, p := range t.Packages {
		if p.Importers > 0 && !p.Example && !slices.Contains(strings.Split(p.Dir, "/"), "internal") {
			found = append(found, p)
		}
	}
	return found
}
