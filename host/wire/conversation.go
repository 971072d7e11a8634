package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

const (
	// MaxRequests bounds the requests of a conversation, those that only ask included.
	MaxRequests = 96
	// mostGuesses bounds those that follow where a peer takes one message in no form
	// that is known of it.
	mostGuesses = 48
	mostRepairs = 6 // of the members of a message in the known form
	mostNamed   = 4 // names that a peer mentions
)

// A State is what a conversation tries. It begins with Known for a peer that has taken
// messages before, and else with Wrappings, and goes on with the next one when nothing
// is left to try: Known, Names, Wrappings, Paths, Rest. What an answer says is tried
// at once, whatever the state: IDs, Members, Types, Tools, Session, Mentioned.
type State string

// The states, in the words in which they are shown.
const (
	Known     State = "the known form"
	Names     State = "method names"
	Wrappings State = "wrappings"
	Paths     State = "paths"
	Rest      State = "paths that seemed to take nothing"

	IDs       State = "the other kind of id"
	Members   State = "other members"
	Types     State = "related message types"
	Tools     State = "its tools"
	Session   State = "a session"
	Mentioned State = "names that it mentions"
)

// An Attempt is a message in one form, and what has come of it.
type Attempt struct {
	State   State // what the form was to find out
	Form    Form
	Answer  *jsonrpc.Answer  // nil where none came
	Message protocol.Message // the answer, if it can be read
	Err     error
	Verdict Verdict
}

// A Conversation finds out in which form a peer takes a message: it sends one form
// after another, the commonest first, until one is understood. What the peer answers
// decides which form is next. It sends at most [MaxRequests] requests, none of them
// twice, and makes no pauses. It belongs to one caller at a time.
type Conversation struct {
	Caller    *Caller
	Peer      *Peer              // to which the conversation tells how it is addressed from then on
	Wrappings []*dialect.Dialect // to try, and no other form; nil for all

	state    State
	message  protocol.Message
	agenda   []Attempt // to be made
	late     []Form    // at a path that seems to take nothing
	evidence []Attempt // made
	settled  *Form
	base     Attempt // in the known form, which the names vary
	text     bool    // ids are texts first
	stay     bool    // at the peer's own path
	requests int
	most     int      // of them
	asked    []string // what need not be asked or tried again: state and URL or dialect
	sent     []string // documents
	named    []string // names that the peer has mentioned
	published
}

func (c *Conversation) once(s State, about string) bool {
	first := !slices.Contains(c.asked, string(s)+about)
	c.asked = append(c.asked, string(s)+about)
	return first
}

// Send sends a message until the peer has understood it, has refused it, cannot be
// reached, or may have acted on it without saying so: then the next call has that attempt
// judged again, and makes it again unless the peer has understood it after all. ID is the
// JSON-RPC id of every attempt, or what the number for it is derived from. Judge says what an
// attempt means; nil stands for [Judge] of its error.
// The error is a [*NotUnderstoodError] when no form is left.
func (c *Conversation) Send(ctx context.Context, m protocol.Message, id string, judge func(context.Context, *Attempt) Verdict) (*Attempt, error) {
	if judge == nil {
		judge = func(_ context.Context, a *Attempt) Verdict { return Judge(a.Err) }
	}
	switch {
	case len(c.agenda) > 0: // it goes on
	case c.settled != nil:
		c.agenda, c.evidence, c.sent, c.requests = []Attempt{{State: Known, Form: *c.settled}}, nil, nil, 0
	default:
		*c = Conversation{Caller: c.Caller, Peer: c.Peer, Wrappings: c.Wrappings, most: MaxRequests}
		c.begin(m.Head().MessageType)
	}
	c.message = m
	return c.run(ctx, id, judge)
}

func (c *Conversation) begin(t protocol.Type) {
	p := c.Peer
	c.state, c.text = Wrappings, !p.guessed() && !p.Speaks().NumericIDs
	c.once(Wrappings, p.URL)
	p.note(func() {
		c.published = p.published
		if p.listed {
			c.once(Tools, p.URL)
		}
		if f, ok := p.forms[t]; ok && c.Wrappings == nil { // another agent of this process has found it
			c.propose(Known, f)
		}
	})
	c.propose(Wrappings, c.formsAt(p.URL, t)...)
}

// Evidence returns the attempts that were answered, in order.
func (c *Conversation) Evidence() Evidence { return c.evidence }

