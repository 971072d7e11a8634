// Command figures prints how large the source tree is and how hard it is to
// find one's way in it.
//
//	go run ./docs/figures                     all figures
//	go run ./docs/figures -words              where retired words are still used
//	go run ./docs/figures -write CONTRIBUTING.md
//	                                          replaces the table of figures in a page
//
// It counts lines as wc does and leaves generated code out. What it takes for
// an arrow between two files stands at measure.Arrows.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/docs/figures/measure"
)

// rooms are the trees of packages whose arrows to each other are counted.
var rooms = []string{"cmd/strategylab", "host/conformance", "host/protocol", "analysis"}

func main() {
	root := flag.String("root", ".", "source tree to measure")
	words := flag.Bool("words", false, "list the retired words that are still used")
	write := flag.String("write", "", "replace the table between the markers of this page")
	flag.Parse()
	if err := run(os.Stdout, *root, *words, *write); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, root string, words bool, page string) error {
	t, err := measure.Read(root)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	switch {
	case page != "":
		table(&b, t)
		return replace(page, b.String())
	case words:
		if err := retired(&b, t, root); err != nil {
			return err
		}
	default:
		everything(&b, t)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func retired(w io.Writer, t *measure.Tree, root string) error {
	g, err := measure.ReadGlossary(filepath.Join(root, "docs", "glossary.md"))
	if err != nil {
		return err
	}
	words, err := t.Words(root, g)
	for _, word := range words {
		fmt.Fprintln(w, word)
	}
	return err
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
		return fmt.Errorf("write %s: no lines %q and %q; add them where the table belongs", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(before+begin+table+end+after), 0o644)
}

func table(w io.Writer, t *measure.Tree) {
	lines, files, tests := t.Total()
	functions := t.Functions()
	fmt.Fprintf(w, "| figure | value | limit |\n|---|---|---|\n")
	row := func(what, value, limit string) { fmt.Fprintf(w, "| %s | %s | %s |\n", what, value, limit) }
	row("lines of code in files, without tests and generated code", fmt.Sprintf("%d in %d", lines, files), "")
	row("lines of test code for each line of code", fmt.Sprintf("%.2f", float64(tests)/float64(lines)), "")
	row("longest file", fmt.Sprint(t.Files()[0].Lines, " lines"), fmt.Sprint(measure.MaxFileLines))
	row("longest function", fmt.Sprint(functions[0].Lines, " lines"), fmt.Sprint(measure.MaxFunctionLines))
	row("90th percentile of function length", fmt.Sprint(percentile(functions), " lines"), "")
	most := slices.MaxFunc(t.Packages, func(a, b *measure.Package) int { return len(a.Files) - len(b.Files) })
	row("largest package", fmt.Sprintf("%d files (`%s`)", len(most.Files), most.Dir), fmt.Sprint(measure.MaxPackageFiles))
	for _, dir := range rooms[:2] {
		packages, files := t.RoomArrows(dir)
		row("imports between the packages of `"+dir+"`", fmt.Sprintf("%d; counted by file %d", packages, files), "")
	}
	row("packages that others import, without a runnable example", fmt.Sprint(len(t.WithoutExample())), "")
}

// percentile returns the 90th percentile of function lengths; functions are
// sorted, the longest first.
func percentile(functions []measure.Function) int {
	return functions[len(functions)/10].Lines
}

func everything(w io.Writer, t *measure.Tree) {
	lines, files, tests := t.Total()
	fmt.Fprintf(w, "code: %d lines in %d files, without tests and generated code\n", lines, files)
	fmt.Fprintf(w, "tests: %d lines, %.2f for each line of code; and %d lines of scripts (testdata/*/*.txtar)\n", tests, float64(tests)/float64(lines), t.Scripts)
	functions := t.Functions()
	fmt.Fprintf(w, "functions: %d, 90th percentile %d lines\n", len(functions), percentile(functions))
	packages(w, t)
	arrows(w, t)
	thinnest(w, t)
	without := t.WithoutExample()
	fmt.Fprintf(w, "\nimported by others, without a runnable example: %d\n", len(without))
	for _, p := range without {
		fmt.Fprintf(w, "  %s\n", p.Dir)
	}
}

// thinnest lists the packages with the fewest tests. Packages below the first
// two rooms count as one with it: its tests reach them through the command.
func thinnest(w io.Writer, t *measure.Tree) {
	type tested struct {
		dir         string
		code, tests int
	}
	var all []tested
	for _, p := range t.Packages {
		if p.ForTests() {
			continue
		}
		dir := p.Dir
		for _, room := range rooms[:2] {
			if measure.Within(dir, room) {
				dir = room
			}
		}
		i := slices.IndexFunc(all, func(r tested) bool { return r.dir == dir })
		if i < 0 {
			i, all = len(all), append(all, tested{dir: dir})
		}
		all[i].code += p.Lines()
		all[i].tests += p.Tests
	}
	all = slices.DeleteFunc(all, func(r tested) bool { return r.code == 0 })
	slices.SortStableFunc(all, func(a, b tested) int { return a.tests*b.code - b.tests*a.code })
	fmt.Fprintf(w, "\nthinnest tests: test lines for each line of code\n")
	for _, r := range all[:min(10, len(all))] {
		fmt.Fprintf(w, "  %4.2f  %s (%d for %d)\n", float64(r.tests)/float64(r.code), r.dir, r.tests, r.code)
	}
}

func packages(w io.Writer, t *measure.Tree) {
	fmt.Fprintf(w, "\nexported names and methods, most first\n")
	most := slices.Clone(t.Packages)
	slices.SortStableFunc(most, func(a, b *measure.Package) int { return b.Exported() - a.Exported() })
	for _, p := range most[:min(12, len(most))] {
		fmt.Fprintf(w, "  %3d  %s\n", p.Exported(), p.Dir)
	}
}

func arrows(w io.Writer, t *measure.Tree) {
	type counted struct {
		dir string
		measure.Arrows
	}
	var all []counted
	for _, p := range t.Packages {
		if len(p.Files) > 1 {
			all = append(all, counted{p.Dir, p.Arrows()})
		}
	}
	slices.SortStableFunc(all, func(a, b counted) int { return b.Arrows.Arrows - a.Arrows.Arrows })
	fmt.Fprintf(w, "\narrows between the files of a package, most first\n")
	for _, c := range all[:min(15, len(all))] {
		fmt.Fprintf(w, "  %3d  %3.0f %% backwards  %s\n", c.Arrows.Arrows, 100*c.Share(), c.dir)
	}
	fmt.Fprintf(w, "\narrows between the packages of a tree, those of files to packages, and inside of packages\n")
	for _, dir := range rooms {
		inside := measure.Arrows{}
		for _, c := range all {
			if measure.Within(c.dir, dir) {
				inside.Arrows += c.Arrows.Arrows
				inside.Backwards += c.Backwards
			}
		}
		packages, files := t.RoomArrows(dir)
		fmt.Fprintf(w, "  %3d of packages, %3d of files, %3d inside (%.0f %% backwards)  %s\n", packages, files, inside.Arrows, 100*inside.Share(), dir)
	}
}
