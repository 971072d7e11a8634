package leagues

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// tolerantFlag is what lets agents play that keep only the rules without which
// a message cannot be understood.
const tolerantFlag = "--" + flagValidation + " tolerant"

// troubles keeps what went wrong for the agents of a league, for a summary at
// its end. It is safe for concurrent use; the zero value has seen nothing.
type troubles struct {
	mu      sync.Mutex
	seated  map[string]string // the names of those who registered, by id
	refused []manager.Event   // registrations, and messages that strictness cost
	losses  []*loss
}

// loss is what one player lost on technical grounds, for one kind of fault.
type loss struct {
	player, fault string
	matches       int
	first         string // what was wrong the first time, if there is more to say
	tolerant      bool   // a tolerant referee would have taken the answer
}

// managed takes note of what a manager tells.
func (t *troubles) managed(e manager.Event) {
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

// forfeited takes note of a match that was lost on technical grounds.
func (t *troubles) forfeited(e referee.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.losses, func(l *loss) bool { return l.player == e.Player && l.fault == e.Fault })
	if at < 0 {
		at = len(t.losses)
		t.losses = append(t.losses, &loss{player: e.Player, fault: e.Fault, first: e.Error})
	}
	t.losses[at].matches++
	t.losses[at].tolerant = t.losses[at].tolerant || e.Tolerant
}

// summary says who could not play as they wanted, and what to do about it;
// empty where everybody could. Who was let in later is not named.
func (t *troubles) summary(mode protocol.Mode) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	tolerant := false
	line := func(title *string, text string, strictness bool) {
		if *title != "" {
			fmt.Fprintf(&b, "\n%s", *title)
			*title = ""
		}
		if strictness {
			text += "  [" + tolerantFlag + " takes it]"
			tolerant = true
		}
		fmt.Fprintf(&b, "\n  %s", text)
	}
	title := "turned away:"
	for _, e := range t.refused {
		if !t.let(e) {
			line(&title, whoWasRefused(e)+": "+e.Error, e.Tolerant)
		}
	}
	title = "lost on technical grounds:"
	for _, l := range t.losses {
		line(&title, fmt.Sprintf("%s %s, %d of its matches: %s", l.player, t.seated[l.player], l.matches, reasonText(l.fault, l.first)), l.tolerant)
	}
	if tolerant && mode == protocol.Strict {
		fmt.Fprintf(&b, "\n%s lets agents play whose messages lack fields or name them otherwise; tokens are checked all the same", tolerantFlag)
	}
	return b.String()
}

// let reports whether who was refused a registration has registered since. The
// lock is held.
func (t *troubles) let(e manager.Event) bool {
	for _, name := range t.seated {
		if name == e.Name && e.Name != "" {
			return true
		}
	}
	return false
}

// refusedText tells of a message that the manager has refused.
func refusedText(e manager.Event) string {
	text := "refused: " + whoWasRefused(e) + ": " + e.Error
	if e.Tolerant {
		text += "; a host with " + tolerantFlag + " takes it"
	}
	return text
}

// whoWasRefused names the sender of a message that was refused. What strangers
// say of themselves is quoted.
func whoWasRefused(e manager.Event) string {
	who := "an agent"
	switch e.Message {
	case protocol.TypeLeagueRegisterRequest:
		who = "player"
	case protocol.TypeRefereeRegisterRequest:
		who = "referee"
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

// conducted prints what the referees of a league have to say that its manager
// does not.
func (l *live) conducted(e referee.Event) {
	text := ""
	switch e.Kind {
	case referee.Retried:
		text = fmt.Sprintf("%-7s %s is asked again: %s", e.Match, e.Player, e.Error)
	case referee.Forfeited:
		text = fmt.Sprintf("%-7s %s loses on technical grounds: %s", e.Match, e.Player, reasonText(e.Fault, e.Error))
		l.trouble.forfeited(e)
	case referee.Alarm:
		text = fmt.Sprintf("%-7s %s", e.Match, e.Error)
	default:
		return // the manager tells it
	}
	l.out.write(e, text)
}

// reasonText names a fault, and says what was behind it where that is known.
func reasonText(fault, detail string) string {
	if detail == "" {
		return fault
	}
	return fault + " (" + detail + ")"
}
