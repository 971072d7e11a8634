package manager_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// With a bound for each address, a machine registers that many players and no more,
// also after a restart and whatever it asks for; those that are registered come back,
// other machines are free, and this machine is not counted.
func TestPlayersOfOneAddressAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bounded := func(c *manager.Config) { c.MaxPerAddress, c.DataDir, c.Mode = 2, dir, protocol.Tolerant }
	r := newRig(t, bounded)
	signup := func(from, name string) string {
		t.Helper()
		m := &protocol.LeagueRegisterRequest{
			Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, "player:"+name, protocol.Timestamp(time.Now()), "signup-"+name),
			Meta: protocol.PlayerMeta{
				DisplayName: name, Version: "1.0.0", GameTypes: []string{"even_odd"}, ContactEndpoint: "http://" + name + "/mcp",
			},
		}
		answer, err := r.caller(from).Call(t.Context(), wire.NewPeer(r.url, dialect.Contracts), m)
		if err != nil {
			t.Fatal(err)
		}
		a := answer.(*protocol.LeagueRegisterResponse)
		if a.Status == protocol.StatusAccepted {
			return "accepted"
		}
		return a.Reason.Value()
	}
	const refused = "Too many registrations: %s has 2 players, as many as this league takes from one address"
	check := func(from, name, want string) {
		t.Helper()
		if got := signup(from, name); got != want {
			t.Errorf("%s from %s: %s, want %s", name, from, got, want)
		}
	}
	check("10.0.0.7:5000", "a", "accepted")
	check("10.0.0.7:5001", "b", "accepted")
	check("10.0.0.7:5002", "c", fmt.Sprintf(refused, "10.0.0.7"))
	check("[::ffff:10.0.0.7]:5002", "c", fmt.Sprintf(refused, "10.0.0.7"))
	check("10.0.0.7:5003", "b", "accepted") // again
	check("10.0.0.8:5000", "c", "accepted")
	check("[2001:db8::1]:5000", "d", "accepted")
	check("[2001:db8::2]:5000", "e", "accepted")
	check("[2001:db8::3]:5000", "f", fmt.Sprintf(refused, "2001:db8::/64"))
	check("[2001:db8:0:1::3]:5000", "f", "accepted")
	for i := range 5 {
		check("127.0.0.1:5000", fmt.Sprint("local-", i), "accepted")
	}
	r.stop()
	r.unserved()
	r.m.Close()
	r.open(bounded)
	check("10.0.0.7:5002", "g", fmt.Sprintf(refused, "10.0.0.7"))
	check("10.0.0.7:5003", "a", "accepted") // again
	check("10.0.0.8:5000", "g", "accepted")
}
