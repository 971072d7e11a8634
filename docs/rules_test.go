package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

type pkg struct {
	name  string
	files map[string]*ast.File // by path below root
}

func (p pkg) imports() []string {
	seen := map[string]bool{}
	for _, f := range p.files {
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				panic(err)
			}
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// load returns every non-test Go file of the module, by package folder. The files are
// parsed once: tests do not change what they share.
func load(t *testing.T) (map[string]pkg, *token.FileSet) {
	t.Helper()
	m := parsed()
	if m.err != nil {
		t.Fatal(m.err)
	}
	if len(m.pkgs) < 10 {
		t.Fatalf("found only %d packages below %s: the test looks in the wrong place", len(m.pkgs), root)
	}
	return m.pkgs, m.fset
}

// parsedModule is what load returns.
type parsedModule struct {
	pkgs map[string]pkg
	fset *token.FileSet
	err  error
}

var parsed = sync.OnceValue(func() parsedModule {
	fset := token.NewFileSet()
	pkgs := map[string]pkg{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if n := d.Name(); n == "testdata" || (strings.HasPrefix(n, ".") && n != "..") {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		dir := path.Dir(rel)
		if pkgs[dir].files == nil {
			pkgs[dir] = pkg{name: f.Name.Name, files: map[string]*ast.File{}}
		}
		pkgs[dir].files[rel] = f
		return nil
	})
	return parsedModule{pkgs, fset, err}
})

func ours(imported string) (string, bool) {
	return strings.CutPrefix(imported, module+"/")
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func TestImportsPointDown(t *testing.T) {
	pkgs, _ := load(t)
	for dir, p := range pkgs {
		allowed, known := may[dir]
		if !known {
			t.Errorf("package %s has no line in the import table: say what it may import, and on which floor it lives", dir)
			continue
		}
		for _, imported := range p.imports() {
			if other, ok := ours(imported); ok && !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s, which the table does not allow: imports point down, and what both need lives in the earlier stage", dir, other)
			}
		}
	}
	for dir, allowed := range may {
		if _, exists := pkgs[dir]; !exists {
			t.Errorf("the import table speaks of %s, which does not exist: take the line out", dir)
		}
		for _, other := range allowed {
			if p, exists := pkgs[dir]; exists && !slices.Contains(p.imports(), module+"/"+other) {
				t.Errorf("the import table allows %s to import %s, which it does not: take it out, so that the table stays a picture", dir, other)
			}
		}
	}
}

func TestHeavyDependenciesHaveOneHome(t *testing.T) {
	pkgs, _ := load(t)
	for dir, p := range pkgs {
		for _, imported := range p.imports() {
			for _, rule := range onlyIn {
				if within(imported, rule.dependency) && !within(dir, rule.home) {
					t.Errorf("%s imports %s, which only %s may: %s", dir, imported, rule.home, rule.why)
				}
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	pkgs, _ := load(t)
	for _, rule := range unreachable {
		for dir := range pkgs {
			if !slices.ContainsFunc(rule.from, func(f string) bool { return within(dir, f) }) {
				continue
			}
			for _, bad := range rule.to {
				if chain := reach(pkgs, dir, bad, map[string]bool{}); chain != nil {
					t.Errorf("%s: %s", strings.Join(chain, " imports "), rule.sentence)
				}
			}
		}
	}
}

// reach returns a chain of imports from dir to a package within bad, or nil.
func reach(pkgs map[string]pkg, dir, bad string, seen map[string]bool) []string {
	seen[dir] = true
	for _, imported := range pkgs[dir].imports() {
		other, ok := ours(imported)
		if !ok || seen[other] {
			continue
		}
		if within(other, bad) {
			return []string{dir, other}
		}
		if chain := reach(pkgs, other, bad, seen); chain != nil {
			return append([]string{dir}, chain...)
		}
	}
	return nil
}

func TestPackageNamesSayWhatTheyHold(t *testing.T) {
	pkgs, _ := load(t)
	for dir, p := range pkgs {
		if slices.Contains([]string{"util", "utils", "common", "lib", "shared", "types", "helpers"}, p.name) {
			t.Errorf("package %s is called %q: name it for what it does", dir, p.name)
		}
		documented := p.name == "main"
		for _, f := range p.files {
			documented = documented || f.Doc != nil
		}
		if !documented {
			t.Errorf("package %s has no package comment: say in a sentence what it is for", dir)
		}
	}
}

// calls visits every pkg.Name selector on an imported package.
func calls(f *ast.File, visit func(pkgPath, name string, pos token.Pos)) {
	imported := map[string]string{}
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = p
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && imported[x.Name] != "" {
			visit(imported[x.Name], sel.Sel.Name, sel.Pos())
		}
		return true
	})
}

func TestOnlyMainTouchesTheProcess(t *testing.T) {
	pkgs, fset := load(t)
	globals := map[string][]string{
		"os":  {"Args", "Stdin", "Stdout", "Stderr", "Exit", "Getenv", "LookupEnv", "Environ"},
		"fmt": {"Print", "Printf", "Println"},
		"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf"},
	}
	for _, p := range pkgs {
		for file, f := range p.files {
			if program, _ := path.Match("cmd/*/main.go", file); program || processes[file] != "" {
				continue
			}
			calls(f, func(pkgPath, name string, pos token.Pos) {
				if slices.Contains(globals[pkgPath], name) {
					t.Errorf("%s uses %s.%s: only the main.go of a program touches the process; take what you need as a value", fset.Position(pos), pkgPath, name)
				}
			})
		}
	}
}

func TestNoClockAndNoChance(t *testing.T) {
	pkgs, fset := load(t)
	// Constructors of seeded generators are what these packages are to use.
	seeded := []string{"New", "NewPCG", "NewChaCha8", "PCG", "ChaCha8", "Rand", "Source"}
	for _, dir := range clockless {
		for _, f := range pkgs[dir].files {
			calls(f, func(pkgPath, name string, pos token.Pos) {
				clock := pkgPath == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}, name)
				chance := pkgPath == "crypto/rand" || pkgPath == "math/rand" || (pkgPath == "math/rand/v2" && !slices.Contains(seeded, name))
				if clock || chance {
					t.Errorf("%s uses %s.%s: the same seed must give the same bytes, so %s takes no clock and no unseeded randomness", fset.Position(pos), pkgPath, name, dir)
				}
			})
		}
	}
}

