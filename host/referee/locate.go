package referee

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/strategylab/strategylab/host/protocol"
)

// locate finds out where the players of a match are reached whom the manager
// has named without saying so: it is asked, and if it does not tell, a player
// P07 is expected on port 8107 of the manager's machine.
func (r *Referee) locate(ctx context.Context, b *bout) error {
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
			endpoint = DefaultPlayerEndpoint(r.cfg.Manager.URL, id)
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
func (r *Referee) askWhere(ctx context.Context, b *bout) map[string]string {
	endpoints := make(map[string]string)
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	h := r.me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(r.cfg.Now()))
	h.LeagueID = cmp.Or(h.LeagueID, b.League)
	answer, err := r.cfg.Caller.Call(ctx, r.cfg.Manager, &protocol.LeagueQuery{Header: h, QueryType: protocol.QueryPlayers})
	if err != nil {
		r.cfg.Log.Info("the manager does not tell where the players are", "error", err)
		return endpoints
	}
	response, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok {
		return endpoints
	}
	players, err := protocol.ReadData[protocol.PlayersData](response)
	if err != nil {
		r.cfg.Log.Info("the manager's list of players cannot be read", "error", err)
	}
	for _, p := range players.Players {
		endpoints[p.PlayerID] = p.ContactEndpoint
	}
	return endpoints
}

// DefaultPlayerEndpoint returns where the protocol expects the player P07:
// port 8107, here on the machine of the manager at this URL. It is empty for
// an id of another form.
func DefaultPlayerEndpoint(manager, id string) string {
	var n int
	u, err := url.Parse(manager)
	if err != nil {
		return ""
	}
	if _, err := fmt.Sscanf(id, "P%d", &n); err != nil || n < 1 || n > 100 {
		return ""
	}
	u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(8100+n))
	return u.String()
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
