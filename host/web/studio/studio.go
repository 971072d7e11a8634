// Package studio serves a page to write strategies in: the scripts of a folder, an
// editor, a check while one types, trials against a field, and leagues match by match
// beside those of the version before.
//
// The page knows no lab: a command gives it a [Lab] for each team, which runs every
// script in other processes. The page works without JavaScript where it needs no token:
// it is a form then. It contains no inline code and loads nothing from elsewhere, and it
// belongs behind a server that checks Host and Origin, as those of host/jsonrpc do.
package studio

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/web"
)

//go:embed page.html studio.css studio.js editor.js highlight.js
var files embed.FS

// Config describes a studio.
type Config struct {
	// Teams are those who work in it, at least one. One without a token is the only
	// team: then everybody who reaches the page belongs to it.
	Teams []Team
	// Theme defines the colours, as CSS variables.
	Theme string
	// MaxSource is the largest source of a script, in bytes: 256 KiB.
	MaxSource int
}

// Team is a team with its lab.
type Team struct {
	Name  string
	Token string
	Lab   Lab
}

// Studio is the page. Its methods are safe for concurrent use.
type Studio struct {
	cfg       Config
	mux       *http.ServeMux
	templates *template.Template
	tokens    [][sha256.Size]byte // hashes, by team

	mu      sync.Mutex
	running map[string]*task // what each tab has running
}

// task is what can be superseded.
type task struct{ cancel context.CancelCauseFunc }

// New returns a studio.
func New(cfg Config) *Studio {
	cfg.MaxSource = cmp.Or(cfg.MaxSource, 256<<10)
	s := &Studio{
		cfg: cfg, mux: http.NewServeMux(), running: make(map[string]*task),
		templates: template.Must(template.New("studio").Funcs(template.FuncMap{"lines": lines}).ParseFS(files, "page.html")),
	}
	for _, t := range cfg.Teams {
		s.tokens = append(s.tokens, sha256.Sum256([]byte(t.Token)))
	}
	s.mux.HandleFunc("GET /{$}", s.show)
	s.mux.HandleFunc("POST /do", s.submitted)
	s.mux.HandleFunc("POST /api/{action}", s.called)
	for _, name := range []string{"studio.css", "studio.js", "editor.js", "highlight.js"} {
		content, _ := files.ReadFile(name) // is embedded
		if name == "studio.css" {
			content = append([]byte(cfg.Theme), content...)
		}
		web.Asset(s.mux, name, content)
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *Studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.Secure(w.Header())
	policy := strings.Replace(w.Header().Get("Content-Security-Policy"), "form-action 'none'", "form-action 'self'", 1)
	w.Header().Set("Content-Security-Policy", policy)
	s.mux.ServeHTTP(w, r)
}

// class reports whether teams need their tokens.
func (s *Studio) class() bool { return s.cfg.Teams[0].Token != "" }

// teamOf returns the team that a request belongs to; nil without its token.
func (s *Studio) teamOf(r *http.Request) *Team {
	if !s.class() {
		return &s.cfg.Teams[0]
	}
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(shown)) // hashes make the comparison constant-time for any length
	var found *Team
	for i := range s.tokens {
		if subtle.ConstantTimeCompare(got[:], s.tokens[i][:]) == 1 && strings.EqualFold(scheme, "Bearer") {
			found = &s.cfg.Teams[i]
		}
	}
	return found
}

// errToken is the refusal of a request without a team.
var errToken = errors.New("this studio needs the token of your team: open the address that you got, or enter the token")

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errToken):
		return http.StatusUnauthorized
	case errors.Is(err, ErrConflict):
		return http.StatusConflict
	case errors.Is(err, ErrBusy), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// errSuperseded is the cause of the end of a task that a newer one of its tab replaces.
var errSuperseded = errors.New("superseded by a newer request of this page")

// begin returns the context of a task, which ends the same task of the same tab that is
// running. Tasks without a tab end none.
func (s *Studio) begin(ctx context.Context, team, tab, action string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if tab == "" {
		return ctx, func() { cancel(nil) }
	}
	key, own := team+"\x00"+tab+"\x00"+action, &task{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.running[key]; before != nil {
		before.cancel(errSuperseded)
	}
	s.running[key] = own
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[key] == own {
			delete(s.running, key)
		}
	}
}

// maxBody is the most that a request may have for each byte of a source, which forms
// and JSON escape.
const maxBody = 6

// called answers a call of the page's code: a line of JSON for each step of progress,
// and one with the answer or the error.
func (s *Studio) called(w http.ResponseWriter, r *http.Request) {
	out := &stream{w: w, control: http.NewResponseController(w)}
	team := s.teamOf(r)
	if team == nil {
		out.fail(errToken)
		return
	}
	var in input
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(maxBody*s.cfg.MaxSource)))
	if err == nil {
		err = json.Unmarshal(body, &in) // refuses duplicate names, trailing data and invalid UTF-8
	}
	if err != nil {
		out.fail(fmt.Errorf("the request is not the JSON of this page: %w", err))
		return
	}
	action := r.PathValue("action")
	ctx, end := s.begin(r.Context(), team.Name, in.Tab[:min(len(in.Tab), 64)], cmp.Or(map[string]string{actConfirm: actTry}[action], action))
	defer end()
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	answer, err := s.act(ctx, team, action, &in, func(done, total int, what string) {
		if out.progress(done, total, what) != nil {
			gone()
		}
	})
	if err != nil {
		if cause := context.Cause(ctx); ctx.Err() != nil && errors.Is(cause, errSuperseded) {
			err = cause
		}
		out.fail(err)
		return
	}
	_ = out.line(answer) // a page that is gone is no error
}

// stream writes lines of JSON.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	shown   time.Time // when progress was written last
}

// patience is how long a page may take to read a line.
const patience = 10 * time.Second

func (s *stream) line(v any) error {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true)) // which scripts print, and is replaced
	if err != nil {
		return err
	}
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "application/x-ndjson")
		s.w.Header().Set("Cache-Control", "no-store")
	}
	if err := s.control.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := s.w.Write(append(text, '\n')); err != nil {
		return err
	}
	return s.control.Flush()
}

// fail ends the stream with an error.
func (s *stream) fail(err error) {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "application/json")
		s.w.Header().Set("Cache-Control", "no-store")
		s.w.WriteHeader(statusOf(err))
	}
	_ = s.line(map[string]string{"error": err.Error()}) // a page that is gone is no error
}

// often is the least time between two lines of progress.
const often = 100 * time.Millisecond

func (s *stream) progress(done, total int, what string) error {
	now := time.Now()
	if done < total && now.Sub(s.shown) < often {
		return nil
	}
	s.shown = now
	return s.line(map[string]any{"done": done, "total": total, "what": what})
}
