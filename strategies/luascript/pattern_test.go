package luascript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/pm"

	"github.com/strategylab/strategylab/strategies/budget"
)

// TestPatterns holds the pattern functions to the reference manual of Lua 5.1
// (§5.4), to the examples of "Programming in Lua" (chapter 20), and to what
// lua 5.1.5 prints.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, want string }{
		{`("hello world"):find("wor")`, "7 9"},
		{`("hello world"):find("l"), ("hello world"):find("l", 5), ("hello"):find("xyz")`, "3 10 nil"},
		{`("a.b"):find(".", 1, true), ("a.b"):find("%.")`, "2 2 2"},
		{`(""):find(""), ("abc"):find("", 10), ("abc"):find("", 2), ("abc"):find("b", -2)`, "1 4 2 2 2"},
		{`("abc"):find("^b"), ("abc"):find("^b", 2), ("abc"):find("c$"), ("a$c"):find("$c")`, "nil 2 3 2 3"},
		{`("  x = 1  "):match("^%s*(.-)%s*$")`, "x = 1"},
		{`("key = value"):match("(%w+)%s*=%s*(%w+)")`, "key value"},
		{`("2026-11-20"):match("(%d+)-(%d+)-(%d+)")`, "2026 11 20"},
		{`("hello"):match("()ll()")`, "3 5"},
		{`("abc"):match("((a)(b))(c)")`, "ab a b c"},
		{`("f(a(b)c)d"):match("%b()"), ("(("):match("%b()")`, "(a(b)c) nil"},
		{`("THE (quick) fox"):find("%f[%a]%a+%f[%A]"), ("THE (quick) fox"):match("%f[%l]%l+")`, "1 quick"},
		{`([[he said "yes" 'no']]):match("([\"'])(.-)%1")`, `" yes`},
		{`("x-y]z"):match("[]-]"), ("x-y"):match("[^%w]"), ("a-z"):match("[a%-]+"), ("]"):match("[]]")`, "- - a- ]"},
		{`("[^"):match("[%^[]+"), ("b"):match("[a-c]"), ("-"):match("[a-]"), ("0x1F"):match("^0[xX](%x+)$")`, "[^ b - 1F"},
		{`("a\0b"):match("%z"), #("a\0b"):match("a%zb"), ("tab\tx"):match("%c") == "\t"`, "\x00 3 true"},
		{`("aaa"):match("a-b"), ("aaab"):match("a-b"), ("aaa"):match("a?a?a?a?"), ("aaa"):match("^a+$")`, "nil aaab aaa aaa"},
		{`("hello world"):gsub("o", "0")`, "hell0 w0rld 2"},
		{`("hello"):gsub("", "-")`, "-h-e-l-l-o- 6"},
		{`("abc"):gsub("%w", "%0%0"), ("abc def"):gsub("(%w+) (%w+)", "%2 %1")`, "aabbcc def abc 1"},
		{`("abc"):gsub("b", "%%"), ("abc"):gsub("b", "%x")`, "a%c axc 1"},
		{`("abc"):gsub("%w", {a = "1", b = true and 2, c = false})`, "12c 3"},
		{`("abc"):gsub("%w", function(c) if c ~= "b" then return c:upper() end end)`, "AbC 3"},
		{`("aaa"):gsub("a", "b", 2), ("aaa"):gsub("^a", "b"), ("baa"):gsub("^a", "x")`, "bba baa baa 0"},
		{`("x y"):gsub("(%w)()", function(c, at) return c .. at end)`, "x2 y4 2"},
		{`("abc"):gsub("$", "!"), ("abc"):gsub("b*", "-")`, "abc! -a--c- 4"},
		{`(function() local r = "" for w in ("one two"):gmatch("%a+") do r = r .. w .. ";" end return r end)()`, "one;two;"},
		{`(function() local r = "" for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do r = r .. k .. v end return r end)()`, "a1b2"},
		{`(function() local n = 0 for _ in ("abc"):gmatch("") do n = n + 1 end return n end)()`, "4"},
		{`("x"):rep(300):match(("x?"):rep(150)) == ("x"):rep(150)`, "true"},
	} {
		got, err := newBench(t, roomy).run("return " + c.expr)
		if err != nil || got != c.want {
			t.Errorf("%s\n gave %q (%v)\n want %q", c.expr, got, err, c.want)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, want string }{
		{"[a", "malformed pattern (missing ']')"},
		{"[]", "malformed pattern (missing ']')"},
		{"[a%", "malformed pattern (missing ']')"},
		{"[^", "malformed pattern (missing ']')"},
		{"a%", "malformed pattern (ends with '%')"},
		{"%f", "missing '[' after '%f' in pattern"},
		{"%b", "unbalanced pattern"},
		{"%b(", "unbalanced pattern"},
		{"(a", "unfinished capture"},
		{"a)", "invalid pattern capture"},
		{"%1", "invalid capture index"},
		{"(a%1)", "invalid capture index"},
		{"%0", "invalid capture index"},
		{strings.Repeat("(a)", 33), "too many captures"},
		{strings.Repeat("a?", 250), "pattern too complex"},
	} {
		_, err := newBench(t, roomy).run(fmt.Sprintf("return (%q):match(%q)", strings.Repeat("a", 300), c.pattern))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("match with %q: error %v, want %q", c.pattern, err, c.want)
		}
	}
}