// judgeKnown judges an attempt with a message that the peer should know: what it answers to
// the known form decides what else is tried, if anything, and only if it does not know the
// name, or fails without a word of the league, all others are.
func (c *Conversation) judgeKnown(_ context.Context, a *Attempt) Verdict {
	switch {
	case a.Err == nil:
		return Understood
	case c.state == Known, c.state == Names && c.wantsName(a.Err):
		return Misunderstood
	case c.state == Names:
		return Refuses
	case OnlyReceived(a.Err):
		return Understood
	case a.Form.URL != c.Peer.URL && errors.Is(a.Err, jsonrpc.ErrConnect):
		return Misunderstood // nothing is there, but the peer has answered
	}
	return Judge(a.Err)
}

// wantsName reports whether another name may help after an error.
func (c *Conversation) wantsName(err error) bool {
	var named bool
	c.Peer.note(func() { _, named = c.Peer.settled[c.message.Head().MessageType] })
	return UnknownMethod(err) || unreadable(err) && (c.state == Names || !named)
}

// members returns the forms that send more or less of the message, by what an answer forbids
// or misses; nil where it says neither.
func (c *Conversation) members(a *Attempt) (forms []Form) {
	t := c.message.Head().MessageType
	if needsNothing(t) && protocol.Says(protocol.TooMuch, Words(a.Err)) && !a.Form.Plain() {
		forms = a.Form.smallest()
	}
	if f, is := a.Form.narrower(c.message, a.Err); is {
		forms = append(forms, f)
	}
	if f, is := a.Form.wider(c.message, a.Err); is && (!registers(t) || f.Spread || f.Input != nil) {
		forms = append(forms, f)
	}
	return forms
}

// run makes the attempts of the agenda until one is answered for good.
func (c *Conversation) run(ctx context.Context, id string, judge func(context.Context, *Attempt) Verdict) (*Attempt, error) {
	t := c.message.Head().MessageType
	for c.more(ctx) {
		a := c.agenda[0]
		c.agenda = c.agenda[1:]
		if a.Verdict == Doubtful && judge(ctx, &a) == Understood {
			c.settle(&a)
			return &a, nil
		}
		a = Attempt{State: a.State, Form: a.Form}
		call, target, err := a.Form.Call(c.message)
		if err == nil {
			if len(c.sent) > 0 && slices.Contains(c.sent, document(target, a.Form.Dialect, call)) {
				continue
			}
			c.requests++
			if a.Answer, err = c.Caller.send(ctx, target, c.header, call, c.Caller.idFor(a.Form.Dialect, id)); err == nil {
				a.Message, a.Err = c.Caller.Read(t, a.Answer)
			}
		}
		if err != nil {
			a.Err = fmt.Errorf("send %s: %w", t, err)
		}
		a.Verdict = judge(ctx, &a)
		if a.Verdict == Doubtful || a.Verdict == Unreached {
			c.agenda = slices.Insert(c.agenda, 0, a)
			c.requests-- // the backoff of the caller bounds these
			c.sent = nil
			return &a, nil
		}
		c.evidence = append(c.evidence, a)
		if a.Verdict != Misunderstood {
			c.settle(&a)
			return &a, nil
		}
		if c.settled != nil {
			return &a, nil
		}
		c.sent = append(c.sent, document(target, a.Form.Dialect, call))
		c.learn(ctx, &a)
	}
	return nil, &NotUnderstoodError{Type: t, URL: c.Peer.URL, Looks: c.looks(t), Tried: c.evidence, Requests: c.requests}
}

// document is what tells one request from another: all but the value of its id,
// which a message without JSON-RPC does not have.
func document(target string, d *dialect.Dialect, call jsonrpc.Message) string {
	return fmt.Sprint(target, " ", d.NumericIDs && !d.Request.Bare, " ", call.Method, " ", string(call.Params), string(call.Body))
}

// more reports whether there is another attempt to make. It enters the next states until there is.
func (c *Conversation) more(ctx context.Context) bool {
	for len(c.agenda) == 0 && c.settled == nil && c.advance(ctx, c.message.Head().MessageType) {
	}
	return len(c.agenda) > 0 && c.requests < c.most
}

