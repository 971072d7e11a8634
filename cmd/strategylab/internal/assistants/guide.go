package assistants

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// guide holds texts for authors, people or models. script-api.md is a copy of
// scripts/README.md; a test compares them.
//
//go:embed guide
var guide embed.FS

// instructions tell a model what the lab is for.
const instructions = "A lab for strategies in the Even/Odd game. To write one: get the prompt write_strategy or read " +
	"strategylab://script-api/lua, then check_strategy with the source, run_experiment to rank it among others, " +
	"compare_strategies to see whether a change made it better, explain_strategy to see why. " +
	"With a fair draw only two things count: how often choices differ from the opponents', and not failing. Compare by adjusted points. " +
	"Sources run isolated; reports stay readable at strategylab://reports/ID."

const (
	reportsURI = "strategylab://reports"
	apiURI     = "strategylab://script-api/"
	answersURI = "strategylab://answers"
)

func reportURI(id string) string { return reportsURI + "/" + id }

// tongue is a script language as the guide names it.
type tongue struct {
	id, name, resource, absent, random string
}

// tongues are the languages of scripts.
func tongues() []tongue {
	return []tongue{
		{id: "lua", name: "Lua 5.1", resource: "lua", absent: "nil", random: "`math.random`"},
		{id: "js", name: "JavaScript", resource: "javascript", absent: "null", random: "`Math.random`"},
	}
}

// text reads one of the embedded texts.
func text(name string) string {
	content, err := guide.ReadFile("guide/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(content)
}

// scriptAPI returns the page on the script API for one language, without the code
// of the others.
func scriptAPI(t tongue) string {
	var out strings.Builder
	skipping := false
	for line := range strings.Lines(text("script-api.md")) {
		for _, other := range tongues() {
			if other.id == t.id {
				continue
			}
			if strings.HasPrefix(line, "```"+other.id+"\n") {
				skipping = true
			}
			if line == "`scripts/mine."+other.id+"`\n" {
				line = ""
			}
		}
		if !skipping {
			out.WriteString(line)
		}
		if strings.HasPrefix(line, "```\n") {
			skipping = false
		}
	}
	return out.String()
}

// resources returns the script API, the reports, and the schemas of the answers of
// tools.
func (l *labTools) resources(answers map[string]json.RawMessage) []mcptools.Resource {
	var all []mcptools.Resource
	for _, t := range tongues() {
		all = append(all, mcptools.Resource{
			URI: apiURI + t.resource, Name: "script-api-" + t.resource, Title: "Script API for " + t.name,
			Description: "What a strategy in " + t.name + " sees, answers and may use, and its limits.", MIME: "text/markdown",
			Read: func(context.Context, string) ([]byte, error) { return []byte(scriptAPI(t)), nil },
		})
	}
	all = append(all, mcptools.Resource{
		URI: answersURI, Name: "answers", Title: "Answers of the tools", MIME: "application/json",
		Description: "What every number in the answers means: their full JSON Schemas by tool.",
		Read:        func(context.Context, string) ([]byte, error) { return json.Marshal(answers) },
	}, mcptools.Resource{
		URI: reportsURI, Name: "reports", Title: "Reports", MIME: "text/plain",
		Description: "All reports, newest first: one address per line.", Read: l.readList,
	})
	for _, r := range []struct{ suffix, name, title, mime, file, about string }{
		{"", "report", "Report", "text/plain", reportText, "What an experiment shows, as a table with the significance of differences."},
		{"/json", "report-json", "Report as JSON", "application/json", results.SummaryFile, "The same with all estimates, intervals and pairs of players."},
		{"/html", "report-html", "Report as a page", "text/html", page.File, "The same as an HTML page with plots, for people."},
	} {
		all = append(all, mcptools.Resource{
			URI: reportsURI + "/{id}" + r.suffix, Template: true, Name: r.name, Title: r.title, Description: r.about, MIME: r.mime,
			Read: func(_ context.Context, uri string) ([]byte, error) { return l.readReport(uri, r.suffix, r.file) },
		})
	}
	return all
}

func (l *labTools) readList(context.Context, string) ([]byte, error) {
	ids, _, err := l.store.folders()
	if err != nil {
		return nil, fmt.Errorf("list the reports: %w", disk.Pathless(err))
	}
	if len(ids) == 0 {
		return []byte("There is no report yet; run_experiment makes one.\n"), nil
	}
	var out strings.Builder
	for _, id := range ids {
		out.WriteString(reportURI(id) + "\n")
	}
	return []byte(out.String()), nil
}

func (l *labTools) readReport(uri, suffix, file string) ([]byte, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(uri, reportsURI+"/"), suffix)
	content, err := l.store.read(id, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mcptools.ErrNoResource
	}
	if err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	return content, nil
}

func (l *labTools) prompts() []mcptools.Prompt {
	return []mcptools.Prompt{{
		Name: "write_strategy", Title: "Write a strategy",
		Description: "Explains the game, the script API and how to develop a strategy by measuring it.",
		Arguments: []*mcptools.Argument{
			{Name: "language", Title: "Language", Description: "lua or js; lua if absent"},
			{Name: "idea", Title: "Idea", Description: "what the strategy should try, in a sentence; absent: your own idea"},
		},
		Render: writeStrategy,
	}}
}

func writeStrategy(_ context.Context, arguments map[string]string) (string, error) {
	language := arguments["language"]
	switch language {
	case "":
		language = "lua"
	case "javascript":
		language = "js"
	}
	for _, t := range tongues() {
		if t.id != language {
			continue
		}
		idea := ""
		if said := strings.TrimSpace(arguments["idea"]); said != "" {
			idea = "\nThe idea: " + said + "\n"
		}
		return strings.NewReplacer(
			"LANGUAGE", t.name, "IDEA\n", idea+"\n", "RESOURCE", t.resource, "ABSENT", t.absent, "RANDOM", t.random,
			"FENCE", t.id, "EXAMPLE", text("example."+t.id),
		).Replace(text("write_strategy.md")), nil
	}
	return "", fmt.Errorf("language is %q, want lua or js", strategies.Clip(language, 60))
}