// randomPattern makes a pattern of the features that gopher-lua has as well
// and treats as C Lua does.
func randomPattern(r *rand.Rand) string {
	items := []string{"a", "b", ".", "%a", "%d", "%w", "%s", "%A", "[ab]", "[^a]", "[a-c]", "[%d_]", "%.", "1"}
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteByte('^')
	}
	open := false
	for range 1 + r.IntN(5) {
		if !open && r.IntN(5) == 0 {
			b.WriteByte('(')
			open = true
		}
		b.WriteString(items[r.IntN(len(items))])
		b.WriteString([]string{"", "", "*", "+", "-", "?"}[r.IntN(6)])
		if open && r.IntN(2) == 0 {
			b.WriteByte(')')
			open = false
		}
	}
	if open {
		b.WriteByte(')')
	}
	if r.IntN(4) == 0 {
		b.WriteByte('$')
	}
	return b.String()
}

// TestMatcherAgreesWithStock compares the matcher with the one of gopher-lua
// on random patterns and subjects.
func TestMatcherAgreesWithStock(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for range 20_000 {
		pat := randomPattern(r)
		src := make([]byte, r.IntN(12))
		for i := range src {
			src[i] = "aabbc1_. "[r.IntN(9)]
		}
		want := "none"
		found, err := pm.Find(pat, src, 0, 1)
		if err != nil {
			t.Fatalf("pm.Find(%q, %q): %v", pat, src, err)
		}
		if len(found) > 0 {
			matched++
			want = ""
			for i := 0; i < found[0].CaptureLength(); i += 2 {
				want += fmt.Sprintf("<%s>", src[found[0].Capture(i):found[0].Capture(i+1)])
			}
		}
		if got := ours(string(src), pat); got != want {
			t.Errorf("%q in %q: %s, want %s", pat, src, got, want)
		}
	}
	if matched < 4000 || matched > 16_000 {
		t.Errorf("%d of 20000 matched: the patterns test nothing", matched)
	}
}

// ours returns the first match and its captures.
func ours(src, pat string) string {
	m := &matcher{src: src, pat: pat, tick: func(int) {}}
	p, last := 0, len(src)
	if strings.HasPrefix(pat, "^") {
		p, last = 1, 0
	}
	for s := 0; s <= last; s++ {
		if e := m.at(s, p); e != noMatch {
			out := "<" + src[s:e] + ">"
			for i := range m.level {
				out += fmt.Sprintf("<%v>", m.capture(i, s, e))
			}
			return out
		}
	}
	return "none"
}

// TestPatternsMeetTheBudget lets patterns that take for ever run into it.
func TestPatternsMeetTheBudget(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`("a"):rep(2000):find(".-.-.-.-.-b")`,
		`("a"):rep(2000):match("a*a*a*a*a*b")`,
		`("a"):rep(2000):gsub("a*a*a*a*a*b", "")`,
		`for x in ("a"):rep(2000):gmatch("a*a*a*a*a*b") do end`,
		`("("):rep(2^20):find("%b()%b()b")`,
		`("a"):rep(2^20):find("[" .. ("b"):rep(2^10) .. "]")`,
		`("a"):rep(2^20):find("(a*)%1b")`,
		`("a"):rep(2^20):find(("a?"):rep(190) .. "b")`,
		`while true do ("a"):rep(100):find("b", 1, true) end`,
	} {
		b := newBench(t, budget.Limits{Time: roomy.Time, Instructions: 500_000})
		_, err := b.run(code)
		if err == nil || b.machine.over != overInstructions {
			t.Errorf("%s: error %v, overrun %d, want one of the instruction budget", code, err, b.machine.over)
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, seed := range [][2]string{
		{"hello world", "o w"}, {"  x  ", "^%s*(.-)%s*$"}, {"f(a(b))", "%b()"}, {"THE fox", "%f[%a]%a+"},
		{"aa", "(a)%1"}, {"x", "[^%w"}, {"", "()"}, {"]", "[]]"}, {"a-b", "[a-]"}, {"\x00\xff", "%z."},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, src, pat string) {
		left := 1_000_000
		defer func() {
			switch r := recover().(type) {
			case nil, badPattern:
			default:
				if r != "spent" {
					panic(r)
				}
			}
		}()
		m := &matcher{src: src, pat: pat, tick: func(n int) {
			if left -= n; left < 0 {
				panic("spent")
			}
		}}
		for s := range len(src) + 1 {
			e := m.at(s, 0)
			if e == noMatch {
				continue
			}
			if e < s || e > len(src) {
				t.Fatalf("%q in %q: match from %d to %d", pat, src, s, e)
			}
			for i := range max(m.level, 1) {
				_ = m.capture(i, s, e)
			}
		}
	})
}