// advance enters the next state; false after the last.
func (c *Conversation) advance(ctx context.Context, t protocol.Type) bool {
	switch c.state {
	case Known:
		if !c.wantsName(c.base.Err) {
			return false
		}
		c.state = Names
		c.proposeNames(ctx, t)
	case Names:
		if !UnknownMethod(c.base.Err) {
			c.Peer.note(func() { c.Peer.settled[t] = nil }) // it fails under every name
			return false
		}
		c.base = c.evidence[len(c.evidence)-1]
		// Other forms are for a peer whose dialect is a guess, and for a player, which loses its match
		// without an answer: some register in one wrapping and serve another.
		asksPlayer := t == protocol.TypeGameInvitation || t == protocol.TypeChooseParityCall
		if t == protocol.TypeRoundAnnouncement || !c.Peer.guessed() && (!asksPlayer || c.Caller.Codec.Mode() != protocol.Tolerant) {
			return false
		}
		tried := false // once, so that a peer that refuses everything gets no more
		if c.Peer.note(func() { tried, c.Peer.guessedAll = c.Peer.guessedAll, true }); tried {
			return false
		}
		c.stay, c.most = !wrongPath(c.base.Err), c.requests+mostGuesses
		c.begin(t)
	case Wrappings:
		if c.Wrappings != nil || c.stay {
			return false
		}
		c.state = Paths
		c.proposePaths(ctx, t)
	case Paths, Rest:
		if c.state == Rest && c.late == nil {
			return false
		}
		c.state = Rest
		c.propose(Rest, c.late...)
		c.late = nil
		c.askTools(ctx, c.Peer.URL, t)
	}
	return true
}

// proposeNames proposes the other names of a message: that of the tool that the peer
// lists for it, those that it mentions, and all in use.
func (c *Conversation) proposeNames(ctx context.Context, t protocol.Type) {
	f := c.base.Form
	d := f.Dialect
	if d.Request.Name != "" {
		asked, p := false, c.Peer
		if p.note(func() { asked, p.listed = p.listed, true }); !asked {
			tools, _ := c.Caller.tools(ctx, p.Address(), p.SessionHeader(), p.Speaks())
			p.note(func() { p.tools = tools })
		}
		tool, err := p.Form(t) // the one that has failed where it lists none
		if err != nil {
			return
		}
		c.propose(Tools, tool)
	}
	if d.Request.Method != "" && d.Request.Name == "" || d.Request.Bare {
		return // the name stands nowhere
	}
	all := d.MethodsOf(t)
	own := cmp.Or(f.Name, all[0])
	f.Input = nil
	for _, f.Name = range slices.Concat(protocol.NamesIn(Words(c.base.Err), t), all) {
		if f.Name != own {
			c.propose(Names, f)
		}
	}
}

func (c *Conversation) propose(s State, forms ...Form) {
	for _, f := range forms {
		c.agenda = append(c.agenda, Attempt{State: s, Form: f})
	}
}

// prefer puts forms in front of the agenda.
func (c *Conversation) prefer(s State, forms ...Form) {
	rest := c.agenda
	c.agenda = nil
	c.propose(s, forms...)
	c.agenda = append(c.agenda, rest...)
}

func (c *Conversation) settle(a *Attempt) {
	p, f, d := c.Peer, a.Form, a.Form.Dialect
	if a.Answer != nil && a.Answer.IsRequest() {
		d = d.With(dialect.TraitRequests)
	}
	switch {
	case c.state != Known && c.state != Names:
		c.settled, c.agenda = &f, nil
		p.note(func() {
			if !f.Single {
				p.learned, p.at, p.guess = d, f.URL, false
			}
			p.published = c.published
			p.listed = p.listed || c.tools != nil || slices.Contains(c.asked, string(Tools)+f.URL)
		})
	case a.State == IDs:
		p.Learn(a.Form.Dialect)
	case a.State == Known:
		return // with nothing to note
	}
	if f.changes() || f.Single || f.Name != "" {
		p.note(func() { p.forms[c.message.Head().MessageType] = f })
	}
}

// learn puts the forms in front that an answer makes likelier.
func (c *Conversation) learn(ctx context.Context, a *Attempt) {
	t := c.message.Head().MessageType
	switch {
	case c.state == Known:
		c.learnKnown(a)
	case c.state == Names:
		if a.State == Tools && !UnknownMethod(a.Err) {
			c.agenda = nil // it knows the name
		}
	case blamesID(a.Err) && c.once(IDs, ""):
		c.otherIDs(a.Form)
	case c.Wrappings != nil:
	case needsSession(a.Err) && c.once(Session, ""):
		c.greet(ctx, a.Form.URL)
		c.askTools(ctx, a.Form.URL, t)
	case wrongPath(a.Err):
		if c.once(Paths, a.Form.URL) {
			c.leave(a.Form.URL)
		}
		if c.publishes(a.Form.URL) && c.once(Wrappings, a.Form.URL) {
			c.late = append(c.late, c.formsAt(a.Form.URL, t)...)
		}
		c.proposePaths(ctx, t)
	default:
		if forms := c.members(a); forms != nil { // the first finding may hide others
			c.prefer(Members, forms...)
		} else {
			c.learnWords(ctx, a, t)
		}
	}
}

