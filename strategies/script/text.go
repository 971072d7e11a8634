package script

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text is the source of a script, for hints at what its author may have meant. It reads lines, not
// a syntax tree: it serves scripts that do not parse. It is safe for concurrent use.
type Text struct {
	source  []byte
	comment string
	habits  func() []Habit

	// A script that fails in every match asks the same every time.
	mu     sync.Mutex
	wrote  map[int]string
	quotes map[string]int
	names  []string
}

// NewText returns the text of a script in a language where comments begin with
// comment. Habits are asked for when a script is broken.
func NewText(source []byte, comment string, habits func() []Habit) *Text {
	return &Text{source: bytes.Clone(source), comment: comment, habits: habits, wrote: make(map[int]string), quotes: make(map[string]int)}
}

// Habit is a form of another language, and what to write instead.
type Habit struct {
	Form  *regexp.Regexp // in a line without texts and comments
	Write string
}

// Habits returns a function that compiles habits, when they are first asked for.
func Habits(list [][2]string) func() []Habit {
	return sync.OnceValue(func() (habits []Habit) {
		for _, h := range list {
			habits = append(habits, Habit{Form: regexp.MustCompile(h[0]), Write: h[1]})
		}
		return habits
	})
}

// Pattern returns a function that compiles a regular expression when it is first asked for.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// quoted matches what stands in quotes on one line.
var quoted = Pattern(`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'`)

// code returns a line, from 1, without its comment and the content of its texts.
func (t *Text) code(line int) string {
	rest := t.source
	for range line - 1 {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	text, _, _ := bytes.Cut(rest, []byte("\n"))
	return t.strip(text)
}

func (t *Text) strip(line []byte) string {
	code, _, _ := strings.Cut(quoted().ReplaceAllString(string(line), `""`), t.comment)
	return code
}

func (t *Text) lines() int { return bytes.Count(t.source, []byte("\n")) + 1 }

// Habit returns what to write instead of a form of another language on a line, or "".
func (t *Text) Habit(line int) string {
	if line < 1 {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	write, known := t.wrote[line]
	if !known {
		code := t.code(line)
		habits := t.habits()
		if at := slices.IndexFunc(habits, func(h Habit) bool { return h.Form.MatchString(code) }); at >= 0 {
			write = habits[at].Write
		}
		t.wrote[line] = write // there are not more than lines
	}
	return write
}

// First returns the first line of code with a form, 0 if there is none.
func (t *Text) First(form *regexp.Regexp) (line int) {
	for n := range t.lines() {
		if form.MatchString(t.code(n + 1)) {
			return n + 1
		}
	}
	return 0
}

// LineOf returns the first line of code with a word, 0 if there is none.
func (t *Text) LineOf(word string) int {
	if !utf8.ValidString(word) { // a key that a script makes up
		return 0
	}
	return t.First(regexp.MustCompile(before + regexp.QuoteMeta(word) + after))
}

// before and after match what is beside a name. A name may begin or end with a dollar sign,
// where \b does not match.
const (
	before = `(?:^|[^\pL\pN_$])`
	after  = `(?:$|[^\pL\pN_$])`
)

var name = Pattern(`[\pL_$][\pL\pN_$]*`)

// NearestName returns the name in the code that is most like one that does not exist,
// "" if none is like it.
func (t *Text) NearestName(missing string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		names := make(map[string]bool)
		for line := range bytes.Lines(t.source) {
			for _, found := range name().FindAllString(t.strip(line), -1) {
				names[found] = true
			}
		}
		t.names = slices.Sorted(maps.Keys(names))
	}
	return Nearest(missing, slices.DeleteFunc(slices.Clone(t.names), func(n string) bool { return n == missing }))
}

// LineOfText returns the only line that has a text in quotes, 0 if there is none or several.
func (t *Text) LineOfText(text string) int {
	const most = 100 // a script can make up any number of texts
	t.mu.Lock()
	defer t.mu.Unlock()
	line, known := t.quotes[text]
	if !known && len(t.quotes) < most {
		line = t.lineOfText(text)
		t.quotes[text] = line
	}
	return line
}

func (t *Text) lineOfText(text string) int {
	found := 0
	for n, line := range strings.Split(string(t.source), "\n") {
		for _, q := range quoted().FindAllString(line, -1) {
			if q[1:len(q)-1] != text {
				continue
			}
			if found != 0 && found != n+1 {
				return 0
			}
			found = n + 1
		}
	}
	return found
}

// count returns how often a name is in the script.
func (t *Text) count(n string) (times int) {
	for _, found := range name().FindAll(t.source, -1) {
		if string(found) == n {
			times++
		}
	}
	return times
}

// Assigns reports whether the script may assign to a name: then reading it before is no mistake.
func (t *Text) Assigns(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	q := regexp.QuoteMeta(name)
	return regexp.MustCompile(before + q + `\s*(?:=[^=]|\+\+|--|[-+*/|&?]+=)|\bfunction\s+` + q + after).Match(t.source)
}

// Uncalled reports the functions that are meant as a hook and are never called, unless the
// script has that hook.
func (t *Text) Uncalled(has func(hook string) bool, function *regexp.Regexp, seen func(Slip)) {
	for _, hook := range []string{"start", "observe"} {
		if name, line := t.Declared(hook, function); line > 0 && !has(hook) {
			seen(Slip{Line: line, What: fmt.Sprintf("function %s is never called", name), Hint: "did you mean " + hook + "?"})
		}
	}
}

// Declared returns the function whose name is most like one that is missing, and its
// line; 0 if none is like it. Functions called elsewhere in the script are left out.
func (t *Text) Declared(missing string, function *regexp.Regexp) (name string, line int) {
	at := make(map[string]int)
	var names []string
	for n := range t.lines() {
		for _, m := range function.FindAllStringSubmatch(t.code(n+1), -1) {
			if name := m[1] + strings.Join(m[2:], ""); at[name] == 0 && name != missing { // one of the groups
				at[name] = n + 1
				names = append(names, name)
			}
		}
	}
	for _, n := range names {
		if folded(n) == folded(missing) || folded(n) == "on"+folded(missing) {
			return n, at[n]
		}
	}
	if n := Nearest(missing, names); n != "" && distance(n, missing) <= 2 && t.count(n) == 1 {
		return n, at[n]
	}
	return "", 0
}

// Nearest returns the candidate with the smallest edit distance to s, the first of
// equals, or "" if none is similar.
func Nearest(s string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		// With more edits than a third of the longer word they are not similar.
		d := distance(s, c)
		if d <= max(len(s), len(c))/3 && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// distance returns the optimal string alignment distance of a and b: insertions,
// deletions, replacements and swaps of neighbours, each byte edited at most once
// (Boytsov, ACM JEA 16, 2011, section 2.2).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
