package measure

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Glossary is the list of retired words and phrases.
type Glossary struct {
	instead map[string]string // by retired word
	pattern *regexp.Regexp
}

// Place says where a text stands that people read.
type Place string

const (
	InPage Place = "page" // a documentation page
	InHelp Place = "help" // the description of a command or flag
	InCode Place = "code" // a comment, or any other string
)

// Word is a retired word that is still used.
type Word struct {
	Place   Place
	File    string
	Line    int
	Word    string
	Instead string
}

func (w Word) String() string {
	return fmt.Sprintf("%s:%d: %q is retired; write: %s", w.File, w.Line, w.Word, w.Instead)
}

// ReadGlossary reads the third column of the tables of a page, and the table
// below its heading "Retired phrases". Entries with a note in parentheses are
// left out: they have other meanings.
func ReadGlossary(page string) (*Glossary, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	g := &Glossary{instead: map[string]string{}}
	words, phrases, _ := strings.Cut(string(text), "## Retired phrases")
	for line := range strings.Lines(words) {
		if c := Cells(line); len(c) == 3 && c[2] != "not" {
			g.retire(c[2], c[0])
		}
	}
	for line := range strings.Lines(phrases) {
		if c := Cells(line); len(c) == 2 && c[0] != "phrase" {
			g.retire(c[0], c[1])
		}
	}
	if len(g.instead) == 0 {
		return nil, fmt.Errorf("read %s: found no table with retired words", page)
	}
	var all []string
	for word := range g.instead {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s+(?://\s*)?`))
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	g.pattern = regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)s?\b`)
	return g, nil
}

var note = regexp.MustCompile(`[^,()]*\([^)]*\)`)

func (g *Glossary) retire(list, instead string) {
	for item := range strings.SplitSeq(note.ReplaceAllString(list, ""), ",") {
		if item = strings.TrimSpace(item); item != "" {
			g.instead[item] = instead
		}
	}
}

// Cells returns the cells of a row of a Markdown table, nil for any other line.
func Cells(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok || strings.HasPrefix(line, "---") {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(line, "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// Find returns the retired words in a text that begins at a line of a file.
func (g *Glossary) Find(place Place, file string, line int, text string) (found []Word) {
	for _, at := range g.pattern.FindAllStringIndex(text, -1) {
		word := strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(text[at[0]:at[1]]), "//", " ")), " ")
		instead := g.instead[word]
		if instead == "" {
			instead = g.instead[strings.TrimSuffix(word, "s")]
		}
		found = append(found, Word{place, file, line + strings.Count(text[:at[0]], "\n"), word, instead})
	}
	return found
}

// Words returns the retired words of all pages but the glossary, and of the
// comments and strings of all non-test files.
func (t *Tree) Words(root string, g *Glossary) (found []Word, err error) {
	for _, p := range t.Pages {
		if p.Path == "docs/glossary.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.Path)))
		if err != nil {
			return nil, err
		}
		found = append(found, g.Find(InPage, p.Path, 1, string(text))...)
	}
	for _, p := range t.Packages {
		for _, f := range p.Files {
			found = append(found, f.words(p.fset, g)...)
		}
	}
	return found, nil
}

// helpFields are the fields of commands and flags that the command line prints.
var helpFields = []string{"Usage", "UsageText", "Description", "ArgsUsage", "Category", "DefaultText"}

func (f *File) words(fset *token.FileSet, g *Glossary) (found []Word) {
	add := func(place Place, n ast.Node, text string) {
		found = append(found, g.Find(place, f.Path, fset.Position(n.Pos()).Line, text)...)
	}
	for _, comment := range f.syntax.Comments {
		var text strings.Builder
		for _, c := range comment.List {
			text.WriteString(c.Text + "\n")
		}
		add(InCode, comment, text.String())
	}
	var visit func(place Place) func(ast.Node) bool
	visit = func(place Place) func(ast.Node) bool {
		return func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(helpFields, key.Name) {
					ast.Inspect(n.Value, visit(InHelp))
					return false
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					add(place, n, text)
				}
			}
			return true
		}
	}
	ast.Inspect(f.syntax, visit(InCode))
	return found
}
