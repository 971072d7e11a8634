// Package web serves pages that follow something while it happens, such as a league.
//
// A page consists of parts. The server renders a part again when what it shows has
// changed, once for all spectators, and sends them the parts that differ as server-sent
// events. Each part has the number of its last change, so a spectator that was away, or
// that is slow, gets the parts that changed since, each in its latest form: nothing is
// queued for anybody, and what causes a change waits for nobody.
//
// The pages load nothing from elsewhere and contain no inline code; see [Secure]. They
// belong behind a server that checks Host and Origin, as those of host/jsonrpc do.
package web

import (
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed live.js
var script []byte

// Defaults of a Config.
const (
	DefaultSpectators = 512
	DefaultInterval   = 100 * time.Millisecond
)

// Config describes a page.
type Config struct {
	// Templates has a template "page" for the document, which is executed with a
	// Document, and one for each part, executed with what Data returns.
	Templates *template.Template
	// Parts are the names of the templates whose output is the content of the
	// element of the same id.
	Parts []string
	// Data returns what the parts show. It is called by one goroutine at a time.
	Data func() any
	// Fixed is what the template "page" has besides the parts.
	Fixed any
	// Assets are served below /assets/ by their names, beside live.js, which keeps the
	// page up to date.
	Assets map[string][]byte
	// Plots says that parts contain plots, whose colours are in style attributes.
	Plots bool
	// Spectators is the number of pages that are kept up to date at the same time:
	// DefaultSpectators. Further ones are refused with status 503 and ask again.
	Spectators int
	// Interval is the least time between two updates of a page: DefaultInterval.
	Interval time.Duration
	// Patience is how long a spectator may take to read an update before its
	// connection is closed: 5 s. It then connects again.
	Patience time.Duration
}

// Document is what the template "page" is executed with.
type Document struct {
	Version string                   // to continue from: for data-version of the body
	Parts   map[string]template.HTML // by name
	Wall    bool                     // the page is to be looked at from afar: no controls
	Fixed   any                      // of the Config
	Style   template.CSS             // of a page that stands alone; "" for one that is served
	Now     int64                    // milliseconds since 1970, by the server's clock
}

// Page is a page and those who watch it. Its methods are safe for concurrent use.
type Page struct {
	cfg   Config
	epoch string // tells the versions of this process from those of others
	mux   *http.ServeMux

	watching atomic.Int64

	mu      sync.Mutex
	dirty   bool
	changed chan struct{} // closed when the page becomes dirty
	fresh   chan struct{} // closed when it has been rendered for those who wait

	lead chan struct{} // held by the one of them who renders; guards what follows
	told uint64        // the version when they were woken last

	rendering sync.RWMutex // guards what follows
	rendered  time.Time    // last
	version   uint64
	parts     []part

	joining sync.Mutex        // taken while rendering is held for reading, guards what follows
	joined  map[uint64][]byte // the events after a version, since version
}

// part is a part as it was rendered last.
type part struct {
	name    string
	html    []byte
	version uint64
	event   []byte // as it is sent
}

// New returns a page. Its paths are /, /events and those below /assets/.
func New(cfg Config) *Page {
	cfg.Spectators = cmp.Or(cfg.Spectators, DefaultSpectators)
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	cfg.Patience = cmp.Or(cfg.Patience, 5*time.Second)
	p := &Page{cfg: cfg, epoch: rand.Text()[:8], mux: http.NewServeMux(), dirty: true, changed: make(chan struct{}), fresh: make(chan struct{}), lead: make(chan struct{}, 1)}
	close(p.changed)
	for _, name := range cfg.Parts {
		p.parts = append(p.parts, part{name: name})
	}
	p.mux.HandleFunc("GET /{$}", p.document)
	p.mux.HandleFunc("GET /events", p.events)
	Asset(p.mux, "live.js", script)
	for name, content := range cfg.Assets {
		Asset(p.mux, name, content)
	}
	return p
}

// Asset serves a file of a page below /assets/.
func Asset(mux *http.ServeMux, name string, content []byte) {
	mux.HandleFunc("GET /assets/"+name, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Secure(w.Header())
	if p.cfg.Plots {
		w.Header().Set("Content-Security-Policy", strings.Replace(policy, "style-src 'self'", "style-src 'self'; style-src-attr 'unsafe-inline'", 1))
	}
	p.mux.ServeHTTP(w, r)
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Secure sets the headers that keep a page to itself: it may load what its own server
// has, contains no code, and cannot be framed.
func Secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// Touch says that what the page shows may have changed. It returns at once.
func (p *Page) Touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dirty {
		p.dirty = true
		close(p.changed)
	}
}

// clean reports whether the page has to be rendered, which is from now on the task of
// the caller, and returns what is closed at the next change.
func (p *Page) clean() (render bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	render = p.dirty
	if render {
		p.dirty, p.changed = false, make(chan struct{})
	}
	return render
}

func (p *Page) change() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// refresh renders what has changed since it was called last.
func (p *Page) refresh() error {
	p.rendering.Lock()
	defer p.rendering.Unlock()
	if !p.clean() {
		return nil
	}
	p.rendered = time.Now()
	data := p.cfg.Data()
	for i := range p.parts {
		one := &p.parts[i]
		var b bytes.Buffer
		if err := p.cfg.Templates.ExecuteTemplate(&b, one.name, data); err != nil {
			return fmt.Errorf("render %s: %w", one.name, err)
		}
		if one.version > 0 && bytes.Equal(one.html, b.Bytes()) {
			continue
		}
		p.version++
		p.joined = nil
		one.html, one.version = b.Bytes(), p.version
		one.event = p.encode(one)
	}
	return nil
}

// encode returns a part as an event.
func (p *Page) encode(one *part) []byte {
	b := fmt.Appendf(nil, "id: %s-%d\nevent: part\ndata: ", p.epoch, one.version)
	w := bytes.NewBuffer(b)
	encoder := json.NewEncoder(w) // ends with a line break
	encoder.SetEscapeHTML(false)  // it is no part of a document, and a fifth shorter
	_ = encoder.Encode(struct {   // strings always encode
		Part string `json:"part"`
		HTML string `json:"html"`
	}{one.name, string(one.html)})
	w.WriteByte('\n')
	return w.Bytes()
}

// maxJoined is for how many versions the events after them are kept: those who were slow
// or away are few.
const maxJoined = 16

// since returns the events after a version, in the order of their versions. They are put
// together once for all spectators that have that version.
func (p *Page) since(version uint64) (events []byte, now uint64) {
	p.rendering.RLock()
	defer p.rendering.RUnlock()
	if version >= p.version {
		return nil, p.version
	}
	p.joining.Lock()
	defer p.joining.Unlock()
	if events, known := p.joined[version]; known {
		return events, p.version
	}
	newer := make([]part, 0, len(p.parts))
	for _, one := range p.parts {
		if one.version > version {
			newer = append(newer, one)
		}
	}
	slices.SortFunc(newer, func(a, b part) int { return cmp.Compare(a.version, b.version) })
	for _, one := range newer {
		events = append(events, one.event...)
	}
	if p.joined == nil {
		p.joined = make(map[uint64][]byte)
	}
	if len(p.joined) < maxJoined {
		p.joined[version] = events
	}
	return events, p.version
}

// document serves the whole page.
func (p *Page) document(w http.ResponseWriter, r *http.Request) {
	html, err := p.render(Document{Wall: r.URL.Query().Has("wall"), Fixed: p.cfg.Fixed, Now: time.Now().UnixMilli()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(html) // a spectator that is gone is no error
}

// Still returns the page as it is now, with one of the assets as its style sheet, to be
// kept as a file: it needs no server, and nothing of [Config.Fixed] is in it.
func (p *Page) Still(style string) ([]byte, error) {
	return p.render(Document{Style: template.CSS(p.cfg.Assets[style])})
}

// render returns a document with the parts as they are.
func (p *Page) render(doc Document) ([]byte, error) {
	if err := p.refresh(); err != nil {
		return nil, err
	}
	doc.Parts = make(map[string]template.HTML)
	p.rendering.RLock()
	doc.Version = p.epoch + "-" + strconv.FormatUint(p.version, 10)
	for _, one := range p.parts {
		doc.Parts[one.name] = template.HTML(one.html) // the templates have escaped it
	}
	p.rendering.RUnlock()
	var b bytes.Buffer
	err := p.cfg.Templates.ExecuteTemplate(&b, "page", doc)
	return b.Bytes(), err
}
