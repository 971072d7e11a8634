package docs_test

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordy names the pages and folders that still use retired words, which are
// logged (go test -v) instead. Nothing is added here.
var wordy = []string{
	"scripts/README.md", "analysis.md", "conformance.md", "league.md", "mcp.md", "peers.md",
	"plugins.md", "protocol/README.md", "protocol/validation.md", "report.md", "sandbox.md", "sequential.md",
	"statistics.md", "cmd/",
}

// retired returns the words and phrases that docs/glossary.md retires, with
// what to write instead.
func retired(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	instead := map[string]string{}
	words, phrases, _ := strings.Cut(string(text), "## Retired phrases")
	for line := range strings.Lines(words) {
		if c := cells(line); len(c) == 3 && c[2] != "not" {
			for _, word := range items(c[2]) {
				instead[word] = c[0]
			}
		}
	}
	for line := range strings.Lines(phrases) {
		if c := cells(line); len(c) == 2 && c[0] != "phrase" {
			for _, phrase := range items(c[0]) {
				instead[phrase] = c[1]
			}
		}
	}
	if len(instead) < 40 || instead["whoever"] == "" || instead["tournament"] == "" {
		t.Fatalf("the glossary retires only %d words: the test does not read its tables", len(instead))
	}
	return instead
}

// cells returns the cells of a row of a table, nil for any other line.
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

// items splits a list at its commas and leaves out what has a note in
// parentheses.
func items(list string) (all []string) {
	note := regexp.MustCompile(`[^,()]*\([^)]*\)`)
	for _, item := range strings.Split(note.ReplaceAllString(list, ""), ",") {
		if item = strings.TrimSpace(item); item != "" {
			all = append(all, item)
		}
	}
	return all
}

// pattern matches any of the words, in singular and plural, also across lines.
func pattern(words map[string]string) *regexp.Regexp {
	var all []string
	for word := range words {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s+`))
	}
	slices.Sort(all)
	return regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)s?\b`)
}

func TestPagesUseTheGlossary(t *testing.T) {
	t.Parallel()
	words := retired(t)
	find := pattern(words)
	for _, page := range pages(t) {
		if page == "glossary.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range find.FindAllIndex(text, -1) {
			line := 1 + strings.Count(string(text[:at[0]]), "\n")
			report(t, words, page, line, string(text[at[0]:at[1]]))
		}
	}
}

func waiting(file string) bool {
	return slices.ContainsFunc(wordy, func(w string) bool {
		return strings.HasPrefix(strings.TrimPrefix(file, "../"), w)
	})
}

func report(t *testing.T, words map[string]string, file string, line int, found string) {
	t.Helper()
	word := strings.ToLower(strings.Join(strings.Fields(found), " "))
	instead := words[word]
	if instead == "" {
		instead = words[strings.TrimSuffix(word, "s")]
	}
	log := t.Errorf
	if waiting(file) {
		if !testing.Verbose() {
			return
		}
		log = t.Logf
	}
	log("%s:%d: %q is retired; write: %s (docs/glossary.md)", file, line, word, instead)
}

// Help is what the fields of commands and flags say that the command line
// prints.
func TestHelpUsesTheGlossary(t *testing.T) {
	t.Parallel()
	words := retired(t)
	find := pattern(words)
	pkgs, fset := load(t)
	texts := 0
	for dir, p := range pkgs {
		if !within(dir, "cmd") {
			continue
		}
		for file, f := range p.files {
			help(f, func(text string, pos token.Pos) {
				texts++
				for _, found := range find.FindAllString(text, -1) {
					at := fset.Position(pos)
					report(t, words, file, at.Line, found)
				}
			})
		}
	}
	if texts < 100 {
		t.Errorf("found only %d help texts below cmd: the test looks in the wrong place", texts)
	}
}

// help visits the string literals in the help fields of commands and flags.
func help(f *ast.File, visit func(text string, pos token.Pos)) {
	fields := []string{"Usage", "UsageText", "Description", "ArgsUsage", "Category", "DefaultText"}
	ast.Inspect(f, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := kv.Key.(*ast.Ident); !ok || !slices.Contains(fields, key.Name) {
			return true
		}
		ast.Inspect(kv.Value, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				if err == nil {
					visit(text, lit.Pos())
				}
			}
			return true
		})
		return false
	})
}
