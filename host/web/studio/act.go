package studio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The actions of a page.
const (
	actOpen    = "open"
	actLook    = "look"
	actApp     = "app"
	actNew     = "new"
	actSave    = "save"
	actCheck   = "check"
	actTry     = "try"
	actConfirm = "confirm"
	actLeague  = "league"
)

// input is what an action takes, from the code of the page or from its form.
type input struct {
	Tab     string   `json:"tab"`
	File    string   `json:"file"`
	Source  string   `json:"source"`
	Version string   `json:"version"`
	Before  string   `json:"before"`
	Compare bool     `json:"compare"` // play the version before, too
	Field   []string `json:"field"`
	Leagues int      `json:"leagues"`
	League  int      `json:"league"`
	Against string   `json:"against"`
}

// answer is what the code of the page gets.
type answer struct {
	Part     string    `json:"part,omitzero"` // the id of the element
	HTML     string    `json:"html,omitzero"` // its new content
	Text     *Text     `json:"text,omitzero"`
	List     string    `json:"list,omitzero"` // the list of scripts, as HTML
	Findings []Finding `json:"findings,omitzero"`
	Message  string    `json:"message,omitzero"`

	shown any // what HTML shows, for the form
}

// act does what a page asks for.
func (s *Studio) act(ctx context.Context, t *Team, action string, in *input, p Progress) (*answer, error) {
	if len(in.Source) > s.cfg.MaxSource || len(in.Before) > s.cfg.MaxSource {
		return nil, fmt.Errorf("the script has %d bytes; want at most %d", max(len(in.Source), len(in.Before)), s.cfg.MaxSource)
	}
	if !utf8.ValidString(in.Source) {
		return nil, errors.New("the script is not valid UTF-8")
	}
	switch action {
	case actApp:
		doc, err := s.document(ctx, t, in.File)
		if err != nil {
			return nil, err
		}
		return s.rendered(&answer{Text: doc.Text, Message: doc.Error}, "app", doc)
	case actOpen:
		text, err := t.Lab.Open(ctx, in.File)
		return &answer{Text: &text, Message: "Opened " + text.File + "."}, err
	case actLook: // whether the file has another version than the page
		text, err := t.Lab.Open(ctx, in.File)
		if err != nil || text.Version == in.Version {
			return &answer{}, err
		}
		return &answer{Text: &text}, nil
	case actNew, actSave:
		return s.write(ctx, t, action, in)
	case actCheck:
		v, err := t.Lab.Check(ctx, Draft{in.File, in.Source}, p)
		if err != nil {
			return nil, err
		}
		return s.rendered(&answer{Findings: v.Findings, Message: "Check: " + v.Sentence}, "verdict", &v)
	case actTry, actConfirm:
		o, err := t.Lab.Try(ctx, in.trial(action == actConfirm), p)
		if err != nil {
			return nil, err
		}
		return s.rendered(&answer{Findings: o.Faults, Message: o.Title}, "outcome", &o)
	case actLeague:
		l, err := t.Lab.League(ctx, in.trial(false), in.League, in.Against)
		if err != nil {
			return nil, err
		}
		return s.rendered(&answer{Message: l.Title}, "league", &l)
	}
	return nil, fmt.Errorf("unknown action %q", action)
}

// write writes a new script or a version of one.
func (s *Studio) write(ctx context.Context, t *Team, action string, in *input) (*answer, error) {
	var text Text
	var err error
	message := "Saved "
	if action == actNew {
		message = "Wrote "
		text, err = t.Lab.New(ctx, in.File)
	} else {
		text, err = t.Lab.Save(ctx, Draft{in.File, in.Source}, in.Version)
	}
	if err != nil {
		return nil, err
	}
	scripts, err := t.Lab.Scripts(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.rendered(&answer{}, "scripts", document{Scripts: scripts, Text: &text})
	if err != nil {
		return nil, err
	}
	return &answer{Text: &text, List: list.HTML, Message: message + text.File + "."}, nil
}

// trial returns the experiment that an input describes.
func (in *input) trial(fresh bool) Trial {
	t := Trial{Draft: Draft{in.File, in.Source}, Field: in.Field, Leagues: in.Leagues, Fresh: fresh}
	if in.Compare && in.Before != in.Source {
		t.Before = in.Before
	}
	return t
}

// rendered adds a part to an answer.
func (s *Studio) rendered(a *answer, part string, data any) (*answer, error) {
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, part, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", part, err)
	}
	a.Part, a.HTML, a.shown = part, b.String(), data
	return a, nil
}

