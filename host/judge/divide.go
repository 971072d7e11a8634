package judge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Divide divides the exchanges of a recording by league, in order, and leaves
// out those that belong to none.
//
// The league of a message is the one that was announced under the id in it. In
// the same run of the recorder any other id, or none, means the league in
// progress: referees write ids of their own into their messages.
func Divide(exchanges []*trace.Exchange) []*League {
	next, later, announced := make([]string, len(exchanges)), map[int]string{}, map[string]bool{}
	for i, x := range slices.Backward(exchanges) {
		next[i] = later[x.Run] // the league that is announced after the exchange, in its run
		if _, ok := x.Request.(*protocol.RoundAnnouncement); ok {
			later[x.Run], announced[leagueOf(x)] = leagueOf(x), true
		}
	}
	var all []*League
	current, begun := map[string]*League{}, map[int]string{} // by name; the name of the one announced last, by run
	for i, x := range exchanges {
		name := leagueOf(x)
		before, ok := begun[x.Run]
		switch {
		case announced[name]:
		case ok && (next[i] == "" || !current[before].completed):
			name = before
		case next[i] != "":
			name = next[i]
		default: // nothing is announced in the run
			if n := len(all); name == "" && n > 0 {
				name = all[n-1].name
			}
			for _, l := range all {
				if l.run == x.Run && !l.begins(x) {
					name = l.name
				}
			}
		}
		if _, ok := x.Request.(*protocol.RoundAnnouncement); ok {
			begun[x.Run] = name
		}
		l := current[name]
		if l == nil || l.completed && l.begins(x) {
			l = &League{ID: name, name: name, people: people{}, rounds: map[int][]string{}, byID: map[string]*match{}, players: map[string]bool{}}
			if n := len(all); n > 0 { // they may be the same people
				l.people = maps.Clone(all[n-1].people)
			}
			current[name], all = l, append(all, l)
		}
		l.run, l.seen, l.ID = x.Run, i, cmp.Or(l.ID, leagueOf(x))
		l.add(x)
	}
	all = slices.DeleteFunc(all, func(l *League) bool { return len(l.matches) == 0 && len(l.tables) == 0 })
	for _, l := range all {
		l.settle()
	}
	return all
}

// begins reports whether a message belongs to the next league, not to this one.
func (l *League) begins(x *trace.Exchange) bool {
	if invited, ok := x.Request.(*protocol.GameInvitation); ok {
		m := l.byID[invited.MatchID]
		return m == nil && l.completed || m != nil && m.decided
	}
	switch x.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest:
		return l.completed
	}
	return false
}

func leagueOf(x *trace.Exchange) string {
	for _, m := range []protocol.Message{x.Request, x.Answer} {
		if m != nil && m.Head().LeagueID != "" {
			return m.Head().LeagueID
		}
	}
	return ""
}