// The page walks up the floors; a package that is not on it does not exist for a newcomer.
func TestArchitecturePageNamesEveryPackage(t *testing.T) {
	page := read(t, "architecture.md")
	for dir := range may {
		if !strings.Contains(page, "`"+dir+"`") {
			t.Errorf("docs/architecture.md does not mention `%s`: say in a sentence what it is for", dir)
		}
	}
}

// The rules above must be able to fail: each is shown a file that breaks it.
func TestRulesCatchOffenders(t *testing.T) {
	parse := func(src string) *ast.File {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := parse("package x\nvar cache = map[string]int{}\nvar n int\nfunc f() { cache[`a`] = 1; n++ }\nfunc g() { n := 1; n++ }")
	for i, want := range []int{2, 0} {
		fn := f.Decls[2+i].(*ast.FuncDecl)
		if got := writes(fn, map[string]bool{"cache": true, "n": true}); len(got) != want {
			t.Errorf("func %s: %d writes to package variables, want %d", fn.Name, len(got), want)
		}
	}
	var seen []string
	calls(parse("package x\nimport (\"os\"; mr \"math/rand/v2\")\nfunc f() { os.Exit(mr.Int()) }"), func(p, n string, _ token.Pos) {
		seen = append(seen, fmt.Sprintf("%s.%s", p, n))
	})
	if !slices.Contains(seen, "os.Exit") || !slices.Contains(seen, "math/rand/v2.Int") {
		t.Errorf("calls saw %v, want os.Exit and math/rand/v2.Int among them", seen)
	}
	made := func(imports string) pkg {
		return pkg{name: "x", files: map[string]*ast.File{"x.go": parse("package x\nimport " + imports)}}
	}
	pkgs := map[string]pkg{
		"host/referee": made(strconv.Quote(module + "/host/wire")),
		"host/wire":    made(strconv.Quote(module + "/strategies/builtin")),
	}
	if chain := reach(pkgs, "host/referee", "strategies", map[string]bool{}); len(chain) != 3 {
		t.Errorf("reach found %v, want the chain over host/wire", chain)
	}
}
