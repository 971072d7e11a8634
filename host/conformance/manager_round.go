package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// show keeps a message of the manager as evidence.
func (p managerT) show(m *told) { p.saw("the manager to "+p.who(m.to), m.Raw) }

func (p managerT) who(m *member) string {
	if m.id == "" {
		return m.name
	}
	return m.id
}

// every calls visit for all messages of a kind, or with "" for all messages, in
// the order in which they came. It skips the check if there are none.
func (p managerT) every(kind protocol.Type, visit func(m *told)) {
	p.played()
	p.mu.Lock()
	all := slices.DeleteFunc(slices.Clone(p.heard), func(m *told) bool { return kind != "" && m.kind != kind })
	p.mu.Unlock()
	if len(all) == 0 {
		p.Skip("no %s came", kind)
	}
	for _, m := range all {
		visit(m)
	}
}

// announcements calls visit for all matches that are announced.
func (p managerT) announcements(visit func(m *told, f fields)) {
	p.every(protocol.TypeRoundAnnouncement, func(m *told) {
		for _, f := range m.matches {
			visit(m, f)
		}
	})
}

// firsts returns the first announcement of a round to each agent of a role.
func (p managerT) firsts(role protocol.Role, round int) map[*member]*told {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := map[*member]*told{}
	for _, m := range p.heard {
		if m.kind == protocol.TypeRoundAnnouncement && m.round == round && m.to.role == role && first[m.to] == nil {
			first[m.to] = m
		}
	}
	return first
}

// scheduleChecks are about what is to be played, and who is told of it.
func scheduleChecks() []Check {
	return []Check{
		{
			ID: managerGoesOn, Level: Must, Needs: []string{managerTakes, managerSurvives},
			Rule:   "When the league has started, and when a round is over, referees are given the matches of the next by ROUND_ANNOUNCEMENT, or one by one, until all are played (league.v2, flow).",
			Advice: "Send ROUND_ANNOUNCEMENT to the contact_endpoint of every referee; go on when every match of the round has a result.",
			run:    forManager(givesMatches),
		},
		seasonCheck("round.announced", Wild, "Referees are given their matches by ROUND_ANNOUNCEMENT, and not one by one (league.v2, flow).", "Send the whole round to every referee; each picks what bears its referee_id.", func(p managerT) {
			p.every(protocol.TypeRoundAnnouncement, func(m *told) {
				if m.alone {
					p.show(m)
					p.Fail("match %s was handed out alone", m.matches[0].text("match_id"))
				}
			})
		}),
		seasonCheck("round.players", Should, "Every player is told of every round by ROUND_ANNOUNCEMENT, also who does not play in it.", "Send it to all players at the same time.", tellsPlayers),
		seasonCheck("round.first", Should, "Players are told of a round first, and referees when all players have acknowledged it or had their time: a referee begins at once (league.v2, flow).",
			"Wait for the acknowledgements of the players before you send the announcement to the referees.", tellsPlayersFirst),
		seasonCheck("round.pairs", Must, "Every pair of players meets once, or as often as every other pair, and nobody plays twice in a round (league.v2, round robin).", "Make the schedule by the circle method before the first round.", pairsAll),
		seasonCheck("round.byes", Should, "byes names who does not play in the round, and nobody else (ROUND_ANNOUNCEMENT).", "With an odd number of players, put the id of the one that is left over into byes.", tellsByes),
		seasonCheck("round.same", Must, "Players and referees are told the same of a match: match_id, player_A_id, player_B_id and who conducts it.", "Write the matches once for all, and add to the referee's copy only what it alone needs.", tellsTheSame),
		seasonCheck("round.referee", Must, "A match names one referee that has registered: referee_id and referee_endpoint are those of its registration.", "Take both from the registration; players answer nobody else.", namesReferee),
		seasonCheck("round.endpoints", Should, "The referee is told where the players of its matches are: player_A_endpoint and player_B_endpoint are those of their registrations.", "Add both to the matches in the referee's copy.", tellsEndpoints),
		seasonCheck("round.private", Should, "Players are not told where other players are (ROUND_ANNOUNCEMENT).", "Leave player_A_endpoint and player_B_endpoint out of the copies for players.", keepsEndpoints),
		seasonCheck("round.keys", Must, "Match keys, where they are given, are those by which players know their referee: HMAC-SHA-256 over SHA-256 of the player's token (league.v2, match keys).",
			`send is the HMAC of "league.v2|ref|<league>|<match>|<referee>", expect that with ply in the place of ref.`, keysByTheRule),
		seasonCheck("round.secret", Must, "The keys of a match are told to its referee and to nobody else: whoever has them can speak in its name (league.v2, match keys).", "Write keys only into the copy for the referee that conducts the match.", keepsKeys),
	}
}

