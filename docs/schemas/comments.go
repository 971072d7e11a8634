package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

const module = "github.com/strategylab/strategylab"

// comments are those of the types, fields and constants of the packages read so far.
type comments struct {
	root   string
	read   map[string]bool
	of     map[string]string   // by "package.Type" and "package.Type.Field"
	values map[string][]string // constants by "package.Type"
}

func newComments(root string) comments {
	return comments{root: root, read: map[string]bool{}, of: map[string]string{}, values: map[string][]string{}}
}

// text returns the comment of a type, or of a field, on one line.
func (c *comments) text(t reflect.Type, field string) (string, error) {
	if err := c.readPackage(t.PkgPath()); err != nil {
		return "", err
	}
	key := t.PkgPath() + "." + t.Name()
	if field != "" {
		key += "." + field
	}
	return strings.Join(strings.Fields(c.of[key]), " "), nil
}

// constants returns the values that a named type of strings has constants for.
func (c *comments) constants(t reflect.Type) ([]string, error) {
	if !strings.HasPrefix(t.PkgPath(), module) {
		return nil, nil
	}
	err := c.readPackage(t.PkgPath())
	return c.values[t.PkgPath()+"."+t.Name()], err
}

func (c *comments) readPackage(path string) error {
	if c.read[path] {
		return nil
	}
	c.read[path] = true
	dir := filepath.Join(c.root, filepath.FromSlash(strings.TrimPrefix(path, module+"/")))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the comments of %s: %w", path, err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read the comments of %s: %w", path, err)
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				c.declaration(path, g)
			}
		}
	}
	return nil
}

func (c *comments) declaration(path string, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch x := spec.(type) {
		case *ast.TypeSpec:
			key := path + "." + x.Name.Name
			c.of[key] = g.Doc.Text() + x.Doc.Text()
			if s, ok := x.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						c.of[key+"."+name.Name] = f.Doc.Text() + " " + f.Comment.Text()
					}
				}
			}
		case *ast.ValueSpec:
			id, ok := x.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range x.Values {
				if lit, ok := v.(*ast.BasicLit); ok {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						c.values[path+"."+id.Name] = append(c.values[path+"."+id.Name], text)
					}
				}
			}
		}
	}
}
