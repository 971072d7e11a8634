package wall_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/web/wall"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Example plays a league and reads its page afterwards.
func Example() {
	w := wall.New(wall.Config{})
	var page http.Handler
	odd, _ := builtin.Find("always-odd")
	even, _ := builtin.Find("always-even")
	league := host.League{
		Network:  host.NewSockets(),
		Web:      func(m *manager.Manager) http.Handler { page = w.Serve(m); return page },
		Manager:  manager.Config{LeagueID: "cup", Players: 2, Events: w.Managed},
		Referees: []referee.Config{{Events: func(e referee.Event) { w.Refereed(e, "") }}},
		Seats: []host.Seat{
			{Config: player.Config{Config: agent.Config{Name: "Olga"}, Factory: odd}},
			{Config: player.Config{Config: agent.Config{Name: "Eva"}, Factory: even}},
		},
	}
	if _, err := league.Play(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "Olga"))
	// Output: 200 true
}
