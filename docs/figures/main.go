// Command figures counts the source as CONTRIBUTING.md shows it.
//
//	go run ./docs/figures                          prints the table
//	go run ./docs/figures -write CONTRIBUTING.md   replaces the table of a page
//
// Lines are counted as wc counts them, generated code apart.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", ".", "source tree to count")
	page := flag.String("write", "", "page whose table is replaced")
	flag.Parse()
	table, err := count(*root)
	if err == nil && *page != "" {
		err = replace(*page, table)
	} else if err == nil {
		fmt.Print(table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// count returns the table of the Go files below root.
func count(root string) (string, error) {
	var files, code, tests int
	var functions []int
	packages := map[string]bool{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n := d.Name(); d.IsDir() && (n == "testdata" || n != "." && n != ".." && strings.HasPrefix(n, ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(syntax) {
			return err
		}
		lines := strings.Count(string(text), "\n")
		// Packages such as net/http/httptest serve tests only.
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(syntax.Name.Name, "test") {
			tests += lines
			return nil
		}
		files++
		code += lines
		packages[filepath.Dir(file)] = true
		for _, decl := range syntax.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				functions = append(functions, fset.Position(f.End()).Line-fset.Position(f.Pos()).Line+1)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(functions) == 0 {
		return "", fmt.Errorf("no functions below %s", root)
	}
	slices.Sort(functions)
	return fmt.Sprintf("| figure | value |\n|---|---|\n"+
		"| lines of code, without tests and generated code | %d in %d files of %d packages |\n"+
		"| lines of tests for each line of code | %.2f |\n"+
		"| longest function | %d lines (a test allows 80) |\n"+
		"| 90th percentile of function length | %d lines |\n",
		code, files, len(packages), float64(tests)/float64(code), functions[len(functions)-1], functions[len(functions)*9/10]), nil
}

const begin, end = "<!-- figures: go run ./docs/figures -write -->\n", "<!-- end of figures -->\n"

// replace puts the table between the markers of a page.
func replace(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return errors.New("write " + page + ": the markers of the table are missing: " + begin + end)
	}
	return os.WriteFile(page, []byte(before+begin+table+end+after), 0o644)
}