func givesMatches(p managerT) {
	s := p.attempted()
	if len(s.turns) == 0 {
		if made := s.probes["start"]; !s.byItself && (made == nil || !taken(made.answer)) {
			p.Skip("the league did not begin: %s", s.halt)
		}
		if made := s.probes["start"]; made != nil {
			p.evidence = append(p.evidence, made.evidence...)
		}
	}
	if s.halt != "" && !s.refusedReport {
		if n := len(s.turns); n > 0 {
			p.show(s.turns[n-1].fixtures[0].by)
		}
		p.Fail("%s", s.halt)
	}
	if s.halt != "" {
		p.Skip("the league did not come to its end: %s", s.halt)
	}
	p.Note("%d matches in %d rounds", len(s.ends), len(s.turns))
}

func tellsPlayers(p managerT) {
	for _, t := range p.played().turns {
		first := p.firsts(protocol.RolePlayer, t.round)
		for _, m := range p.players() {
			if first[m] == nil {
				p.show(t.fixtures[0].by)
				p.Fail("player %s was not told of round %d", m.id, t.round)
			}
		}
	}
}

func tellsPlayersFirst(p managerT) {
	for _, t := range p.played().turns {
		players := p.firsts(protocol.RolePlayer, t.round)
		for referee, began := range p.firsts(protocol.RoleReferee, t.round) {
			for player, m := range players {
				switch {
				case p.failedBefore(player, began):
					// Nobody has to wait for it any more.
				case m.order > began.order:
					p.show(began)
					p.Fail("referee %s was told of round %d before player %s", referee.id, t.round, player.id)
				case m.after > began.order:
					p.show(began)
					p.Fail("referee %s was told of round %d when player %s had not acknowledged it yet", referee.id, t.round, player.id)
				}
			}
		}
	}
}

// failedBefore reports whether a player has not taken a message before another
// came to somebody else.
func (p managerT) failedBefore(player *member, other *told) bool {
	return p.until(0, func() bool {
		return slices.ContainsFunc(p.heard, func(m *told) bool { return m.to == player && m.spoilt && m.order < other.order })
	})
}

func pairsAll(p managerT) {
	met := map[[2]string]int{}
	for _, t := range p.complete().turns {
		busy := map[string]string{}
		for _, f := range t.fixtures {
			for _, id := range f.players {
				if other := busy[id]; other != "" {
					p.show(f.by)
					p.Fail("player %s is in the matches %s and %s of round %d", id, other, f.id, t.round)
				}
				busy[id] = f.id
			}
			pair := f.players
			slices.Sort(pair[:])
			if met[pair]++; p.number(pair[0]) < 0 || p.number(pair[1]) < 0 || pair[0] == pair[1] {
				p.show(f.by)
				p.Fail("match %s is one of %q and %q", f.id, pair[0], pair[1])
			}
		}
	}
	turns := p.season.turns
	p.show(turns[len(turns)-1].fixtures[0].by)
	legs := 0
	for i, a := range p.players() {
		for _, b := range p.players()[i+1:] {
			pair := [2]string{a.id, b.id}
			slices.Sort(pair[:])
			if legs == 0 {
				legs = met[pair]
			}
			if n := met[pair]; n != legs || n == 0 {
				p.Fail("%s and %s have met %d times, others %d", a.id, b.id, n, legs)
			}
		}
	}
}

func tellsByes(p managerT) {
	p.every(protocol.TypeRoundAnnouncement, func(m *told) {
		if m.to.role != protocol.RolePlayer {
			return // it is told only what is left to play
		}
		var want, got []string
		for _, player := range p.players() {
			if !slices.ContainsFunc(m.matches, func(f fields) bool {
				return f.text("player_A_id") == player.id || f.text("player_B_id") == player.id
			}) {
				want = append(want, player.id)
			}
		}
		_ = json.Unmarshal(m.message["byes"], &got) // what is no list names nobody
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			p.show(m)
			p.Fail("byes of round %d is %s, want %q", m.round, orMissing(m.message["byes"]), want)
		}
	})
}

func tellsTheSame(p managerT) {
	said := map[string]fields{}
	p.announcements(func(m *told, f fields) {
		other := said[f.text("match_id")]
		if other == nil {
			said[f.text("match_id")] = f
			return
		}
		for _, name := range []string{"player_A_id", "player_B_id", "referee_id", "referee_endpoint"} {
			if other.has(name) && f.has(name) && !bytes.Equal(f[name], other[name]) {
				p.show(m)
				p.Fail("of match %s, %s is %s; somebody else was told %s", f.text("match_id"), name, f[name], other[name])
			}
		}
	})
}

func namesReferee(p managerT) {
	p.announcements(func(m *told, f fields) {
		id, endpoint := f.text("referee_id"), f.text("referee_endpoint")
		if !slices.ContainsFunc(p.referees(), func(r *member) bool {
			return (id == r.id || id == "") && (endpoint == r.station.url || endpoint == "") && id+endpoint != ""
		}) {
			p.show(m)
			p.Fail("of match %s, referee_id is %s and referee_endpoint is %s; that is no referee that has registered", f.text("match_id"), orMissing(f["referee_id"]), orMissing(f["referee_endpoint"]))
		}
	})
}
