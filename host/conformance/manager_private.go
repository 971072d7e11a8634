package conformance

import (
	"bytes"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// What only some are told.

func tellsEndpoints(p managerT) {
	for _, t := range p.played().turns {
		for _, f := range t.fixtures {
			i := slices.IndexFunc(f.by.matches, func(m fields) bool { return m.text("match_id") == f.id })
			for j, name := range []string{"player_A_endpoint", "player_B_endpoint"} {
				got := f.by.matches[i].text(name)
				if player := p.named(f.players[j]); player != nil && got != player.station.url {
					p.show(f.by)
					p.Fail("of match %s, %s is %s, want %s", f.id, name, orMissing(f.by.matches[i][name]), player.station.url)
				}
			}
		}
	}
}

func keepsEndpoints(p managerT) {
	p.every("", func(m *told) {
		for _, other := range p.players() {
			if m.to.role == protocol.RolePlayer && other != m.to && bytes.Contains(m.Raw, []byte(other.station.url+`"`)) {
				p.show(m)
				p.Fail("player %s is told the endpoint of %s", m.to.id, other.id)
			}
		}
	})
}

// keysOf are the keys of a match, by its players.
func (p managerT) keysOf(id string, players [2]string, referee *member) (keys [2]protocol.KeyPair) {
	for i, player := range players {
		if m := p.named(player); m != nil {
			keys[i] = m.verifier.MatchKeys(p.league, id, referee.id)
		}
	}
	return keys
}

func keysByTheRule(p managerT) {
	found := 0
	for _, t := range p.played().turns {
		for _, f := range t.fixtures {
			i := slices.IndexFunc(f.by.matches, func(m fields) bool { return m.text("match_id") == f.id })
			for j, want := range p.keysOf(f.id, f.players, f.by.to) {
				name := []string{"player_A_keys", "player_B_keys"}[j]
				keys := object(f.by.matches[i][name])
				if keys == nil {
					continue
				}
				found++
				if keys.text("send") != want.Send || keys.text("expect") != want.Expect {
					p.show(f.by)
					p.Fail(`of match %s, %s is %s; by the rule send is %q and expect is %q`, f.id, name, f.by.matches[i][name], want.Send, want.Expect)
				}
			}
		}
	}
	if found == 0 {
		p.Skip("the manager gives no match keys; its referees sign with tokens of their own, which players then learn")
	}
}

func keepsKeys(p managerT) {
	for _, t := range p.played().turns {
		for _, f := range t.fixtures {
			for _, keys := range p.keysOf(f.id, f.players, f.by.to) {
				p.every("", func(m *told) {
					if keys.Send != "" && m.to != f.by.to && m.to != p.conductor(f) && (bytes.Contains(m.Raw, []byte(keys.Send)) || bytes.Contains(m.Raw, []byte(keys.Expect))) {
						p.show(m)
						p.Fail("%s is told a key of match %s, which referee %s conducts", p.who(m.to), f.id, f.by.to.id)
					}
				})
			}
		}
	}
}
