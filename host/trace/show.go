package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// Filter selects exchanges. Empty fields select all.
type Filter struct {
	Match string // a match id
	// Agent took part: it recorded, signed either message, or is part of the
	// peer's address.
	Agent string
	Type  protocol.Type // of the request
	Once  bool          // select an exchange that both its agents recorded once, as its sender saw it
	// Bare leaves out what is no message of the league's: see [Exchange.Aside].
	Bare bool
}

// asides are the methods that MCP defines apart from calls of tools.
var asides = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(initialize|ping|tools/list|(notifications|resources|prompts|logging|completion|roots|sampling|elicitation)/.*)$`)
})

// Aside reports whether an exchange is not the league's: an empty request, or one that
// MCP defines apart from calls of tools, such as the initialize of a client and the ping
// that probes an address.
func (x *Exchange) Aside() bool {
	return x.Type == "" && (len(x.Raw) == 0 || asides().MatchString(x.Method))
}

// Select returns the exchanges that a filter selects, in order.
func (rec *Recording) Select(f Filter) []*Exchange {
	sent := map[string]bool{} // the requests, whose bytes both sides of an exchange share
	for _, x := range rec.Exchanges {
		if f.Once && x.Sent {
			sent[string(x.Raw)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(rec.Exchanges), func(x *Exchange) bool {
		return f.Match != "" && x.Match != f.Match ||
			f.Bare && x.Aside() ||
			f.Type != "" && x.Type != f.Type ||
			f.Agent != "" && !x.involves(f.Agent) ||
			!x.Sent && sent[string(x.Raw)]
	})
}

func (x *Exchange) involves(agent string) bool {
	for _, who := range []string{x.Agent, x.Sender, x.answerer()} {
		if _, id, ok := strings.Cut(who, ":"); who == agent || ok && id == agent {
			return true
		}
	}
	return strings.Contains(x.Peer, agent)
}

// Format is the layout of a printed conversation.
type Format struct {
	// Bodies prints each message in full below its line.
	Bodies bool
	// Remarks are printed between the exchanges, by time.
	Remarks []Remark
}

// clock is the layout of times.
const clock = "15:04:05.000"

// Show prints exchanges as a conversation, two lines each: who sent what to
// whom, and the answer with its latency.
func Show(w io.Writer, exchanges []*Exchange, f Format) error {
	const widest = 48
	width := 0
	for _, x := range exchanges {
		width = min(max(width, len(x.parties())), widest)
	}
	out := bufio.NewWriter(w)
	line := func(at time.Time, who, what string) {
		fmt.Fprintf(out, "%s  %-*s  %s\n", at.UTC().Format(clock), width, printable(who), printable(what))
	}
	body := func(raw []byte) {
		if f.Bodies {
			fmt.Fprintf(out, "    %s\n", printable(string(raw)))
		}
	}
	remark := func(m Remark) { line(m.At, m.Agent, strings.TrimSpace(m.Match+" "+m.Text)) }
	remarks := f.Remarks
	for _, x := range exchanges {
		for ; len(remarks) > 0 && remarks[0].At.Before(x.At); remarks = remarks[1:] {
			remark(remarks[0])
		}
		line(x.At, x.parties(), x.asked())
		body(x.Raw)
		took := ""
		if x.Answered {
			took = ", " + x.Latency.Round(10*time.Microsecond).String()
		}
		fmt.Fprintf(out, "%*s  = %s%s\n", len(clock)+2+width, "", x.Outcome(), took)
		if len(x.RawAnswer) > 0 {
			body(x.RawAnswer)
		}
	}
	for _, m := range remarks {
		remark(m)
	}
	return out.Flush()
}

// printable replaces what could move a terminal's cursor or begin a line: messages
// come from other people's programs.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, s)
}

// parties names sender and receiver, the peer as well as the recording knows it.
func (x *Exchange) parties() string {
	from, to := cmp.Or(x.Agent, "?"), cmp.Or(x.answerer(), x.Peer, "?")
	if !x.Sent {
		from, to = cmp.Or(x.Sender, to), from
	}
	return printable(from + " -> " + to)
}

// answerer is who signed the answer, if anybody.
func (x *Exchange) answerer() string {
	if x.Answer == nil {
		return ""
	}
	return x.Answer.Head().Sender
}

func (x *Exchange) asked() string {
	text := words(cmp.Or(string(x.Type), x.Method, "a message without a type"), x.Match)
	text += around(": ", summary(x.Request), "") + around("  [", x.Dialect, "]")
	switch {
	case x.Invalid != nil && x.Type == "":
		text += "  (not a league.v2 message)"
	case x.Invalid != nil:
		text += "  (breaks the rules: " + x.Invalid.Error() + ")"
	}
	return text
}

// Outcome describes the end of the exchange in a few words: the answer, the
// refusal, or why there is neither. It is one line, whatever the peer sent.
func (x *Exchange) Outcome() string { return printable(x.outcome()) }

func (x *Exchange) outcome() string {
	switch {
	case !x.Answered:
		return "the recording ends before the answer"
	case x.Answer != nil && x.Refused == nil:
		text := string(x.Answer.Head().MessageType) + around(": ", summary(x.Answer), "")
		if flaw := x.Answer.Head().Flaw; flaw != nil {
			text += "  (breaks the rules: " + flaw.Error() + ")"
		}
		return text
	case x.Refused != nil:
		if refused, ok := errors.AsType[*dialect.Refusal](x.Refused); ok {
			return "refused" + refused.Words()
		}
		return fmt.Sprintf("HTTP %d, an answer that breaks the rules: %v", x.Status, x.Refused)
	case x.Failure != "":
		return "no answer: " + x.Failure
	case x.Status == 0:
		return "no answer"
	}
	return fmt.Sprintf("HTTP %d, an empty answer", x.Status)
}

// summary describes the content of a message in a few words, empty where the
// type says it all.
func summary(m protocol.Message) string {
	switch m := m.(type) {
	case *protocol.LeagueRegisterRequest:
		return fmt.Sprintf("%q at %s", m.Meta.DisplayName, m.Meta.ContactEndpoint)
	case *protocol.RefereeRegisterRequest:
		return fmt.Sprintf("%q at %s", m.Meta.DisplayName, m.Meta.ContactEndpoint)
	case *protocol.RegisterResponse:
		return words(m.Status, cmp.Or(m.PlayerID, m.RefereeID), m.Reason.Value())
	case *protocol.RoundAnnouncement:
		return list(m.Matches, func(x protocol.AnnouncedMatch) string {
			return fmt.Sprintf("%s %s-%s", x.MatchID, x.PlayerAID, x.PlayerBID)
		})
	case *protocol.LeagueStandingsUpdate:
		return list(m.Standings, row)
	case *protocol.LeagueCompleted:
		return list(m.FinalStandings, row)
	case *protocol.GameInvitation:
		return words(m.RoleInMatch, around("against ", m.OpponentID, ""))
	case *protocol.GameJoinAck:
		switch joins, said := m.Joins(); {
		case !said:
			return "received, answers later"
		case joins:
			return "joins"
		}
		return "declines"
	case *protocol.ChooseParityCall:
		return around("until ", m.Deadline, "")
	case *protocol.ChooseParityResponse:
		return string(m.Chosen())
	case *protocol.GameOver:
		r := m.Stated("", "")
		text := r.Status + around(", ", r.WinnerPlayerID.Value(), " wins")
		if n, ok := r.DrawnNumber.Get(); ok {
			text += fmt.Sprintf(", drawn %d", n)
		}
		return text
	case *protocol.MatchResultReport:
		return cmp.Or(around("", m.Result.Winner.Value(), " wins"), "no winner")
	case *protocol.GameError:
		return words(m.ErrorCode, m.ErrorName, m.AffectedPlayer)
	case *protocol.LeagueQuery:
		return m.QueryType
	case *protocol.LeagueQueryResponse:
		return m.QueryType
	case *protocol.LeagueStatus:
		return m.Status
	}
	return ""
}

// around puts something before and after a text, if there is one.
func around(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

func words(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

func row(s protocol.Standing) string { return fmt.Sprintf("%d. %s %d", s.Rank, s.PlayerID, s.Points) }

// list names the first items of a list and counts the others.
func list[T any](all []T, name func(T) string) string {
	const most = 6
	var names []string
	for _, item := range all[:min(most, len(all))] {
		names = append(names, name(item))
	}
	text := strings.Join(names, ", ")
	if n := len(all); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return text
}
