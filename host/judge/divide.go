package judge

import (
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
	d := divider{current: map[string]*League{}, announced: announcements(exchanges)}
	for i, x := range exchanges {
		l := d.league(i, x)
		l.seen = i
		l.add(x)
	}
	all := slices.DeleteFunc(d.all, func(l *League) bool { return len(l.matches) == 0 && len(l.tables) == 0 })
	for _, l := range all {
		l.settle()
	}
	return all
}

// An announcement is a place in a recording where a league is announced.
type announcement struct {
	at, run int // index of the exchange, and its run
	league  string
}

func announcements(exchanges []*Exchange) []announcement {
	var all []announcement
	for i, x := range exchanges {
		if _, ok := x.Request.(*protocol.RoundAnnouncement); ok {
			all = append(all, announcement{i, x.Run, leagueOf(x)})
		}
	}
	return all
}

// divider finds the league of each exchange. It gets them in order.
type divider struct {
	all       []*League
	current   map[string]*League // by league id
	announced []announcement
}

func (d *divider) league(i int, x *Exchange) *League {
	name := leagueOf(x)
	if !slices.ContainsFunc(d.announced, func(a announcement) bool { return a.league == name }) {
		name = d.underWay(i, x, name)
	}
	l := d.current[name]
	if l == nil || l.completed && l.begins(x) {
		l = newLeague(name, x.Run)
		if n := len(d.all); n > 0 {
			l.people = d.all[n-1].people.clone()
		}
		d.current[name] = l
		d.all = append(d.all, l)
	}
	l.run = x.Run
	if l.ID == "" {
		l.ID = leagueOf(x)
	}
	return l
}

// underWay returns the id of the league that an exchange belongs to whose own
// league id was never announced.
func (d *divider) underWay(i int, x *Exchange, name string) string {
	next := ""
	for k := len(d.announced) - 1; k >= 0; k-- {
		switch a := d.announced[k]; {
		case a.run != x.Run:
		case a.at > i:
			next = a.league
		case d.current[a.league].completed && next != "":
			return next
		default:
			return a.league
		}
	}
	if next != "" {
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
		return m == nil && l.completed || m != nil && m.decided()
	}
	switch x.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest:
		return l.completed
	}
	return false
}

func leagueOf(x *Exchange) string {
	if x.Request != nil && x.Request.Head().LeagueID != "" {
		return x.Request.Head().LeagueID
	}
	if x.Answer != nil {
		return x.Answer.Head().LeagueID
	}
	return ""
}