// document is what the template "page" is executed with.
type document struct {
	Class     bool // teams have tokens, and this page is not of one yet
	Team      string
	Scripts   []Script
	Field     []Opponent
	Text      *Text
	Message   string
	Error     string
	Verdict   *Verdict
	Outcome   *Outcome
	Play      *League
	Leagues   int
	Unchanged bool // the draft is what the file has
	Choices   []int
	Compare   bool
	League    int
	Against   string
}

// document returns the page of a team with a script; file may be empty.
func (s *Studio) document(ctx context.Context, t *Team, file string) (*document, error) {
	doc := &document{Team: t.Name, Leagues: 200, Choices: []int{100, 200, 400, 1000}, Unchanged: true, Compare: true}
	var err error
	if doc.Scripts, err = t.Lab.Scripts(ctx); err != nil {
		return nil, err
	}
	if doc.Field, err = t.Lab.Field(ctx); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(doc.Scripts, func(x Script) bool { return x.Why == "" }); file == "" && i >= 0 {
		file = doc.Scripts[i].File
	}
	if file == "" {
		return doc, nil
	}
	text, err := t.Lab.Open(ctx, file)
	if err != nil {
		doc.Error = err.Error()
		return doc, nil
	}
	doc.Text = &text
	return doc, nil
}

// show serves the whole page.
func (s *Studio) show(w http.ResponseWriter, r *http.Request) {
	if s.class() {
		s.page(w, http.StatusOK, &document{Class: true})
		return
	}
	doc, err := s.document(r.Context(), &s.cfg.Teams[0], r.URL.Query().Get("file"))
	if err != nil {
		doc = &document{Error: err.Error()}
	}
	s.page(w, http.StatusOK, doc)
}

func (s *Studio) page(w http.ResponseWriter, status int, doc *document) {
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, "page", doc); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that is gone is no error
}

// submitted answers the form of a page without JavaScript.
func (s *Studio) submitted(w http.ResponseWriter, r *http.Request) {
	team := s.teamOf(r)
	if team == nil {
		s.page(w, http.StatusUnauthorized, &document{Class: true, Error: errToken.Error()})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, int64(maxBody*s.cfg.MaxSource))
	if err := r.ParseForm(); err != nil {
		s.page(w, http.StatusBadRequest, &document{Error: "the form cannot be read: " + err.Error()})
		return
	}
	in, action := formInput(r), r.PostForm.Get("action")
	if saved, err := team.Lab.Open(r.Context(), in.File); err == nil {
		in.Before = saved.Source // a form does not carry it
	}
	a, err := s.act(r.Context(), team, action, in, func(int, int, string) {})
	status := http.StatusOK
	doc, failed := s.document(r.Context(), team, in.File)
	if failed != nil {
		doc = &document{Error: failed.Error()}
	}
	if err != nil {
		status, doc.Error = statusOf(err), err.Error()
	}
	if doc.Text != nil && action != actNew && action != actOpen {
		doc.Unchanged = doc.Text.Source == in.Source
		doc.Text.Source = in.Source
		if status == http.StatusConflict {
			doc.Text.Version = in.Version // so that it stays a conflict
		}
	}
	for i := range doc.Field {
		doc.Field[i].Chosen = doc.Field[i].Chosen && in.Field == nil || slices.Contains(in.Field, doc.Field[i].Name)
	}
	if in.Leagues > 0 {
		doc.Leagues, doc.Compare, doc.League, doc.Against = in.Leagues, in.Compare, in.League, in.Against
	}
	if a != nil {
		doc.Message = a.Message
		switch v := a.shown.(type) {
		case *Verdict:
			doc.Verdict = v
		case *Outcome:
			doc.Outcome = v
		case *League:
			doc.Play = v
		}
	}
	s.page(w, status, doc)
}

// formInput reads a form. Browsers end its lines by CR LF.
func formInput(r *http.Request) *input {
	get := func(name string) string { return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n") }
	number := func(name string) int {
		n, _ := strconv.Atoi(get(name)) // a number that is not one is refused as 0
		return n
	}
	return &input{
		File: get("file") + get("ending"), Source: get("source"), Version: get("version"), Compare: get("compare") != "",
		Field: opponents(r.PostForm["field"]), Leagues: number("leagues"), League: number("league"), Against: get("against"),
	}
}

// opponents are those that are chosen and the one that is written, without empty names.
func opponents(names []string) (list []string) {
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// lines returns the numbers of the lines of a text.
func lines(text string) string {
	var b strings.Builder
	for n := range strings.Count(text, "\n") + 1 {
		fmt.Fprintf(&b, "%d\n", n+1)
	}
	return b.String()
}
