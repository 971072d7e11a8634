package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// read returns the text of a file.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pages returns all documentation pages, by path relative to this folder.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md", "../scripts/README.md"}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".md") {
			all = append(all, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found only %d pages", len(all))
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	for _, page := range pages(t) {
		text := read(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
}

// Every picture is shown somewhere, and all of them together are small, since each clone has them.
func TestPicturesAreShownAndSmall(t *testing.T) {
	var shown strings.Builder
	for _, page := range pages(t) {
		text := read(t, page)
		shown.WriteString(text)
	}
	pictures, err := os.ReadDir("images")
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, p := range pictures {
		about, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += about.Size()
		if !strings.Contains(shown.String(), "images/"+p.Name()+")") {
			t.Errorf("no page shows images/%s", p.Name())
		}
	}
	if most := int64(300 << 10); size > most {
		t.Errorf("the pictures have %d bytes, more than %d", size, most)
	}
}

// The index of the documentation names every page.
func TestIndexNamesEveryPage(t *testing.T) {
	index := read(t, "README.md")
	for _, page := range pages(t) {
		if page == "README.md" || page == "../README.md" || page == "../CHANGELOG.md" || strings.Count(page, "/") > 1 {
			continue
		}
		if !strings.Contains(index, "]("+filepath.ToSlash(page)+")") {
			t.Errorf("docs/README.md does not link to %s: say in a line what it is about", page)
		}
	}
}

// A path in the map of the code, or in the guide for contributors, exists.
func TestNamedPathsExist(t *testing.T) {
	span := regexp.MustCompile("`([a-z./][A-Za-z0-9_./-]*)`")
	folders := regexp.MustCompile(`^(cmd|host|plugins|strategies|scripts|experiments|analysis|docs|\.ci)/`)
	for _, page := range []string{"architecture.md", "../CONTRIBUTING.md"} {
		text := read(t, page)
		named := 0
		for _, m := range span.FindAllStringSubmatch(text, -1) {
			if !folders.MatchString(m[1]) || strings.Contains(m[1], "mine.") {
				continue
			}
			named++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names `%s`, which does not exist", page, m[1])
			}
		}
		if named < 5 {
			t.Errorf("%s names only %d paths: the test does not read it", page, named)
		}
	}
}

// What the table "Where is ...?" says to look for is in the files it names.
func TestQuestionsAreAnswered(t *testing.T) {
	text := read(t, "architecture.md")
	_, table, _ := strings.Cut(text, "## Where is ...?")
	table, _, _ = strings.Cut(table, "\n## ")
	span := regexp.MustCompile("`([^`]+)`")
	questions := 0
	for line := range strings.Lines(table) {
		c := cells(line)
		if len(c) != 3 || c[0] == "question" {
			continue
		}
		questions++
		var code strings.Builder
		for _, m := range span.FindAllStringSubmatch(c[1], -1) {
			if source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m[1]))); err == nil {
				code.Write(source)
			}
		}
		for _, m := range span.FindAllStringSubmatch(c[2], -1) {
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(m[1]) + `\b`).MatchString(code.String()) {
				t.Errorf("docs/architecture.md answers %q with %s, which has no %s: name where it has moved", c[0], c[1], m[1])
			}
		}
	}
	if questions < 10 {
		t.Errorf("docs/architecture.md answers only %d questions", questions)
	}
}

// A benchmark that the page on performance names exists.
func TestNamedBenchmarksExist(t *testing.T) {
	text := read(t, "performance.md")
	named := regexp.MustCompile("`[^`]*go test (\\./[a-z0-9/]+) -bench ([A-Za-z]+|\\.)").FindAllStringSubmatch(text, -1)
	for _, m := range named {
		files, err := filepath.Glob(filepath.Join(root, m[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var tests strings.Builder
		for _, file := range files {
			source := read(t, file)
			tests.WriteString(source)
		}
		if !regexp.MustCompile(`(?m)^func Benchmark\w*` + strings.Trim(m[2], ".")).MatchString(tests.String()) {
			t.Errorf("docs/performance.md names benchmark %s of %s, which does not exist", m[2], m[1])
		}
	}
	if len(named) < 10 {
		t.Errorf("docs/performance.md names only %d benchmarks: the test does not read it", len(named))
	}
}
