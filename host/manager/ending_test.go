package manager_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// While the end of the league is still being told, an agent that comes back
// elsewhere under its token hears of it there. Nobody else is taken on, and
// when all is told nobody at all.
func TestAnAgentThatComesBackAtTheEndHearsOfIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players, c.Backoff = 2, game.Backoff{} })
	r.run()
	r.conductor("north", fair)
	players := r.field(2)
	ada, ben := players[0], players[1]
	reached, gate := make(chan struct{}), make(chan struct{})
	ben.on(protocol.TypeLeagueCompleted, func(context.Context, *wire.Exchange) (protocol.Message, error) {
		close(reached)
		<-gate
		return nil, nil
	})
	<-reached
	ada.inbox.until(t, "the end", ended)

	ada.stop()
	ada.inbox = new(watched[protocol.Message])
	ada.listen("new-home")
	application := ada.application()
	application.Head().AuthToken = ada.token
	answer, err := ada.call(application)
	if a, ok := answer.(*protocol.LeagueRegisterResponse); err != nil || !ok || a.Status != "ACCEPTED" || a.PlayerID != ada.id {
		t.Fatalf("it is answered by %+v, %v", answer, err)
	}
	ada.inbox.until(t, "the end", ended)
	wantRejected(t, r.admit("late", nil))
	wantRejected(t, r.admit("ada", func(m *protocol.LeagueRegisterRequest) { m.AuthToken = ben.token + "!" }))

	close(gate)
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	if answer, err := ada.call(application); err != nil {
		t.Error(err)
	} else {
		wantRejected(t, answer.(*protocol.LeagueRegisterResponse))
	}
}

func ended(m protocol.Message) bool { return m.Head().MessageType == protocol.TypeLeagueCompleted }
