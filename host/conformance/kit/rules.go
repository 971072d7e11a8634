package kit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/trace"
)

// Frame says how a request is not JSON-RPC, "" if it is. It reads the whole document.
func Frame(doc Fields) string {
	switch {
	case doc.Text("jsonrpc") != "2.0":
		return fmt.Sprintf(`jsonrpc is %s, want "2.0"`, doc.Shown("jsonrpc"))
	case doc.Text("method") == "":
		return fmt.Sprintf("method is %s, want a string", doc.Shown("method"))
	case !doc.HasID():
		return fmt.Sprintf("id is %s, want a string or a number", doc.Shown("id"))
	}
	return ""
}

// WholeSeconds says that a timestamp has a fraction or does not end in Z, else "". A missing one
// is no breach.
func WholeSeconds(m Fields) string {
	stamp := m.Text("timestamp")
	if _, err := protocol.ParseTimestamp(stamp); err == nil && (strings.Contains(stamp, ".") || !strings.HasSuffix(stamp, "Z")) {
		return fmt.Sprintf("timestamp is %q", stamp)
	}
	return ""
}

// Holds ends the check if a rule is broken: if there is something to say.
func (t *T) Holds(breach string) {
	if breach != "" {
		t.Fail("%s", breach)
	}
}

// Valid ends the check if a message breaks the table of a type. An answer needs no sender
// and no conversation.
func (t *T) Valid(m Fields, typ protocol.Type, answer bool) {
	doc := rawjson.Object(m)
	var header *protocol.Header
	if !answer {
		h := protocol.ReadHeader(doc)
		header = &h
	}
	_, err := protocol.Decode(typ, doc, protocol.Strict, header)
	refusal, listed := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		return
	case !listed || len(refusal.Violations) == 0:
		t.Fail("%s: %v", typ, err)
	}
	var found []string
	for _, v := range refusal.Violations {
		name := strings.ReplaceAll(strings.TrimPrefix(v.Path, "/"), "/", ".")
		switch {
		case v.Rule == "required":
			name += " is missing"
		case m.Get(name) != nil:
			name += fmt.Sprintf(" is %s, against the rule %q", m.Get(name), v.Rule)
		default:
			name += fmt.Sprintf(" is against the rule %q", v.Rule)
		}
		found = append(found, name)
	}
	t.Fail("%s", strings.Join(found, "; "))
}

// IsJSON reports whether a Content-Type declares JSON in UTF-8.
func IsJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// WrapsInRPC skips a check of JSON-RPC if the agent is sent messages without.
func (r Request) WrapsInRPC(t *T) {
	if t.form(r).Dialect.Request.Bare {
		t.Skip("it takes messages without JSON-RPC and is sent them without")
	}
}

// SampleTests test by samples that answers repeat the JSON-RPC id of their request, what becomes of
// requests without one, that refusals tell no secrets, and that nobody holds up others.
func SampleTests(sample Sample) map[string]func(*T) {
	repeats := func(id string) func(t *T) {
		return func(t *T) {
			r := sample(t)
			r.WrapsInRPC(t)
			r.ID = id
			a := t.Send(r)
			switch {
			case a.Wrapping == "request":
				t.Skip("its answers are requests, with ids of their own")
			case a.Plain:
				t.Skip("it answers with HTTP %d, which repeats no id; see %s.hostile.form", a.Status, t.Session.Role)
			case t.Control(a) && !a.Document.Has("id"):
				t.Skip("it refuses what this is tested with, and repeats no id: %s", a)
			case t.Session.control == nil || !a.Refused:
				t.Accepted(a, "")
			}
			if got := string(a.Document.Get("id")); got != id {
				t.Fail("the id %s came back as %s", id, a.Document.Shown("id"))
			}
		}
	}
	return map[string]func(*T){
		"rpc.string": repeats(`"42"`),
		"rpc.number": repeats(`42`),
		"rpc.large":  repeats(`9007199254740993`),
		"rpc.noid":   func(t *T) { takesNoID(t, sample(t)) },
		"auth.quiet": func(t *T) { quiet(t, sample) }, "load.stalled": func(t *T) { unstalled(t, sample) },
	}
}

func takesNoID(t *T, r Request) {
	r.WrapsInRPC(t)
	r.Body = WithoutID
	a := t.Send(r)
	if (a.Status == http.StatusAccepted || a.Status == http.StatusNoContent) && len(a.Body) == 0 {
		return
	}
	t.TurnedDown(a)
	if a.Document.Has("id") {
		t.Fail("it is refused with the id %s, want null", a.Document.Shown("id"))
	}
}

