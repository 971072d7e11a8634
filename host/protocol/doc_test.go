package protocol

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/credential"
)

const referencePage = "../../docs/protocol/README.md"

// rows returns the rows of the table on the page whose first header cell is
// given, without the mark-up of code, their cells joined by " | ".
func rows(t *testing.T, page, first string) (all []string) {
	t.Helper()
	_, table, found := strings.Cut(page, "\n| "+first+" |")
	if !found {
		t.Fatalf("no table of %s on the page", first)
	}
	for i, line := range strings.Split(table, "\n") {
		if !strings.HasPrefix(line, "|") && i > 0 {
			break
		}
		if i < 2 {
			continue // the rest of the header, and the rule below it
		}
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
		}
		all = append(all, strings.Join(row, " | "))
	}
	return all
}

// TestReferencePage holds the tables of the reference page to the code.
func TestReferencePage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	same := func(t *testing.T, first string, want []string) {
		if diff := cmp.Diff(want, rows(t, page, first)); diff != "" {
			t.Errorf("the page differs from the code (-code +page):\n%s", diff)
		}
	}
	t.Run("messages", func(t *testing.T) {
		var want []string
		for _, e := range messages.entries {
			if e.Method == "" {
				continue
			}
			own := func(name string) bool { return name != e.Method && strings.EqualFold(name, string(e.Type)) }
			names := strings.Join(slices.DeleteFunc(slices.Clone(e.Names), own), ", ")
			var from []string
			for _, role := range e.From {
				from = append(from, string(role))
			}
			want = append(want, fmt.Sprintf("%s | %s | %s | %s", e.Type, names, e.Answer, strings.Join(from, ", ")))
		}
		same(t, "message", want)
	})
	t.Run("codes", func(t *testing.T) {
		var want []string
		for _, row := range codeTable {
			again := "no"
			if row.retryable {
				again = "yes"
			}
			want = append(want, fmt.Sprintf("%s | %s | %s | %s", row.code, row.name, again, rpcCodes(row)))
		}
		same(t, "code", want)
	})
	t.Run("canonical", func(t *testing.T) {
		var want []string
		for _, code := range []string{CanonicalInvalidEnvelope, CanonicalInvalidToolInput, CanonicalToolNotFound, CanonicalInternalError} {
			c := canonicalForms[code]
			want = append(want, fmt.Sprintf("%s | %d | %d | %s", code, c.HTTP, c.RPC, c.Message))
		}
		same(t, "canonical code", want)
	})
	t.Run("queries", func(t *testing.T) {
		for _, row := range rows(t, page, "query") {
			if name, _, _ := strings.Cut(row, " | "); queryShapes()[name] == nil {
				t.Errorf("there is no query %s", name)
			}
		}
	})
	t.Run("links", func(t *testing.T) {
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(referencePage), link[1])); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("keys", func(t *testing.T) {
		v := credential.NewVerifier("tok-P01-0123456789abcdef0123456789abcdef01234567")
		keys := v.MatchKeys(cup, "R1M1", refOne)
		if !strings.Contains(page, "prints "+keys.Send+" and\n"+keys.Expect+".") {
			t.Error("the keys on the page are not those of its token")
		}
	})
}

// areaNames are the words of the page for what is refused.
var areaNames = map[area]string{
	areaRefereeSignup: "referee", areaPlayerSignup: "player", areaAnnouncement: "announcement",
	areaMatch: "match", areaReport: "report", areaQuery: "query",
}

// rpcCodes writes down a code's JSON-RPC codes as the page does.
func rpcCodes(row codeInfo) string {
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(row.numbered)) {
		if n != row.rpc {
			parts = append(parts, fmt.Sprintf("%d %s", n, areaNames[area(n/1000)]))
		}
	}
	if parts == nil {
		return fmt.Sprint(row.rpc)
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(", otherwise %d", row.rpc)
}

// TestCatalog: every type is described, with an answer that exists, and no name stands
// for two types. TestReferencePage holds methods, answers and roles to the page.
func TestCatalog(t *testing.T) {
	t.Parallel()
	owner := make(map[string]Type)
	for _, typ := range Types() {
		d, ok := Describe(typ)
		if !ok || d.Type != typ || d.Title == "" || len(d.From) == 0 || d.Answer != "" && messages.byType[d.Answer] == nil {
			t.Errorf("%s is described as %+v", typ, d)
		}
		registers := typ == TypeLeagueRegisterRequest || typ == TypeRefereeRegisterRequest
		if wants := d.Method != "" && !registers; d.Auth != wants || d.Method == "" && d.Answer != "" {
			t.Errorf("%s wants a token: %v, and is answered with %q", typ, d.Auth, d.Answer)
		}
		if h := New(typ).Head(); h.MessageType != typ || h.Protocol != Version {
			t.Errorf("New(%s) has the header %+v", typ, h)
		}
		for _, name := range d.Names {
			if found, ok := TypeOfMethod(name); owner[name] != "" || !ok || found != typ {
				t.Errorf("%s stands for %s and %s, and is found as %s", name, owner[name], typ, found)
			}
			owner[name] = typ
		}
	}
	_, described := Describe("NO_SUCH_TYPE")
	_, found := TypeOfMethod("no_such_method")
	if described || found || New("NO_SUCH_TYPE") != nil || Schema("NO_SUCH_TYPE", Strict, true) != nil {
		t.Error("a type that does not exist is known")
	}
}
