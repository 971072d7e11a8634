package agent

import (
	"slices"
	"sync"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/wire"
)

// AnswerDialects remembers the form in which each peer reads answers. A peer is answered in the
// dialect that it speaks until it shows that it has not read the answer; from then on in the next
// form, until it shows that it has. It is safe for concurrent use; the zero value knows nobody.
type AnswerDialects struct {
	// Fixed keeps everybody's form, whatever a peer shows. It is set before use.
	Fixed bool

	mu     sync.Mutex
	common string // the form that registration has shown, for everybody
	known  map[string]*answerForm
}

type answerForm struct {
	form   string
	missed []string // the forms that it did not read
	joined bool     // it has continued after a join in this form
	proven bool     // it has counted a choice in this form
}

// forms are the traits of answers in the order in which they are tried: by how
// many programs read them. The first is the plain result.
var forms = []string{"", dialect.TraitBoth, dialect.TraitAsync, dialect.TraitRequests}

// SenderOf returns by which name the sender of a request is remembered: what it
// signs and from where it calls.
func SenderOf(in *wire.Exchange) string {
	host := in.RPC.Source()
	if in.Header.Sender == "" {
		return host
	}
	if host == "" {
		return in.Header.Sender
	}
	return in.Header.Sender + " at " + host
}

// SetDefault sets the form in which everybody is answered to begin with, if the
// dialect has one: that of the manager.
func (m *AnswerDialects) SetDefault(d *dialect.Dialect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, form := range forms[1:] {
		if d.Has(form) {
			m.common = form
		}
	}
}

// of returns what is remembered of a peer. The lock is held until unlock is called.
func (m *AnswerDialects) of(who string) (known *answerForm, unlock func()) {
	m.mu.Lock()
	if m.known == nil {
		m.known = make(map[string]*answerForm)
	}
	if known = m.known[who]; known == nil {
		known = &answerForm{form: m.common}
		m.known[who] = known
	}
	return known, m.mu.Unlock
}

// Form returns the trait of answers to a peer, empty for a plain result.
func (m *AnswerDialects) Form(who string) string {
	known, unlock := m.of(who)
	defer unlock()
	return known.form
}

// Dialect returns the dialect in which a peer that spoke in d is answered. The result of a tool
// stays a result: clients of the Model Context Protocol read nothing else.
func (m *AnswerDialects) Dialect(who string, d *dialect.Dialect) *dialect.Dialect {
	form := m.Form(who)
	if form == "" || d.Has(form) || d.Answer.Content && form != dialect.TraitAsync {
		return d
	}
	return d.With(form)
}

// Prefer has a peer answered in a form that its messages suggest, unless it has
// shown what it reads or does not read.
func (m *AnswerDialects) Prefer(who, form string) {
	known, unlock := m.of(who)
	defer unlock()
	if !m.Fixed && !known.joined && !known.proven && known.missed == nil && known.form == "" {
		known.form = form
	}
}

// Missed notes that a peer has not read an answer in a form: a choice or, after which it cannot
// have read one either, a join. Others are forms in which the same answer was given besides. It
// reports whether the peer is answered in another form from now on.
func (m *AnswerDialects) Missed(who, form string, choice bool, others ...string) bool {
	known, unlock := m.of(who)
	defer unlock()
	if m.Fixed || known.proven || known.joined && !choice || known.form != form {
		return false // it was the answer that was lost, or this is known
	}
	known.missed = append(append(known.missed, form), others...)
	if choice { // joins alone are sent as messages of their own
		known.missed = append(known.missed, dialect.TraitAsync)
	}
	known.joined = false
	at := max(slices.Index(forms, form), 0)
	for i := range forms {
		if next := forms[(at+1+i)%len(forms)]; !slices.Contains(known.missed, next) {
			known.form = next
			return true
		}
	}
	known.form, known.missed = forms[0], nil // none was read; begin again
	return true
}

// Joined notes that a peer has continued after a join, which was sent besides as
// a message of its own if posted. Which of the two it has read cannot be known, so
// that this replaces the plain form only.
func (m *AnswerDialects) Joined(who string, posted bool) {
	known, unlock := m.of(who)
	defer unlock()
	if posted && !m.Fixed && !known.joined && known.form == "" {
		known.form = dialect.TraitAsync
	}
	known.joined = true
}

// Proven notes that a peer has counted a choice, and so reads answers of its form.
func (m *AnswerDialects) Proven(who string) {
	known, unlock := m.of(who)
	defer unlock()
	known.proven = true
}
