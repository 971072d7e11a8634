package screen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// tolerantFlag lets agents play whose messages are understandable but invalid.
const tolerantFlag = "--validation tolerant"

// Troubles collects what went wrong for the agents of a league, for a summary at
// its end. It is safe for concurrent use; the zero value is empty.
type Troubles struct {
	mu      sync.Mutex
	seated  map[string]string // names of registered agents, by id
	refused []manager.Event   // registrations, and messages that are invalid only in strict mode
	losses  []*loss
	scripts map[match]string // errors of the strategies of house players
}

// earlierFailure is why a strategy is not called any more.
const earlierFailure = "an earlier failure costs it the rest of the league"

// match is one player's side of a match.
type match struct{ name, id string }

// loss counts the technical losses of one player by one kind of fault.
type loss struct {
	player, fault string
	matches       int
	first         string // details of the first one; may be empty
	tolerant      bool   // a tolerant referee would have accepted the answer
}

// Managed records an event of a manager.
func (t *Troubles) Managed(e manager.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case manager.AgentRegistered:
		if t.seated == nil {
			t.seated = make(map[string]string)
		}
		t.seated[e.Agent] = e.Name
	case manager.MessageRefused:
		t.refused = append(t.refused, e)
	}
}

// Failed records why the strategy of a house player makes no choice in a match. The
// referee hears only that it makes none.
func (t *Troubles) Failed(name string, e player.Event) {
	if e.Kind != player.Failed {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.scripts == nil {
		t.scripts = make(map[match]string)
	}
	t.scripts[match{name, e.Match}] = cmp.Or(e.Error, earlierFailure)
}

// Knows reports whether errors of a player's strategy are known without its telling: it
// is a house player.
func (t *Troubles) Knows(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for m := range t.scripts {
		if m.name == name {
			return true
		}
	}
	return false
}

// Forfeited records a technical loss and returns its reason: the error of the strategy,
// if that is known, or else what the referee says.
func (t *Troubles) Forfeited(e referee.Event) (reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	reason = cmp.Or(t.scripts[match{t.seated[e.Player], e.Match}], e.Error)
	at := slices.IndexFunc(t.losses, func(l *loss) bool { return l.player == e.Player && l.fault == e.Fault })
	if at < 0 {
		at = len(t.losses)
		t.losses = append(t.losses, &loss{player: e.Player, fault: e.Fault, first: reason})
	}
	t.losses[at].matches++
	t.losses[at].tolerant = t.losses[at].tolerant || e.Tolerant
	return reason
}

// Summary says which agents were refused or lost by failing, and what to do about
// it; empty if none. It leaves out agents that registered later. The standings tell
// what an earlier process of the league has seen.
func (t *Troubles) Summary(mode protocol.Mode, standings []league.Standing) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names, before := make(map[string]string), make(map[string]int)
	for _, s := range standings {
		names[s.PlayerID], before[s.PlayerID] = s.DisplayName, s.TechnicalLosses
	}
	maps.Copy(names, t.seated)
	var b strings.Builder
	tolerant := false
	line := func(title *string, text string, strictness bool) {
		if *title != "" {
			fmt.Fprintf(&b, "\n%s", *title)
			*title = ""
		}
		if strictness {
			text += "  [accepted with " + tolerantFlag + "]"
			tolerant = true
		}
		fmt.Fprintf(&b, "\n  %s", text)
	}
	title := "refused:"
	for _, e := range t.refused {
		if e.Name == "" || !slices.Contains(slices.Collect(maps.Values(t.seated)), e.Name) { // else it has registered since
			line(&title, whoWasRefused(e)+": "+e.Error, e.Tolerant)
		}
	}
	title = "technical losses:"
	for _, l := range t.losses {
		before[l.player] -= l.matches
		line(&title, fmt.Sprintf("%s %s, in %s: %s", l.player, names[l.player], matches(l.matches), Reason(l.fault, l.first)), l.tolerant)
	}
	for _, s := range standings {
		if n := before[s.PlayerID]; n > 0 {
			line(&title, fmt.Sprintf("%s %s, in %s before this process started", s.PlayerID, s.DisplayName, matches(n)), false)
		}
	}
	if tolerant && mode == protocol.Strict {
		fmt.Fprintf(&b, "\n%s accepts messages that lack fields or name them differently; it still checks tokens", tolerantFlag)
	}
	return b.String()
}

func matches(n int) string { return words.Plain.Plural(int64(n), "match") }

// refusedText describes a message that the manager has refused.
func refusedText(e manager.Event) string {
	text := "refused: " + whoWasRefused(e) + ": " + e.Error
	if e.Tolerant {
		text += "; a host with " + tolerantFlag + " accepts it"
	}
	return text
}

// whoWasRefused names the sender of a refused message. It quotes what peers say
// of themselves.
func whoWasRefused(e manager.Event) string {
	who := "an agent"
	switch e.Message {
	case protocol.TypeLeagueRegisterRequest:
		who = "player"
	case protocol.TypeRefereeRegisterRequest:
		who = "referee"
	case "": // nobody has read it
		return "a request"
	default:
		return fmt.Sprintf("%s of %q", e.Message, e.Agent)
	}
	if e.Name != "" {
		who += fmt.Sprintf(" %q", e.Name)
	}
	if e.URL != "" {
		who += fmt.Sprintf(" at %q", e.URL)
	}
	return who
}

// Reason names a fault with its cause, if that is known.
func Reason(fault, detail string) string { return fault + between(" (", detail, ")") }

// between is a text in its place; empty for none.
func between(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}