func (c *Conversation) learnKnown(a *Attempt) {
	if a.State != IDs || !blamesID(a.Err) && (blamesID(c.base.Err) || !unreadable(a.Err)) {
		if a.State == IDs {
			c.Peer.Learn(a.Form.Dialect)
		}
		c.base = *a
	}
	understood := get(c.Peer, func() bool { return c.Peer.understood })
	mayBeID := blamesID(a.Err) || !understood && unreadable(a.Err) && !UnknownMethod(a.Err)
	if forms := c.members(a); forms != nil && len(c.evidence) <= mostRepairs {
		c.prefer(Members, forms[0])
	} else if mayBeID && !a.Form.Dialect.Request.Bare && c.once(IDs, string(Known)) {
		c.prefer(IDs, a.Form.withOtherID())
	}
}

// learnWords learns from a path that takes something, and from its words.
func (c *Conversation) learnWords(ctx context.Context, a *Attempt, t protocol.Type) {
	f := a.Form
	if c.once(Wrappings, f.URL) {
		if f.Single && needsNothing(t) {
			c.prefer(Members, f.smallest()...)
		} else {
			c.prefer(Wrappings, c.formsAt(f.URL, t)...)
		}
	}
	if !f.Single {
		c.askTools(ctx, f.URL, t)
	}
	text, d := Words(a.Err), f.Dialect
	if f.Type == "" && f.Input == nil && !f.Plain() && protocol.Says(protocol.UnknownType, text) && c.once(Types, d.Without(dialect.TraitNumericIDs).Name) {
		for _, near := range protocol.Neighbours(t) { // after the forms in which others take its own
			c.propose(Types, f.as(t, near))
		}
	}
	if registers(t) && !f.Spread && f.Input == nil && protocol.Says(protocol.Lacks, text) {
		flat := f // the members may be wanted beside the object that holds them
		flat.Spread = true
		c.prefer(Members, flat)
	}
	if d.Request.Name != "" && f.Input == nil && f.Name == "" && strings.Contains(strings.ReplaceAll(text, d.Request.Method, ""), "tool") {
		for _, name := range slices.Backward(d.MethodsOf(t)[1:]) {
			c.prefer(Names, Form{URL: f.URL, Dialect: d, Name: name})
		}
	}
	hints := text
	if refusal := refusalOf(a.Err); refusal != nil {
		hints += " " + string(refusal.Data)
	}
	for _, name := range slices.Backward(protocol.NamesIn(hints, t)) {
		if name == strings.ToUpper(name) && name != string(t) && f.Type == "" && f.Input == nil && !f.Plain() && c.once(Mentioned, d.Without(dialect.TraitNumericIDs).Name+name) {
			c.prefer(Mentioned, f.as(t, protocol.Type(name))) // it is a type
		}
		// What repeats a name that was sent is no new one.
		echo := slices.ContainsFunc(append(d.MethodsOf(t), c.named...), func(sent string) bool { return strings.Contains(name, sent) })
		if echo || len(c.named) >= mostNamed {
			continue
		}
		c.named = append(c.named, name)
		if d.Request.Name != "" || d.Request.Method == "" && !d.Request.Bare {
			c.prefer(Mentioned, Form{URL: f.URL, Dialect: d, Name: name})
		}
	}
}

