package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// elsewhere are the words of others that stand in code outside this package all the
// same, each with the reason.
var elsewhere = map[string]string{
	"host/ask.go announce_round":                       "a command of some managers, which is no message",
	"host/disk/disk.go in use":                         "what a lock's error says",
	"host/manager/league/state.go REGISTERED":          "a state of league.v2, as LEAGUE_QUERY answers it",
	"host/mcptools/server.go session_id":               "an attribute of the MCP library's log records",
	"plugins/internal/strategypb/strategy.pb.go ERROR": "generated from the plugins' own protocol",
}

// TestOtherNamesHaveOneOwner: the names and words of other programs stand in the tables
// of this package and nowhere else, so that what is read under a name is written under
// it, too. A single word of English may mean anything in code; it is not looked for.
func TestOtherNamesHaveOneOwner(t *testing.T) {
	t.Parallel()
	foreign := make(map[string]bool)
	add := func(words ...string) {
		for _, w := range words {
			w = strings.TrimSuffix(w, "*")
			if strings.ContainsAny(w, "_ ") && !KnownField(w) || w == strings.ToUpper(w) && len(w) > 2 {
				foreign[w] = true
			}
		}
	}
	for _, n := range namings {
		add(slices.Concat(n.others, n.inner)...)
	}
	for _, words := range [][]string{
		Joining, Declining, Enrolling, Rejecting, Receiving, Failing, Nobody, Winning, Losing, Drawing, subjects, negations, leagueWords, forbids, begunWords, notWords, fewWords, AssignmentNames,
	} {
		add(words...)
	}
	for _, c := range []*Complaint{Lacks, BlamesID, WantsSession, NamesMessage, OtherGame} {
		add(c.phrases...)
	}
	for _, names := range otherMethods {
		add(names...)
	}
	for _, own := range []string{StatusAccepted, StatusRejected, StatusAcknowledged, StatusWin, StatusDraw, StatusTechnicalLoss, "game_type", "message_type"} {
		delete(foreign, own)
	}
	found := make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../host/protocol/") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || !foreign[text] {
				return true
			}
			where := strings.TrimPrefix(filepath.ToSlash(path), "../../") + " " + text
			found[where] = true
			if elsewhere[where] == "" {
				t.Errorf("%s: %q is a word of other programs: read it through the tables of host/protocol", set.Position(lit.Pos()), text)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where := range elsewhere {
		if !found[where] {
			t.Errorf("%s is excused and does not stand there", where)
		}
	}
}
