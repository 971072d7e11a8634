package screen

import (
	"fmt"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
)

// Mishaps collects what went wrong for a player, for its closing summary and its
// exit code. It is safe for concurrent use; the zero value is empty.
type Mishaps struct {
	mu     sync.Mutex
	kinds  []*mishap
	record leagueRecord
	lost   bool // a league of which nothing was played
}

// mishap is one kind of trouble.
type mishap struct {
	cause         string
	times         int
	error, advice string // of the last time
}

// leagueRecord counts the matches of a player in the current league.
type leagueRecord struct{ chosen, played, technical, uninvited, refused int }

// lost reports whether the player has played no match, although it had one. Where
// it has made a choice, a refused request may have been no match of its own.
func (r leagueRecord) lost() bool {
	return r.played == r.technical && (r.technical+r.uninvited > 0 || r.refused > 0 && r.chosen == 0)
}

// Note records an event of a player.
func (m *Mishaps) Note(e player.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case player.Chose:
		m.record.chosen++
	case player.Ended:
		m.record.played++
		if e.Result == game.TechnicalLoss.String() {
			m.record.technical++
		}
	case player.Trouble:
		switch {
		case e.Cause == player.CauseUninvited:
			m.record.uninvited++
		case e.Cause == player.CauseRefused && e.Match != "":
			m.record.refused++
		}
		m.add(e)
	case player.Completed, player.Deserted, player.Left:
		m.lost = m.lost || m.record.lost()
		m.record = leagueRecord{}
	}
}

// add counts a trouble. The lock is held.
func (m *Mishaps) add(e player.Event) {
	for _, k := range m.kinds {
		if k.cause == e.Cause {
			k.times, k.error, k.advice = k.times+1, troubleText(e), e.Advice
			return
		}
	}
	m.kinds = append(m.kinds, &mishap{e.Cause, 1, troubleText(e), e.Advice})
}

// AllLost reports whether every match of a league was lost by technical loss or
// without an invitation.
func (m *Mishaps) AllLost() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost || m.record.lost()
}

// Summary lists the troubles, empty without any.
func (m *Mishaps) Summary() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.kinds) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("what went wrong:")
	for _, k := range m.kinds {
		b.WriteString("\n  " + k.error)
		if k.times > 1 {
			fmt.Fprintf(&b, " (%s in all)", words.Plain.Plural(int64(k.times), "case"))
		}
		b.WriteString("\n    " + k.advice)
	}
	return b.String()
}

// troubleText describes a trouble in one line.
func troubleText(e player.Event) string {
	if e.Match == "" {
		return e.Error
	}
	return fmt.Sprintf("%-7s %s", e.Match, e.Error)
}