// otherIDs puts the forms with the other kind of request id in front, the one that
// was just tried first.
func (c *Conversation) otherIDs(f Form) {
	first := c.text == !f.Dialect.NumericIDs
	rank := func(a Attempt) int {
		if !a.Form.Dialect.Request.Bare && a.Form.Dialect.NumericIDs == f.Dialect.NumericIDs {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(c.agenda, func(a, b Attempt) int { return rank(a) - rank(b) })
	c.prefer(IDs, f.withOtherID())
	if first {
		c.text = !c.text
	}
}

// leave puts the forms at a URL last.
func (c *Conversation) leave(at string) {
	c.agenda = slices.DeleteFunc(c.agenda, func(a Attempt) bool {
		if a.Form.URL == at {
			c.late = append(c.late, a.Form)
		}
		return a.Form.URL == at
	})
}

// formsAt returns the forms at one URL, the commonest first: all wrappings, then what else is
// worth trying, then the wrappings under the other kind of id.
func (c *Conversation) formsAt(at string, t protocol.Type) []Form {
	all := c.Wrappings
	if all == nil {
		all = slices.Clone(dialect.RegistrationOrder)
		if known := c.Peer.Speaks(); !c.Peer.guessed() && known.Name != dialect.Contracts.Name {
			all = slices.Insert(all, 0, known)
		}
	}
	var forms, others []Form
	for _, d := range all {
		if own := c.ofKind(d, c.text); own != nil {
			forms = append(forms, Form{URL: at, Dialect: own})
		}
		if other := c.ofKind(d, !c.text); other != nil {
			others = append(others, Form{URL: at, Dialect: other})
		}
	}
	if c.Wrappings == nil {
		common := c.probe(at)
		flat := common
		if flat.Spread = registers(t); flat.Spread {
			forms = append(forms, flat, Form{URL: at, Dialect: dialect.Bare, Spread: true})
		}
		about, _ := protocol.Describe(t)
		flat.Name, _, _ = strings.Cut(about.Method, "_")
		forms = append(forms, flat)
		if needsNothing(t) {
			forms = append(forms, common.smallest()...)
			forms = append(forms, Form{URL: at, Dialect: c.ofKind(dialect.Tool, c.text)}.smallest()...)
		}
	}
	return append(forms, others...)
}

// ofKind returns the dialect with ids of a kind, nil where it has only the other.
// Without JSON-RPC there are no ids, and so one kind only.
func (c *Conversation) ofKind(d *dialect.Dialect, text bool) *dialect.Dialect {
	switch {
	case d.Request.Bare && text != c.text, text && d.NumericIDs && !d.Request.Bare:
		return nil
	case text, d.Request.Bare:
		return d
	}
	return d.With(dialect.TraitNumericIDs)
}

func registers(t protocol.Type) bool {
	return t == protocol.TypeLeagueRegisterRequest || t == protocol.TypeRefereeRegisterRequest
}

// needsNothing reports whether a type of message says all by its name.
func needsNothing(t protocol.Type) bool { return t == protocol.TypeStartLeague }

// NotUnderstoodError says that a peer understands a message in no form.
type NotUnderstoodError struct {
	Type     protocol.Type
	URL      string
	Looks    string // what the peer seems to be
	Tried    []Attempt
	Requests int // made, those that only asked included
}

// Error says what was tried, what the peer looks like, and in a line each what kinds
// of attempts were answered.
func (e *NotUnderstoodError) Error() string {
	return fmt.Sprintf("no way to send %s to %s was understood (%d requests): %s%s", e.Type, e.URL, e.Requests, e.Looks, Evidence(e.Tried))
}

// Unwrap returns the error of the first attempt.
func (e *NotUnderstoodError) Unwrap() error {
	if len(e.Tried) == 0 {
		return nil
	}
	return e.Tried[0].Err
}

// Evidence are the attempts of a conversation in order.
type Evidence []Attempt

// String says in a line what was tried in which order, and in a line for each kind of
// answer what it was the answer to.
func (e Evidence) String() string {
	var b strings.Builder
	var states, answers []string
	forms := make(map[string][]string)
	for _, a := range e {
		if a.State != "" && !slices.Contains(states, string(a.State)) {
			states = append(states, string(a.State))
		}
		said := "understood"
		if a.Err != nil {
			said = summary(a.Err)
		}
		if forms[said] == nil {
			answers = append(answers, said)
		}
		forms[said] = append(forms[said], a.Form.String())
	}
	if states != nil {
		fmt.Fprintf(&b, "\n  tried %s; it answered:", strings.Join(states, ", then "))
	}
	const most = 5
	for i, said := range answers {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d other answers", len(answers)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s: %s", said, forms[said][0])
		if n := len(forms[said]); n > 1 {
			fmt.Fprintf(&b, " and %d other forms", n-1)
		}
	}
	return b.String()
}

// summary is what an attempt was answered, in a line.
func summary(err error) string {
	words, status := cmp.Or(Words(err), "nothing readable"), statusOf(err)
	if call := callError(err); call != nil {
		status = call.Status
	}
	switch refusal := refusalOf(err); {
	case refusal != nil && refusal.RPC != 0:
		return fmt.Sprintf("JSON-RPC %d %q", refusal.RPC, words)
	case status != 0:
		return fmt.Sprintf("HTTP %d %q", status, words)
	}
	return fmt.Sprintf("%q", cmp.Or(Words(err), err.Error()))
}
