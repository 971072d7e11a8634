package docs_test

import (
	"cmp"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHelpAndPagesUseTheGlossary looks for the retired words of the glossary in pages and
// in the help of commands and flags.
func TestHelpAndPagesUseTheGlossary(t *testing.T) {
	instead, pattern := retired(t)
	check := func(at, text string) {
		for _, word := range pattern.FindAllString(text, -1) {
			word = strings.ToLower(strings.Join(strings.Fields(word), " "))
			t.Errorf("%s: %q is retired; write: %s (docs/glossary.md)", at, word, cmp.Or(instead[word], instead[strings.TrimSuffix(word, "s")]))
		}
	}
	for _, page := range pages(t) {
		text := read(t, page)
		if filepath.Base(page) != "glossary.md" {
			check(page, text)
		}
	}
	pkgs, fset := load(t)
	for _, p := range pkgs {
		for _, f := range p.files {
			for at, text := range helpTexts(f) {
				check(fset.Position(at).String(), text)
			}
		}
	}
}

// TestGlossaryFindsWords: the pattern finds plural forms and words that a line break parts.
func TestGlossaryFindsWords(t *testing.T) {
	_, pattern := retired(t)
	if found := pattern.FindAllString("Duels between bots, in the\nplace of matches.", -1); !slices.Equal(found, []string{"Duels", "bots", "in the\nplace of"}) {
		t.Errorf("found %q", found)
	}
}

var note = regexp.MustCompile(`[^,()]*\([^)]*\)`)

// retired reads the third column of the tables of the glossary, and the table below its heading
// "Retired phrases". Entries with a note in parentheses are left out: they have other meanings.
func retired(t *testing.T) (instead map[string]string, pattern *regexp.Regexp) {
	text := read(t, "glossary.md")
	instead = map[string]string{}
	retire := func(list, word string) {
		for item := range strings.SplitSeq(note.ReplaceAllString(list, ""), ",") {
			if item = strings.TrimSpace(item); item != "" {
				instead[item] = word
			}
		}
	}
	words, phrases, _ := strings.Cut(text, "## Retired phrases")
	for line := range strings.Lines(words) {
		if c := cells(line); len(c) == 3 && c[2] != "not" {
			retire(c[2], c[0])
		}
	}
	for line := range strings.Lines(phrases) {
		if c := cells(line); len(c) == 2 && c[0] != "phrase" {
			retire(c[0], c[1])
		}
	}
	var all []string
	for word := range instead {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s+`))
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return instead, regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)s?\b`)
}

// cells returns the cells of a row of a Markdown table, nil for any other line.
func cells(line string) []string {
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

// helpFields are the fields of commands and flags that the command line prints.
var helpFields = []string{"Usage", "UsageText", "Description", "ArgsUsage", "Category", "DefaultText"}

// helpTexts returns the texts of a file's help fields.
func helpTexts(f *ast.File) map[token.Pos]string {
	texts := map[token.Pos]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		field, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := field.Key.(*ast.Ident); ok && slices.Contains(helpFields, key.Name) {
			ast.Inspect(field.Value, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						texts[lit.Pos()] = text
					}
				}
				return true
			})
		}
		return true
	})
	return texts
}
