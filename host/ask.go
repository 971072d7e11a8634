package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Ask says which manager to ask and with which token.
type Ask struct {
	Manager string // URL
	Token   string // may be empty
	League  string // its name
	// Guessed says that League is a guess, to be replaced by the id that the
	// manager names.
	Guessed bool
	Timeout time.Duration
	Tap     jsonrpc.Tap // may be nil
}

// Reply is how a manager has taken a message.
type Reply struct {
	Message protocol.Message // nil if the answer is none of league.v2
	Raw     jsontext.Value   // the answer as it came, nil if it is empty
	How     string           // the way, the sender and the league that it took
}

// errUnreadable says that a manager accepts a message and answers it in words of
// its own.
var errUnreadable = errors.New("the manager answers in a form of its own")

// Tell sends one message as the launcher and returns the answer.
func (a Ask) Tell(ctx context.Context, now time.Time, m protocol.Message) (protocol.Message, error) {
	told, err := a.Send(ctx, now, m)
	switch {
	case err != nil:
		return nil, err
	case told.Message == nil:
		return nil, fmt.Errorf("%w: %s", errUnreadable, told.Raw)
	}
	return told.Message, nil
}

// maxIntroductions limits the attempts with other senders and league ids.
const maxIntroductions = 12

// Send sends one message in the ways that managers take, the commonest first,
// until one is accepted. If the manager refuses the sender or the league id, it
// tries others that the manager knows. The error is that of the manager or, if no
// way works, a [*wire.NotUnderstoodError] with all that was tried.
func (a Ask) Send(ctx context.Context, now time.Time, m protocol.Message) (_ *Reply, err error) {
	network := NewSockets()
	defer func() { err = errors.Join(err, network.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	in := &inquiry{
		ask: a, now: now, message: m,
		caller:  &wire.Caller{Client: jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{Tap: a.Tap}), Codec: dialect.NewCodec(protocol.Tolerant)},
		senders: []string{string(protocol.RoleLauncher), "league_manager", "league_manager:LM01"},
		leagues: []string{a.League},
	}
	o, err := in.send(ctx)
	if err != nil || o.Verdict != wire.Refuses || !in.unknown(o.Err) {
		return in.reply(o, err)
	}
	first := o.Err
	if in.starts() && tokenOf(first) && a.Token == "" {
		return in.plainly(ctx, first)
	}
	if o, err = in.introduce(ctx, o); err == nil {
		return in.reply(o, nil)
	}
	// So that two conversations do not send the same within a moment.
	if err := agent.Wait(ctx, 200*time.Millisecond); err != nil {
		return nil, first
	}
	in.stubborn, in.talk = true, nil
	if o, err := in.send(ctx); err == nil && o.Verdict == wire.Understood {
		return in.reply(o, nil)
	}
	return nil, in.failure(first)
}

// inquiry is one message on its way to a manager.
type inquiry struct {
	ask     Ask
	now     time.Time
	message protocol.Message
	caller  *wire.Caller
	talk    *wire.Conversation // of the current round
	peer    *wire.Peer
	// senders and leagues are the introductions to try; the first ones are in use.
	senders, leagues []string
	stubborn         bool // a refusal of the sender or the league leads to the next way
	asked            bool // the manager was asked for ids
	tried            []wire.Attempt
}

// send sends the message under the introduction in use.
func (in *inquiry) send(ctx context.Context) (*wire.Attempt, error) {
	if in.talk == nil {
		in.peer = wire.GuessPeer(in.ask.Manager, dialect.Contracts)
		in.talk = &wire.Conversation{Caller: in.caller, Peer: in.peer}
	}
	h := in.message.Head()
	*h = protocol.NewHeader(h.MessageType, in.senders[0], protocol.Timestamp(in.now), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = in.ask.Token, in.leagues[0]
	o, err := in.talk.Send(ctx, in.message, h.ConversationID, in.judge) // one id: the conversation repeats no document
	if unspoken, ok := errors.AsType[*wire.NotUnderstoodError](err); ok {
		in.tried = append(in.tried, unspoken.Tried...)
	}
	return o, err
}

// starts reports whether the message starts the league.
func (in *inquiry) starts() bool { return in.message.Head().MessageType == protocol.TypeStartLeague }

// unknown reports whether another introduction, or none, may be accepted.
func (in *inquiry) unknown(err error) bool {
	switch blame(err) {
	case aboutSender:
		return true
	case aboutLeague:
		return in.ask.Guessed
	}
	return in.starts() && in.ask.Token == "" && tokenOf(err)
}

// tokenOf reports whether a manager refuses a token, or the lack of one. Some say
// so of all that they do not know.
func tokenOf(err error) bool {
	code := dialect.CodeOf(err)
	return code == protocol.CodeTokenInvalid || code == protocol.CodeTokenMissing
}

// plainly starts the league of a manager that refuses START_LEAGUE for its token by
// what bears none. If that leads nowhere, the error is that of the message.
func (in *inquiry) plainly(ctx context.Context, first error) (*Reply, error) {
	in.stubborn = true
	in.talk.Plainly(ctx, in.message.Head().MessageType)
	if o, err := in.send(ctx); err == nil && o.Verdict == wire.Understood {
		return in.reply(o, nil)
	}
	return nil, first
}

// judge judges an outcome.
func (in *inquiry) judge(_ context.Context, o *wire.Attempt) wire.Verdict {
	v := wire.Judge(o.Err)
	switch {
	case v == wire.Understood && !in.starts() || v == wire.Unreached || !wire.Answered(o.Err):
		return v
	case in.starts() && !refused(o):
		return in.judgeStart(o)
	case in.starts() && waits(o.Err):
		return wire.Refuses
	case in.stubborn && in.unknown(o.Err):
		return wire.Misunderstood
	case in.unknown(o.Err):
		return wire.Refuses
	case v == wire.Doubtful:
		return wire.Misunderstood
	}
	return v
}

// refused reports whether a manager has refused, be it by an HTTP status only.
func refused(o *wire.Attempt) bool {
	_, refused := errors.AsType[*dialect.Refusal](o.Err)
	failed, _ := errors.AsType[*jsonrpc.CallError](o.Err)
	return refused || failed != nil && (failed.Status < http.StatusOK || failed.Status >= http.StatusMultipleChoices)
}

// waits reports whether a manager refuses to start a league for what it waits for,
// or because that runs.
func waits(err error) bool {
	b := dialect.FindBeginning([]byte(wire.Words(err)))
	return b == protocol.TooFew || b == protocol.Already
}

// judgeStart judges an answer to a start that is no refusal by its form: any that
// does not say no accepts it.
func (in *inquiry) judgeStart(o *wire.Attempt) wire.Verdict {
	said := []byte(wire.Words(o.Err)) // of a text that is no JSON
	if o.Answer != nil {
		said = o.Answer.Raw
	}
	switch b := dialect.FindBeginning(said); {
	case b == protocol.Begun:
		return wire.Understood
	case b == protocol.Unsaid && o.Answer != nil:
		return wire.Understood
	case b == protocol.Unsaid:
		return wire.Misunderstood // a page
	default:
		o.Err = &dialect.Refusal{Message: dialect.Words(said)}
		if waits(o.Err) {
			return wire.Refuses
		}
		return wire.Misunderstood
	}
}

// told turns an attempt into what the manager answered.
func (in *inquiry) reply(o *wire.Attempt, err error) (*Reply, error) {
	switch {
	case err != nil:
		return nil, err
	case o.Verdict != wire.Understood:
		return nil, o.Err
	}
	t := &Reply{Message: o.Message, How: o.Form.String()}
	if !o.Form.Plain() {
		t.How += fmt.Sprintf(" as %s for league %q", in.senders[0], in.leagues[0])
	}
	if o.Answer != nil {
		t.Raw = o.Answer.Raw
	}
	return t, nil
}

// introduce repeats a refused message with other senders and league ids, by what
// the manager refuses.
func (in *inquiry) introduce(ctx context.Context, o *wire.Attempt) (*wire.Attempt, error) {
	for range maxIntroductions {
		refused := o.Err
		form := o.Form // with the introduction in use
		form.Name = strings.TrimSpace(form.Name + " as " + in.senders[0] + " for " + in.leagues[0])
		in.tried = append(in.tried, wire.Attempt{Form: form, Err: refused})
		switch blame(refused) {
		case aboutLeague:
			if len(in.leagues) < 2 && in.ask.Guessed {
				in.discover(ctx, o)
			}
			if len(in.leagues) < 2 {
				return nil, refused
			}
			in.leagues = in.leagues[1:]
		case aboutSender:
			if len(in.senders) < 2 && !in.asked {
				in.discover(ctx, o)
			}
			if len(in.senders) < 2 {
				return nil, refused
			}
			in.senders = in.senders[1:]
		default:
			return o, nil
		}
		var err error
		if o, err = in.send(ctx); err != nil {
			return nil, err
		}
		if o.Err == nil || o.Verdict == wire.Understood {
			return o, nil
		}
	}
	return nil, o.Err
}

// discover adds the league ids and the senders that the manager names: in its
// refusal, and in answers to queries.
func (in *inquiry) discover(ctx context.Context, o *wire.Attempt) {
	in.note(o)
	if in.asked {
		return
	}
	in.asked = true
	for _, kind := range []string{protocol.QueryStatus, protocol.QueryStandings, protocol.QueryPlayers} {
		q := &protocol.LeagueQuery{QueryType: kind}
		q.Header = protocol.NewHeader(protocol.TypeLeagueQuery, in.senders[0], protocol.Timestamp(in.now), jsonrpc.RandomID())
		q.AuthToken = in.ask.Token
		talk := &wire.Conversation{Caller: in.caller, Peer: wire.NewPeer(o.Form.URL, o.Form.Dialect), Wrappings: []*dialect.Dialect{o.Form.Dialect}}
		if answered, err := talk.Send(ctx, q, q.ConversationID, nil); err == nil {
			in.note(answered)
		}
	}
	in.senders = append(in.senders, "player:P01", "referee:REF01")
}

var (
	leagueMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"league_?[iI]d"\s*:\s*"([^"\\]+)"`) })
	leagueWord   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-z0-9-]*league[_-][A-Za-z0-9_-]*[A-Za-z0-9]\b`) })
	leagueQuoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"]([A-Za-z0-9_-]{2,64})['"]`) })
	playerMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"player_?[iI]d"\s*:\s*"([^"\\]+)"`) })
	// otherWords contain "league" and are no league's id.
	otherWords = []string{"league_id", "league_manager", "league_query", "league_status", "league_error", "league_not_found", "league-manager"}
)

