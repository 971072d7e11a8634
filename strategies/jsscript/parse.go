package jsscript

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies"
)

// chunk is what a script is called where it can see it, in Error.stack. It
// says nothing of where the script lies, so that a path cannot sway its moves.
const chunk = "script.js"

// The parser recurses for everything that is nested, at up to 4 KiB of stack a
// level, and cannot be stopped. These limits keep it under 150 MiB.
const (
	maxSource  = 256 << 10 // bytes
	maxOpeners = 30_000    // brackets that open, wherever they stand
	maxNesting = 500       // of the syntax tree, which the compiler walks
	maxLabels  = 1000      // of the same name: the parser compares each with all around it
)

// compile turns a source into a program that any runtime can run, and says
// what it uses.
func compile(source []byte) (prg *goja.Program, u *usage, failed *failure) {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	if failed := acceptable(source); failed != nil {
		return nil, nil, failed
	}
	defer func() {
		if r := recover(); r != nil { // the compiler gives up on some code so
			prg, u, failed = nil, nil, failAt(0, "", "the compiler failed: %s", strategies.OneLine(fmt.Sprint(r), maxMessage))
		}
	}()
	// Source maps are read from disk, wherever a comment says.
	tree, err := parser.ParseFile(nil, chunk, string(source), 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, nil, syntaxFailure(source, err)
	}
	u, failed = survey(tree)
	if failed != nil {
		return nil, nil, failed
	}
	prg, err = goja.CompileAST(tree, true)
	if err != nil {
		return nil, nil, compilerFailure(err)
	}
	return prg, u, nil
}

func acceptable(source []byte) *failure {
	if len(source) > maxSource {
		return failAt(0, "", "the script has %d bytes, more than %d", len(source), maxSource)
	}
	if !utf8.Valid(source) {
		return failAt(0, "save the file as UTF-8", "the script is not text in UTF-8")
	}
	openers := 0
	for _, c := range source {
		switch c {
		case '(', '[', '{', '`':
			openers++
		}
	}
	if openers > maxOpeners {
		return failAt(0, "", "the script has %d opening brackets, more than %d", openers, maxOpeners)
	}
	labels := make(map[string]int)
	for _, at := range labelled.FindAllSubmatchIndex(source, -1) {
		name := string(source[at[2]:at[3]])
		if strings.Contains(name, "\\") {
			name = "" // an escape can be written in many ways
		}
		if labels[name]++; labels[name] > maxLabels {
			return failAt(0, "", "the script has more than %d times \"%s:\"", maxLabels, strategies.Clip(name, 40))
		}
	}
	return nil
}

// labelled is what may be a label: a name and a colon, with comments between.
var labelled = regexp.MustCompile(
	`([\pL_$\\][\pL\pN_$\\{}]*)(?:\s|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|//[^\n]*\n)*:`)

// moduleLine is a line that only a module can have.
var moduleLine = regexp.MustCompile(`^\s*(import\b[^(]|import$|export\b)`)

func syntaxFailure(source []byte, err error) *failure {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return failAt(0, "", "%s", strategies.OneLine(err.Error(), maxMessage))
	}
	line := list[0].Position.Line
	if moduleLine.Match(lineOf(source, line)) {
		return failAt(line, "declare function choose(turn) at the top level, without import or export",
			"ES modules are not supported")
	}
	hint := ""
	if strings.Contains(list[0].Message, "end of input") {
		hint = "is a closing bracket missing?"
	}
	return failAt(line, hint, "%s", strategies.OneLine(list[0].Message, maxMessage))
}

func lineOf(source []byte, line int) []byte {
	for range line - 1 {
		_, source, _ = bytes.Cut(source, []byte("\n"))
	}
	text, _, _ := bytes.Cut(source, []byte("\n"))
	return text
}

func compilerFailure(err error) *failure {
	var se *goja.CompilerSyntaxError
	if errors.As(err, &se) {
		return failAt(lineAt(se.File, se.Offset), "", "%s", strategies.OneLine(se.Message, maxMessage))
	}
	return failAt(0, "", "%s", strategies.OneLine(err.Error(), maxMessage))
}

func lineAt(f *file.File, offset int) int {
	if f == nil {
		return 0
	}
	return f.Position(offset).Line
}

// header returns the lines of the comment at the top of a script, which is one
// block or a number of line comments.
func header(source []byte) (lines []string) {
	const marks = " \t\r\n*/"
	rest := strings.TrimSpace(strings.TrimPrefix(string(source), "\ufeff"))
	block, isBlock := strings.CutPrefix(rest, "/*")
	if isBlock {
		rest, _, _ = strings.Cut(block, "*/")
	}
	for line := range strings.Lines(rest) {
		if !isBlock && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			break
		}
		lines = append(lines, strings.Trim(line, marks))
	}
	return lines
}
