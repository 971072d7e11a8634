package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Filter chooses exchanges. Empty fields choose all.
type Filter struct {
	Match string // a match id
	// Agent is an agent that took part: who recorded, who signed either
	// message, or part of the peer's address.
	Agent string
	Type  protocol.Type // of the request
	Once  bool          // what two agents of one recording saw is shown once, as its sender saw it
}

// Select returns the exchanges that a filter chooses, in order.
func (rec *Recording) Select(f Filter) []*Exchange {
	sent := map[string]bool{}
	if f.Once {
		for _, x := range rec.Exchanges {
			if id := x.id(); x.Direction == jsonrpc.Out && id != "" {
				sent[id] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rec.Exchanges), func(x *Exchange) bool {
		return f.Match != "" && x.Match != f.Match ||
			f.Type != "" && x.Type != f.Type ||
			f.Agent != "" && !x.involves(f.Agent) ||
			f.Once && x.Direction == jsonrpc.In && sent[x.id()]
	})
}

// id returns the JSON-RPC id of the request, by which the two sides of one
// exchange know each other; empty if there is none.
func (x *Exchange) id() string {
	var frame struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(x.Raw, &frame) != nil || frame.ID == nil {
		return ""
	}
	return fmt.Sprint(frame.ID)
}

func (x *Exchange) involves(agent string) bool {
	answered := ""
	if x.Answer != nil {
		answered = x.Answer.Head().Sender
	}
	for _, who := range []string{x.Agent, x.Sender, answered} {
		if _, id, ok := strings.Cut(who, ":"); who == agent || ok && id == agent {
			return true
		}
	}
	return strings.Contains(x.Peer, agent)
}

// ShowOptions say how much is shown.
type ShowOptions struct {
	// Bodies shows each message whole below its line.
	Bodies bool
	// Clock is how times are printed; default "15:04:05.000".
	Clock string
}

// Show prints exchanges as a conversation, two lines each: who said what to
// whom, and what came back after which time.
func Show(w io.Writer, exchanges []*Exchange, o ShowOptions) error {
	const widest = 48
	o.Clock = cmp.Or(o.Clock, "15:04:05.000")
	width := 0
	for _, x := range exchanges {
		width = min(max(width, len(x.parties())), widest)
	}
	for _, x := range exchanges {
		if _, err := io.WriteString(w, x.text(o, width)); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exchange) text(o ShowOptions, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-*s  %s\n", x.At.UTC().Format(o.Clock), width, x.parties(), x.asked())
	if o.Bodies {
		body(&b, x.Raw)
	}
	fmt.Fprintf(&b, "%*s  %s\n", len(o.Clock)+2+width, "", x.answered())
	if o.Bodies && len(x.RawAnswer) > 0 {
		body(&b, x.RawAnswer)
	}
	return b.String()
}

// parties says who speaks to whom.
func (x *Exchange) parties() string {
	if x.Direction == jsonrpc.In {
		return x.other() + " -> " + cmp.Or(x.Agent, "?")
	}
	return cmp.Or(x.Agent, "?") + " -> " + x.other()
}

func body(b *strings.Builder, raw []byte) {
	fmt.Fprintf(b, "    %s\n", raw)
}

// other names the other side as well as it is known.
func (x *Exchange) other() string {
	if x.Direction == jsonrpc.In && x.Sender != "" {
		return x.Sender
	}
	if x.Answer != nil && x.Answer.Head().Sender != "" {
		return x.Answer.Head().Sender
	}
	return cmp.Or(x.Peer, "?")
}

func (x *Exchange) asked() string {
	name := cmp.Or(string(x.Type), x.Method, "a message without a type")
	text := name
	if x.Match != "" {
		text += " " + x.Match
	}
	if s := summary(x.Request); s != "" {
		text += ": " + s
	}
	if x.Dialect != "" {
		text += "  [" + x.Dialect + "]"
	}
	switch {
	case x.Invalid != nil && x.Type == "":
		text += "  (no message of league.v2)"
	case x.Invalid != nil:
		text += "  (does not keep the rules: " + x.Invalid.Error() + ")"
	}
	return text
}

func (x *Exchange) answered() string {
	if !x.Answered {
		return "= " + x.Outcome()
	}
	return fmt.Sprintf("= %s, %s", x.Outcome(), x.Latency.Round(10*time.Microsecond))
}

// Outcome says in a few words how the exchange ended: with which answer, with
// which refusal, or why with neither.
func (x *Exchange) Outcome() string {
	switch {
	case !x.Answered:
		return "the recording ends before the answer"
	case x.Answer != nil && x.Refused == nil:
		text := string(x.Answer.Head().MessageType)
		if s := summary(x.Answer); s != "" {
			text += ": " + s
		}
		return text
	case x.Refused != nil:
		return x.refusal()
	case x.Failure != "":
		return "no answer: " + x.Failure
	case x.Status == 0:
		return "no answer"
	}
	return fmt.Sprintf("HTTP %d, an empty answer", x.Status)
}

func (x *Exchange) refusal() string {
	var refused *protocol.Refusal
	if !errors.As(x.Refused, &refused) {
		return fmt.Sprintf("HTTP %d, an answer that does not keep the rules: %v", x.Status, x.Refused)
	}
	text := "refused"
	if refused.Code != "" {
		text += ": " + string(refused.Code) + " " + refused.Code.Name()
	}
	if refused.RPC != 0 {
		text += fmt.Sprintf(" (%d)", refused.RPC)
	}
	var data struct {
		Detail string `json:"detail"`
	}
	// A refusal need not have a detail.
	_ = json.Unmarshal(refused.Data, &data)
	if detail := cmp.Or(data.Detail, refused.Message); detail != "" && detail != refused.Code.Name() {
		text += ", " + detail
	}
	return text
}