// AnsweredIn ends the check unless an answer accepts a request in a dialect and is in that dialect
// itself. Strict agents may refuse what is bare: it then returns false.
func (t *T) AnsweredIn(a *Answer, d *dialect.Dialect) bool {
	if d == dialect.Bare && a.Refused {
		t.Note("refused, as in strict mode: %s", a)
		return false
	}
	t.Accepted(a, "")
	want := d.Name
	if d.Answer == (dialect.Place{}) { // flat
		want = dialect.Contracts.Name
	}
	if a.Wrapping != want {
		t.Fail("asked in %s, it answers in %s", d.Name, a.Wrapping)
	}
	return true
}

// DialectTests test that a message is answered in its own wrapping, and accepted under
// methods of other names.
func DialectTests(sample Sample) map[string]func(*T) {
	tests := map[string]func(*T){}
	for _, d := range dialect.OfProtocol()[1:] {
		tests["dialect."+d.Name] = func(t *T) {
			r := sample(t)
			t.NeedsAccepted()
			r.Dialect = d
			t.AnsweredIn(t.Send(r), d)
		}
	}
	for id, method := range map[string]string{"dialect.type": "", "dialect.unknown": "unknown"} {
		tests[id] = func(t *T) {
			r := sample(t)
			t.NeedsAccepted()
			r.HasMethods(t)
			r.Method = cmp.Or(method, string(r.Message.Head().MessageType))
			t.Accepted(t.Send(r), "")
		}
	}
	return tests
}

// HasMethods skips a check of methods if the agent's dialect has none.
func (r Request) HasMethods(t *T) {
	if d := t.form(r).Dialect; d.Request.Method != "" || d.Request.Bare {
		t.Skip("it is sent messages in %s, in which methods do not matter", d.Name)
	}
}

// quiet tests that a refusal does not repeat a token. An agent that accepts
// the sample with a forged token is for another check to find.
func quiet(t *T, sample Sample) {
	t.Send(sample(t)) // it may learn by that who the sender is
	r := sample(t)
	r.Fault = func(m protocol.Message) { m.Head().AuthToken = Forged }
	if a := t.Send(r); a.Refused && bytes.Contains(a.Body, []byte(Forged)) {
		t.Fail("the refusal repeats the whole token")
	}
}

// unstalled tests that a slow peer does not hold up others. An agent may take a moment to notice a
// peer that has sent half a request, and hold up others only then; so it is sent several messages.
func unstalled(t *T, sample Sample) {
	const messages, pause = 10, 25 * time.Millisecond
	defer t.stall().Close() // only its presence mattered
	for range messages {
		a := t.Send(sample(t))
		if a.Err != nil {
			t.Fail("while another peer had sent half a request, a message was not answered: %v", a.Err)
		}
		if t.Session.control == nil || !a.Refused {
			t.Accepted(a, "")
		}
		select {
		case <-time.After(pause):
		case <-t.ctx.Done():
		}
	}
}

// stall opens a connection and sends the beginning of a request.
func (t *T) stall() net.Conn {
	u, err := url.Parse(t.Session.URL)
	if err != nil || u.Scheme != "http" {
		t.Skip("it can only be tested over plain HTTP")
	}
	conn, err := dial(t.ctx, t.Session.URL)
	if err == nil {
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\":", u.RequestURI(), u.Host)
	}
	if err != nil {
		t.Fail("no second connection: %v", err)
	}
	return conn
}

// Judge asks rules of the league about messages. A finding ends the check and, if all of them must
// be judged, that messages of a type lack what that takes. Where nothing can be judged, it returns
// what is missing.
func (t *T) Judge(messages []*Message, typ protocol.Type, all bool, rules ...string) (missing string) {
	var exchanges []*trace.Exchange
	source := map[*trace.Exchange]*Message{}
	for _, m := range messages {
		exchanges, source[m.Exchange] = append(exchanges, m.Exchange), m
	}
	show := func(all []*trace.Exchange, of func(*trace.Exchange) bool) {
		for _, x := range all {
			if m := source[x]; m.Raw != nil && of(x) {
				t.Show(m)
			}
		}
	}
	asked := slices.DeleteFunc(judge.Rules(judge.Options{Draw: game.FairDraw()}), func(r judge.Rule) bool { return !slices.Contains(rules, r.ID) })
	examined, lacks := 0, []string(nil)
	for _, l := range judge.Divide(exchanges) {
		for _, o := range l.Apply(asked) {
			for _, f := range o.Findings {
				if len(f.Exchanges) == 0 {
					f.Exchanges = exchanges
				}
				show(f.Exchanges, func(*trace.Exchange) bool { return true })
				t.Fail("%s", f.Text)
			}
			examined, lacks = examined+o.Examined, append(lacks, o.Missing...)
		}
	}
	switch {
	case len(lacks) > 0 && all:
		show(exchanges, func(x *trace.Exchange) bool { return x.Type == typ })
		t.Fail("%s lacks, or does not agree with, %s", typ, lacks[0])
	case examined == 0:
		return cmp.Or(strings.Join(lacks, "; "), "it")
	}
	return ""
}
