package served

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// What a command stands for the port that its agent is to listen at on 127.0.0.1, and for
// the URL of the manager that it is to register with.
const (
	portWord    = "{port}"
	managerWord = "{manager}"
)

// Spec says which agent it is: URL, where it runs, or Command, which starts it.
type Spec struct {
	Name    string
	URL     string
	Command []string
}

// Shared reports whether all seats use one agent: what has an address of its own exists once.
func (s Spec) Shared() bool { return s.URL != "" || !s.has(portWord) }

func (s Spec) has(word string) bool {
	return slices.ContainsFunc(s.Command, func(arg string) bool { return strings.Contains(arg, word) })
}

// IsURL reports whether a text is the URL of an agent.
func IsURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// AtURL returns the agent at a URL, with a name made of its host and port.
func AtURL(text string) Spec {
	name := "agent"
	if u, err := url.Parse(text); err == nil {
		if host := u.Hostname(); host != "127.0.0.1" && host != "localhost" {
			name = host
		}
		if u.Port() != "" {
			name += "-" + u.Port()
		}
	}
	return Spec{Name: strings.Map(func(r rune) rune {
		if forbidden(r) {
			return '-'
		}
		return r
	}, name), URL: text}
}

// forbidden reports whether a character cannot be in the name of a strategy.
func forbidden(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}

// Parse reads NAME=COMMAND or NAME=URL. The command is split at spaces, unless they are
// between quotes; no shell reads it.
func Parse(text string) (Spec, error) {
	name, what, ok := strings.Cut(text, "=")
	name, what = strings.TrimSpace(name), strings.TrimSpace(what)
	if !ok || name == "" || what == "" || strings.ContainsFunc(name, forbidden) {
		return Spec{}, fmt.Errorf("%q is no agent; want NAME=COMMAND or NAME=URL, for example 'mine=python3 my_agent.py --port {port} --manager {manager}'", text)
	}
	if IsURL(what) {
		return Spec{Name: name, URL: what}, nil
	}
	command, err := split(what)
	if err != nil {
		return Spec{}, fmt.Errorf("agent %s: %w", name, err)
	}
	s := Spec{Name: name, Command: command}
	if !s.has(portWord) && !s.has(managerWord) {
		return s, fmt.Errorf("agent %s: nothing says where it listens; put %s into its command, for the port, or %s, for the manager to register with", name, portWord, managerWord)
	}
	return s, nil
}

// ParseFile reads a file with an agent a line. Lines that are empty or begin with # are comments.
func ParseFile(text []byte) ([]Spec, error) {
	var list []Spec
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		number++
		entry := strings.TrimSpace(string(line))
		if entry == "" || entry[0] == '#' {
			continue
		}
		s, err := Parse(entry)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// split splits a command line at spaces that are not between quotes.
func split(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote of its command is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// fill returns the command with a port and a manager.
func (s Spec) fill(port int, manager string) []string {
	r := strings.NewReplacer(portWord, strconv.Itoa(port), managerWord, manager)
	args := make([]string, len(s.Command))
	for i, arg := range s.Command {
		args[i] = r.Replace(arg)
	}
	return args
}
