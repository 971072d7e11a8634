package assistants

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis/attest"
)

var update = flag.Bool("update", false, "copy the page on the script API from the folder of scripts")

// The page that the program holds is the one that people read.
func TestScriptAPIIsThatOfTheScripts(t *testing.T) {
	t.Parallel()
	page := attest.Must(os.ReadFile("../../../../scripts/README.md"))
	if *update {
		attest.OK(t, os.WriteFile("guide/script-api.md", page, 0o644))
		return
	}
	if diff := cmp.Diff(string(page), text("script-api.md")); diff != "" {
		t.Errorf("guide/script-api.md is not scripts/README.md; run go test with -update (-want +got):\n%s", diff)
	}
}

// A model that writes in one language is not shown the code of another.
func TestScriptAPIByLanguage(t *testing.T) {
	t.Parallel()
	codes := map[string]string{"lua": "function choose(turn)\n  local last", "js": "function choose(turn) {\n  const last"}
	for _, language := range tongues() {
		page := scriptAPI(language)
		for id, code := range codes {
			if strings.Contains(page, code) != (id == language.id) || strings.Contains(page, "```"+id+"\n") != (id == language.id) {
				t.Errorf("the page for %s and code in %s:\n%s", language.name, id, page)
			}
		}
		if strings.Count(page, "```")%2 != 0 || !strings.Contains(page, "## Limits") {
			t.Errorf("the page for %s is cut:\n%s", language.name, page)
		}
	}
}

// Every place of the prompt is filled in.
func TestPromptIsComplete(t *testing.T) {
	t.Parallel()
	for _, arguments := range []map[string]string{nil, {"language": "js"}, {"language": "javascript", "idea": "EXAMPLE"}} {
		prompt := attest.Must(writeStrategy(t.Context(), arguments))
		for _, place := range []string{"LANGUAGE", "IDEA", "RESOURCE", "ABSENT", "RANDOM", "FENCE"} {
			if strings.Contains(prompt, place) {
				t.Errorf("%v: the prompt still has %s", arguments, place)
			}
		}
		if idea := arguments["idea"]; idea != "" && !strings.Contains(prompt, "The idea: "+idea+"\n") {
			t.Errorf("the idea %q is not in the prompt as it came", idea)
		}
	}
}
