package judge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// Divide divides the exchanges of a recording by league, in order, and leaves
// out those that belong to none.
//
// The league of a message is the one that was announced under the id in it. In
// the same run of the recorder any other id, or none, means the league in
// progress: referees write ids of their own into their messages.
func Divide(exchanges []*Exchange) []*League {
	d := divider{current: map[string]*League{}, announced: map[string]bool{}, begun: map[int]string{}}
	next, last := make([]string, len(exchanges)), map[int]string{} // which league is announced after an exchange, in its run
	for i, x := range slices.Backward(exchanges) {
		next[i] = last[x.Run]
		if _, ok := x.Request.(*protocol.RoundAnnouncement); ok {
			last[x.Run] = leagueOf(x)
			d.announced[leagueOf(x)] = true
		}
	}
	for i, x := range exchanges {
		l := d.league(x, next[i])
		l.seen = i
		l.add(x)
	}
	all := slices.DeleteFunc(d.all, func(l *League) bool { return len(l.matches) == 0 && len(l.tables) == 0 })
	for _, l := range all {
		l.settle()
	}
	return all
}

// divider finds the league of each exchange. It gets them in order.
type divider struct {
	all       []*League
	current   map[string]*League // by name
	announced map[string]bool    // names, also those of later announcements
	begun     map[int]string     // which league was announced last, by run
}

// league returns the league of an exchange, after which another is announced next.
func (d *divider) league(x *Exchange, next string) *League {
	name := leagueOf(x)
	if !d.announced[name] {
		name = d.underWay(x, name, next)
	}
	if _, ok := x.Request.(*protocol.RoundAnnouncement); ok {
		d.begun[x.Run] = name
	}
	l := d.current[name]
	if l == nil || l.completed && l.begins(x) {
		l = &League{
			ID: name, name: name, people: people{}, rounds: map[int][]string{}, byID: map[string]*match{}, players: map[string]bool{},
		}
		if n := len(d.all); n > 0 { // they may be the same people
			l.people = maps.Clone(d.all[n-1].people)
		}
		d.current[name], d.all = l, append(d.all, l)
	}
	l.run, l.ID = x.Run, cmp.Or(l.ID, leagueOf(x))
	return l
}

// underWay returns the name of the league that an exchange belongs to whose own
// league id is never announced.
func (d *divider) underWay(x *Exchange, name, next string) string {
	begun, ok := d.begun[x.Run]
	switch {
	case ok && (next == "" || !d.current[begun].completed):
		return begun
	case next != "":
		return next
	}
	for _, l := range slices.Backward(d.all) {
		if l.run == x.Run && !l.begins(x) {
			return l.name
		}
	}
	if n := len(d.all); name == "" && n > 0 {
		return d.all[n-1].name
	}
	return name
}

// begins reports whether a message belongs to the next league, not to this one.
func (l *League) begins(x *Exchange) bool {
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

func leagueOf(x *Exchange) string {
	for _, m := range []protocol.Message{x.Request, x.Answer} {
		if m != nil && m.Head().LeagueID != "" {
			return m.Head().LeagueID
		}
	}
	return ""
}
