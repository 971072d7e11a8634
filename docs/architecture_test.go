// Package docs_test holds the code to docs/architecture.md.
package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/strategylab/strategylab"
	root   = ".."
)

// may lists, for each package, the packages of ours it may import. Reading it
// from top to bottom is reading the architecture; a change to it is a design
// decision and is reviewed as one. A package that is missing may not exist.
var may = map[string][]string{
	// floor 0: vocabulary and formats
	"host/game":     {},
	"host/disk":     {},
	"host/results":  {"host/disk", "host/game"},
	"host/journal":  {"host/disk"},
	"host/protocol": {},
	"host/jsonrpc":  {},

	// floor 1: the contract
	"strategies":        {"host/game"},
	"strategies/budget": {},

	// floor 2: what runs strategies
	"strategies/batch":        {"host/game", "strategies"},
	"strategies/builtin":      {"host/game", "strategies"},
	"strategies/luascript":    {"host/game", "strategies", "strategies/budget"},
	"strategies/jsscript":     {"host/game", "strategies", "strategies/budget"},
	"strategies/strategytest": {"host/game", "strategies"},

	// floor 3: what puts them to use
	"strategies/catalog": {"host/game", "strategies", "strategies/budget", "strategies/builtin", "strategies/luascript", "strategies/jsscript"},
	"experiments":        {"host/game", "host/results"},
	"experiments/arena":  {"host/game", "host/results", "strategies", "experiments"},

	// beside them: what counts, knowing nothing of how it was played
	"analysis":        {"host/game", "host/results"},
	"analysis/report": {"host/game", "host/results", "analysis"},

	// floor 4: what reads flags and wires the rest
	"cmd/strategylab": {
		"analysis", "analysis/report", "experiments", "experiments/arena", "host/game", "host/results",
		"strategies", "strategies/budget", "strategies/catalog", "strategies/strategytest",
	},
}

// onlyIn says which package alone may import a dependency, and why.
var onlyIn = []struct{ dependency, home, why string }{
	{"github.com/yuin/gopher-lua", "strategies/luascript", "the script API is the same in every language; Lua is a detail of one runtime"},
	{"github.com/dop251/goja", "strategies/jsscript", "the script API is the same in every language; goja is a detail of one runtime"},
	{"github.com/hashicorp/go-plugin", "plugins", "a strategy is a Factory; that it runs in another process is a detail of plugins"},
	{"gonum.org/v1/gonum", "analysis", "numbers with uncertainty are made in one place and handed on as values"},
	{"github.com/modelcontextprotocol", "host/mcptools", "the MCP standard is one way in; the league must not depend on it"},
	{"github.com/nats-io", "experiments/cluster", "an experiment on one machine needs no broker"},
	{"github.com/urfave/cli", "cmd/strategylab", "only the command line knows flags; everything else takes values"},
}

// unreachable says what a package must never reach, on any path.
var unreachable = []struct {
	from, to []string
	sentence string
}{
	{[]string{"host/manager", "host/referee"}, []string{"strategies", "plugins"}, "a referee that cannot see strategies cannot favour one"},
	{[]string{"host/manager"}, []string{"host/referee", "host/player"}, "the three agents meet in the protocol and nowhere else"},
	{[]string{"host/referee"}, []string{"host/manager", "host/player"}, "the three agents meet in the protocol and nowhere else"},
	{[]string{"host/player"}, []string{"host/manager", "host/referee"}, "the three agents meet in the protocol and nowhere else"},
	{[]string{"analysis"}, []string{"host/manager", "host/referee", "host/player", "experiments", "strategies"}, "last month's result file must analyse alone"},
	{[]string{"experiments"}, []string{"analysis"}, "cmd composes plan, run, estimate and report; an experiment does not judge itself"},
}

// clockless packages take no clock and no unseeded randomness, so that the
// same seed gives the same bytes.
var clockless = []string{
	"host/game", "host/results", "strategies", "strategies/batch", "strategies/builtin", "strategies/luascript",
	"strategies/jsscript", "strategies/strategytest", "strategies/catalog", "experiments", "experiments/arena", "analysis", "analysis/report",
}

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

// load parses every non-test Go file of the module, by package folder.
func load(t *testing.T) (map[string]pkg, *token.FileSet) {
	t.Helper()
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
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 10 {
		t.Fatalf("found only %d packages below %s: the test looks in the wrong place", len(pkgs), root)
	}
	return pkgs, fset
}

func ours(imported string) (string, bool) {
	return strings.CutPrefix(imported, module+"/")
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
	pkgs, fset := load(t)
	globals := map[string][]string{
		"os":  {"Args", "Stdin", "Stdout", "Stderr", "Exit", "Getenv", "LookupEnv", "Environ"},
		"fmt": {"Print", "Printf", "Println"},
		"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf"},
	}
	for _, p := range pkgs {
		for file, f := range p.files {
			if file == "cmd/strategylab/main.go" {
				continue
			}
			calls(f, func(pkgPath, name string, pos token.Pos) {
				if slices.Contains(globals[pkgPath], name) {
					t.Errorf("%s uses %s.%s: only cmd/strategylab/main.go touches the process; take what you need as a value", fset.Position(pos), pkgPath, name)
				}
			})
		}
	}
}

func TestNoClockAndNoChance(t *testing.T) {
	t.Parallel()
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

func TestNoMutablePackageState(t *testing.T) {
	t.Parallel()
	pkgs, fset := load(t)
	for dir, p := range pkgs {
		vars := map[string]bool{}
		for _, f := range p.files {
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
					for _, s := range g.Specs {
						for _, n := range s.(*ast.ValueSpec).Names {
							vars[n.Name] = n.Name != "_"
						}
					}
				}
			}
		}
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				if fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: %s has an init function: wire things where they are used, so that importing a package does nothing", fset.Position(fn.Pos()), dir)
				}
				for _, pos := range writes(fn, vars) {
					t.Errorf("%s writes to a package variable: two experiments in one process would share it; make it a field", fset.Position(pos))
				}
			}
		}
	}
}

// writes returns where fn assigns to a package-level variable, or through one,
// that it does not shadow.
func writes(fn *ast.FuncDecl, vars map[string]bool) (found []token.Pos) {
	local := map[string]bool{}
	declare := func(fields *ast.FieldList) {
		if fields == nil {
			return
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				local[n.Name] = true
			}
		}
	}
	declare(fn.Recv)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			declare(n.Params)
			declare(n.Results)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		}
		return true
	})
	check := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.Ident:
				if vars[x.Name] && !local[x.Name] {
					found = append(found, x.Pos())
				}
				return
			default:
				return
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				check(e)
			}
		case *ast.IncDecStmt:
			check(n.X)
		}
		return true
	})
	return found
}

// The page walks up the floors; a package that is not on it does not exist for
// a newcomer.
func TestArchitecturePageNamesEveryPackage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for dir := range may {
		if !strings.Contains(string(page), "`"+dir+"`") {
			t.Errorf("docs/architecture.md does not mention `%s`: say in a sentence what it is for", dir)
		}
	}
}

// The rules above must be able to fail: each is shown a file that breaks it.
func TestRulesCatchOffenders(t *testing.T) {
	t.Parallel()
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