// note takes up the ids in an answer.
func (in *inquiry) note(o *wire.Attempt) {
	text := wire.Words(o.Err)
	if o.Answer != nil {
		text += " " + string(o.Answer.Raw)
	}
	text = strings.ReplaceAll(text, `\`, "")
	used := make(map[string]bool)
	for _, try := range in.tried {
		_, id, _ := strings.Cut(try.Form.Name, " for ")
		used[id] = true
	}
	add := func(id string) {
		if !used[id] && !slices.Contains(in.leagues, id) && !slices.Contains(otherWords, id) {
			in.leagues = append(in.leagues, id)
		}
	}
	for _, found := range leagueMember().FindAllStringSubmatch(text, 4) {
		add(found[1])
	}
	for _, found := range leagueWord().FindAllString(text, 4) {
		add(found)
	}
	if words := wire.Words(o.Err); strings.Contains(strings.ToLower(words), "league") {
		for _, found := range leagueQuoted().FindAllStringSubmatch(words, 4) {
			add(found[1])
		}
	}
	for _, found := range playerMember().FindAllStringSubmatch(text, 1) {
		if id := "player:" + found[1]; !slices.Contains(in.senders, id) {
			in.senders = append(in.senders, id)
		}
	}
}

// failure is the error when nothing has worked: all that was tried.
func (in *inquiry) failure(first error) error {
	return &wire.NotUnderstoodError{
		Type: in.message.Head().MessageType, URL: in.ask.Manager, Requests: len(in.tried), Tried: in.tried,
		Looks: "it refuses every sender and league id that is known: " + cmp.Or(wire.Words(first), first.Error()),
	}
}

// What a refusal is about.
type subject int

const (
	aboutNothing subject = iota
	aboutLeague
	aboutSender
)

// blame returns what a refusal is about, by its code and its words.
func blame(err error) subject {
	if _, refused := errors.AsType[*dialect.Refusal](err); !refused && !errors.Is(err, jsonrpc.ErrStatus) {
		return aboutNothing
	}
	switch text := wire.Words(err); {
	case dialect.CodeOf(err) == protocol.CodeLeagueNotFound, protocol.Says(protocol.BlamesLeague, text):
		return aboutLeague
	case protocol.Says(protocol.BlamesSender, text):
		return aboutSender
	}
	return aboutNothing
}

// AnnounceRound tells a manager to announce a round, which some want for each, and returns its
// answer. The method is not in the protocol.
func (a Ask) AnnounceRound(ctx context.Context, round int) (_ jsontext.Value, err error) {
	network := NewSockets()
	client := jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{})
	defer func() { err = errors.Join(err, network.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	message := jsonrpc.Message{Method: "announce_round", Params: fmt.Appendf(nil, `{"round_id":%d}`, round), ID: jsontext.Value("1")}
	answer, err := client.Call(ctx, a.Manager, message)
	if err != nil {
		return nil, err
	}
	if answer.Raw == nil && answer.Status < http.StatusBadRequest {
		return jsontext.Value("accepted"), nil
	}
	parsed, err := dialect.ParseAnswer(answer.Status, answer.Raw)
	if err != nil {
		return nil, fmt.Errorf("HTTP %d %q", answer.Status, Shown(answer.Raw))
	}
	_, err = dialect.NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeStartLeague, parsed)
	if refusal, ok := errors.AsType[*dialect.Refusal](err); ok || answer.Status >= http.StatusBadRequest {
		words := Shown(answer.Raw)
		if ok && refusal.Message != "" {
			words = refusal.Message
		}
		return nil, fmt.Errorf("HTTP %d %q", answer.Status, words)
	}
	return answer.Raw, nil
}

// Shown is an answer as the screen shows it.
func Shown(raw jsontext.Value) string {
	const widest = 200
	switch {
	case len(raw) == 0:
		return "accepted"
	case len(raw) > widest:
		return string(raw[:widest]) + "..."
	}
	return string(raw)
}
