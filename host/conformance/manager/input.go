package manager

import (
	"cmp"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// sample is a query that the manager answers; not every manager knows each, and
// some know none.
func sample(t *kit.T) kit.Request {
	var all []kit.Sample
	for _, query := range []string{protocol.QueryStatus, protocol.QueryStandings, protocol.QueryPlayers, protocol.QuerySchedule, protocol.QueryNextMatch} {
		all = append(all, func(t *kit.T) kit.Request {
			m := with(t)
			return kit.Request{Message: m.query(m.players()[0], query), Dialect: cmp.Or(m.peers.dialect, dialect.Contracts)}
		})
	}
	return kit.AnyOf(all...)(t)
}

// inputChecks are about tokens, JSON-RPC, wrappings and bad input.
func inputChecks() []kit.Check {
	needs := []string{registersEveryone}
	return slices.Concat(
		kit.IDChecks(kit.Manager, needs, sample), []kit.Check{kit.NoIDCheck(kit.Manager, needs, sample)},
		kit.DialectChecks(kit.Manager, needs, sample), kit.MethodChecks(kit.Manager, needs, sample),
		[]kit.Check{
			{
				ID: "manager.fields.unknown", Level: kit.Must, Needs: needs,
				Rule: "Unknown members are ignored (league.v2, validation).", Advice: "Read the members that you need, and do not refuse others; in Python, do not pass **params on to a function.",
				Run: func(t *kit.T) {
					r := sample(t)
					r.Edit = kit.Set("x_weather", "sunny")
					if a := t.Send(r); !t.Control(a) {
						t.Accepted(a, "")
					}
				},
			},
			kit.StalledCheck(kit.Manager, needs, func(t *kit.T) func() *kit.Answer {
				return func() *kit.Answer { return t.Send(sample(t)) }
			}),
		},
		kit.AttackChecks(kit.Manager, needs, kit.Attacks("report_match_result"), sample, kit.Check{
			Needs: needs, Rule: "After all that, the manager still answers.",
			Run: func(t *kit.T) {
				if a := t.Send(sample(t)); a.Err != nil || !t.Control(a) {
					t.Accepted(a, "")
				}
			},
		}),
		authChecks(needs),
	)
}

func authChecks(needs []string) []kit.Check {
	// A manager that knows no query shows by reports whether it compares tokens.
	refused := func(name, probe, rule string, change func(t T, h *protocol.Header)) kit.Check {
		return kit.Check{
			ID: "manager.auth." + name, Level: kit.Should, Needs: needs, Rule: rule,
			Advice: "Compare auth_token with that of the agent in sender before anything else.",
			Run: func(t *kit.T) {
				r := sample(t)
				if t.Control(t.Aside().Send(r)) {
					t.Refused(with(t).recorded(probe))
					return
				}
				change(with(t), r.Message.Head())
				t.Refused(t.Send(r))
			},
		}
	}
	return []kit.Check{
		refused("missing", "report.tokenless", "A request without auth_token is refused (6001, E011).", func(_ T, h *protocol.Header) { h.AuthToken = "" }),
		refused("token", "report.token", "A request with a token that was never issued is refused (6001, E012).", func(_ T, h *protocol.Header) { h.AuthToken = kit.Forged }),
		refused("other", "report.player", "A request with the token of another agent than its sender is refused (6001, E012).", func(t T, h *protocol.Header) {
			h.Sender = protocol.Sender(protocol.RolePlayer, t.players()[1].id)
		}),
		kit.QuietCheck(kit.Manager, needs, sample),
	}
}
