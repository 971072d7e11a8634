package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// The manifests in docs/examples/cluster keep the schemas of Kubernetes, KEDA and
// Compose, as far as testdata/cluster.schema.json describes them, call commands that
// exist with flags that they have, and set variables that are read.
func TestClusterManifests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/examples/cluster/*.json")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	app := newApp(&command.Process{})
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := validate("testdata/cluster.schema.json", text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		spoiled := bytes.Replace(text, []byte(`"image"`), []byte(`"imgae"`), 1)
		if validate("testdata/cluster.schema.json", spoiled) == nil {
			t.Errorf("%s: the schema accepts a manifest with a wrong member", file)
		}
		m := manifest{app: app, t: t, file: file}
		m.walk(document)
		if m.calls < 3 || m.variables < 2 {
			t.Errorf("%s: %d commands and %d variables were checked", file, m.calls, m.variables)
		}
	}
}

// manifest looks for commands of ours in a document.
type manifest struct {
	app              *cli.App
	t                *testing.T
	file             string
	calls, variables int
}

func (m *manifest) walk(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if strings.HasPrefix(key, "STRATEGYLAB_") {
				m.variable(key)
			}
			m.walk(x)
		}
	case []any:
		var words []string
		for _, x := range v {
			text, ok := x.(string)
			if ok {
				words = append(words, strings.Fields(text)...)
			}
			m.walk(x)
		}
		for i, word := range words {
			if word == "strategylab" && i+1 < len(words) {
				m.call(words[i+1:])
			}
		}
	case string:
		if strings.HasPrefix(v, "STRATEGYLAB_") {
			m.variable(v)
		}
	}
}

// call checks a command line up to the end of its shell command.
func (m *manifest) call(words []string) {
	m.calls++
	if end := slices.IndexFunc(words, func(word string) bool { return strings.HasSuffix(word, ";") }); end >= 0 {
		words = words[:end+1]
	}
	callable(m.t, m.app, m.file, words)
}

func (m *manifest) variable(name string) {
	m.variables++
	for _, c := range m.app.Commands {
		for _, f := range c.Flags {
			if command.Variable(f.Names()[0]) == name {
				return
			}
		}
	}
	m.t.Errorf("%s: nothing reads %s", m.file, name)
}
