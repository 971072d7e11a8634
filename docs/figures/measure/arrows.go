package measure

import (
	"errors"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Arrows counts how the files of one package depend on each other.
type Arrows struct {
	// Arrows is the number of ordered pairs of files of which the first uses a
	// package-level declaration, a method or a field of the second.
	Arrows int
	// Backwards is the number of arrows that point from a later file to an
	// earlier one. Files are ordered as a reader meets them who starts with
	// the alphabetically first file and follows its arrows before going on:
	// the reverse postorder of a depth-first walk. A package without cycles
	// has no arrows backwards.
	Backwards int
}

// Share is the share of arrows that point backwards.
func (a Arrows) Share() float64 {
	if a.Arrows == 0 {
		return 0
	}
	return float64(a.Backwards) / float64(a.Arrows)
}

// noImports lets the type checker do without other packages: what is declared
// in the package itself resolves all the same.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

// Arrows counts the arrows between the files of the package.
func (p *Package) Arrows() Arrows {
	var files []*ast.File
	for _, f := range p.Files {
		files = append(files, f.syntax)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := check.Check(p.Dir, p.fset, files, info) // errors are those of missing imports
	arrows := graph{}
	for id, object := range info.Uses {
		if object.Pkg() != pkg || !declared(object, pkg) {
			continue
		}
		arrows.add(p.fset.Position(id.Pos()).Filename, p.fset.Position(object.Pos()).Filename)
	}
	return arrows.count()
}

// declared reports whether an object belongs to the package rather than to a
// function: a package-level declaration, a method or a field.
func declared(object types.Object, pkg *types.Package) bool {
	if object.Parent() == pkg.Scope() {
		return true
	}
	switch o := object.(type) {
	case *types.Func:
		return o.Signature().Recv() != nil
	case *types.Var:
		return o.IsField()
	}
	return false
}

// RoomArrows counts the arrows between packages at or below dir: the pairs of a package
// and another one that it imports, and the pairs of a file and another such package.
func (t *Tree) RoomArrows(dir string) (packages, files int) {
	arrows := graph{}
	for _, p := range t.Packages {
		if !Within(p.Dir, dir) {
			continue
		}
		for _, f := range p.Files {
			for _, other := range f.Imports {
				if Within(other, dir) {
					arrows.add(p.Dir, other)
					files++
				}
			}
		}
	}
	for _, to := range arrows {
		packages += len(to)
	}
	return packages, files
}

// Within reports whether a folder is dir or below it.
func Within(folder, dir string) bool {
	return folder == dir || strings.HasPrefix(folder, dir+"/")
}

type graph map[string]map[string]bool

func (g graph) add(from, to string) {
	if from == to {
		return
	}
	if g[from] == nil {
		g[from] = map[string]bool{}
	}
	g[from][to] = true
}

func (g graph) count() (a Arrows) {
	place, next := map[string]int{}, 0
	seen := map[string]bool{}
	var walk func(string)
	walk = func(n string) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, to := range slices.Sorted(maps.Keys(g[n])) {
			walk(to)
		}
		place[n], next = next, next+1 // postorder: targets come first
	}
	for _, n := range slices.Sorted(maps.Keys(g)) {
		walk(n)
	}
	for from, targets := range g {
		for to := range targets {
			a.Arrows++
			if place[from] < place[to] {
				a.Backwards++
			}
		}
	}
	return a
}
