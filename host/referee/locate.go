package referee

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
)

// locate finds out where the players of a match are reached whom the manager
// has named without saying so: it is asked, and if it does not tell, a player
// P07 is expected on port 8107 of the manager's machine.
func (r *Referee) locate(ctx context.Context, b *match) error {
	var known map[string]string
	for side, id := range b.Players {
		if endpoint, _ := b.contact(side); endpoint != "" {
			continue
		}
		if known == nil {
			known = r.askWhere(ctx, b)
		}
		endpoint := known[id]
		if endpoint == "" {
			endpoint = agent.DefaultEndpoint(r.cfg.Manager.URL, protocol.RolePlayer, id)
		}
		if endpoint == "" {
			return fmt.Errorf("nobody says where player %s is reached", id)
		}
		b.mu.Lock()
		b.endpoints[side] = endpoint
		b.mu.Unlock()
	}
	return nil
}

// askWhere asks the manager where its players are. What it does not tell is
// missing.
func (r *Referee) askWhere(ctx context.Context, b *match) map[string]string {
	h := r.member.Me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(r.cfg.Now()))
	h.LeagueID = cmp.Or(h.LeagueID, b.League)
	players, err := agent.Query[protocol.PlayersData](ctx, r.member, h, protocol.QueryPlayers)
	if err != nil {
		r.cfg.Log.Info("the manager does not say where all players are", "error", err)
	}
	endpoints := make(map[string]string)
	for _, p := range players.Players {
		endpoints[p.PlayerID] = p.ContactEndpoint
	}
	return endpoints
}

// sameEndpoint reports whether two URLs lead to the same endpoint: localhost and
// 127.0.0.1 are two names of one host.
func sameEndpoint(a, b string) bool {
	at, err := url.Parse(a)
	to, bad := url.Parse(b)
	return err == nil && bad == nil && a != "" && at.Port() == to.Port() && host(at) == host(to)
}

func host(u *url.URL) string {
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return "localhost"
	}
	return u.Hostname()
}
