package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// adminToken is the token that our manager asks for before it starts a league.
const adminToken = "tok-admin-0123456789abcdef"

// managerSilence is how long our manager waits for agents that are silent.
const managerSilence = time.Second

// aManager makes a manager in a mode of its own, which answers until it is stopped.
func aManager(cfg manager.Config) maker {
	return func(common agent.Config) (ours, error) {
		cfg.LeagueID, cfg.Probe, cfg.Backoff, cfg.Caller = "cup", manager.ProbeOff, quick, common.Caller
		m, err := manager.New(cfg)
		return staying{m}, err
	}
}

// mutatedManager makes a manager that has a fault.
func mutatedManager(mu mutant) maker {
	cfg := manager.Config{Mode: protocol.Strict, AdminToken: adminToken, Timeout: mu.scale.of(patience)}
	if mu.slow {
		cfg.Timeout = mu.scale.of(time.Minute) // it waits for who is silent
	}
	return aManager(cfg)
}

// staying is a manager that does not leave with the end of its league.
type staying struct{ *manager.Manager }

func (m staying) Run(ctx context.Context) error {
	err := m.Manager.Run(ctx)
	<-ctx.Done()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, m.Close())
}

// TestOwnManager checks that our own manager follows every rule, over real sockets, also
// where some checks cannot be made.
func TestOwnManager(t *testing.T) {
	t.Parallel()
	const needed, begun = "no admin token was given; use --admin-token TOKEN with that of the manager", "the league began by itself after the last registration"
	for name, c := range map[string]struct {
		cfg  manager.Config
		open map[string]string // checks that it need not pass, and why they are skipped; it may fail those without a reason
	}{
		"strict": {cfg: manager.Config{Mode: protocol.Strict, AdminToken: adminToken}},
		// It takes reports with another league, and with placeholders for details, of
		// which the standings are then not known.
		"tolerant": {manager.Config{Mode: protocol.Tolerant, AdminToken: adminToken}, map[string]string{
			"manager.report.context": "", "manager.report.number": "", "manager.report.score": "", "manager.report.winner": "", "manager.end.standings": "",
		}},
		"without admin token": {open: map[string]string{"manager.start.missing": needed, "manager.start.token": needed}},
		"by itself": {manager.Config{Players: 6}, map[string]string{
			"manager.start.report": begun, "manager.start.missing": begun, "manager.start.token": begun,
			"manager.start.web": begun, "manager.start.player": begun, "manager.start.answer": begun, "manager.start.again": begun,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asKnown := func(r *conformance.Report) bool {
				return !slices.ContainsFunc(r.Outcomes, func(o conformance.Outcome) bool {
					why, open := c.open[o.ID]
					return open && why != "" && (o.Status != conformance.Skipped || o.Detail != why) || !open && o.Status != conformance.Passed
				})
			}
			r := examined(t, conformance.Manager, func(s scale) (*testAgent, error) {
				c.cfg.Timeout = s.of(managerSilence)
				return onSocket(c.cfg.Mode, aManager(c.cfg))
			}, asKnown, func(_ scale, o *conformance.Config) { o.AdminToken, o.Players = c.cfg.AdminToken, c.cfg.Players })
			if !asKnown(r) {
				t.Errorf("failed %q, skipped %q\n%s", idsWith(r, conformance.Failed), idsWith(r, conformance.Skipped), explain(r))
			}
		})
	}
}

// TestManagerMutants has, for every check, a manager that fails only that check.
func TestManagerMutants(t *testing.T) {
	t.Parallel()
	examineMutants(t, conformance.Manager, managerMutants, tries(conformance.Manager, silenceTimeout, mutatedManager))
}

const (
	application = "LEAGUE_REGISTER_REQUEST"
	query       = "LEAGUE_QUERY"
)

func managerMutants() []mutant {
	return slices.Concat(
		admissionMutants(), queryMutants(), admissionAuthMutants(), managerFrameMutants(), leagueMutants(),
		framing("manager", "league_query"), attackedMutants("manager", query, "report_match_result"),
	)
}

func admissionMutants() []mutant {
	takesRegistration := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "manager.register." + name, serve: accepts(func(in *asked) bool { return in.of(application) && when(in) })}
	}
	return []mutant{
		{check: "manager.register.referee", serve: answers("REFEREE_REGISTER_REQUEST", drop("league_id"))},
		{check: "manager.register.player", serve: answers(application, drop("league_id"))},
		{check: "manager.register.all", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			m.Lock()
			defer m.Unlock()
			if in.of(application) && !r.refused() {
				if m.count(application) == 2 {
					return r.edit(set("player_id", "P01"))
				}
			}
			return r
		}},
		{check: "manager.register.id", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			if in.of(application) && in.text("sender") == "player:P08" {
				in = in.changed(set("sender", "player:somebody"))
			}
			return next(in)
		}},
		{check: "manager.register.player", serve: answers(application, drop("protocol"))},
		takesRegistration("name", func(in *asked) bool {
			return in.text("sender") == "player:P08" && bytes.Contains(in.body, []byte("Conformance player-1 "))
		}),
		takesRegistration("game", bodyHas("chess")),
		takesRegistration("endpoint", bodyHas("nowhere")),
		takesRegistration("meta", func(in *asked) bool { return in.message()["player_meta"] == nil }),
	}
}

func queryMutants() []mutant {
	asks := func(t string) func(*memory, *asked) bool {
		return func(_ *memory, in *asked) bool { return in.text("query_type") == t }
	}
	changes := func(queryType string, edit func(data object)) serve {
		return func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if r.refused() || in.text("query_type") != queryType {
				return r
			}
			return r.edit(func(o object) {
				if data, ok := o["data"].(object); ok {
					edit(data)
				}
			})
		}
	}
	return []mutant{
		{check: "manager.query.status", serve: changes("GET_STATUS", set("league_id", "another"))},
		{check: "manager.query.standings", serve: changes("GET_STANDINGS", set("standings", []any{}))},
		{check: "manager.query.players", serve: refuses(asks("GET_PLAYERS"))},
		{check: "manager.query.secret", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			m.Lock()
			defer m.Unlock()
			if in.of(application) && !r.refused() {
				walk(parse(r.body), func(o object) { m.last, _ = o["auth_token"].(string) })
			}
			if in.text("query_type") == "GET_STANDINGS" && !r.refused() {
				return r.edit(set("x_stored", m.last))
			}
			return r
		}},
		{check: "manager.query.endpoints", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			m.Lock()
			if in.of(application) {
				m.tokens["endpoints"] += " " + string(write(in.message()["player_meta"]))
			}
			stored := m.tokens["endpoints"]
			m.Unlock()
			r := next(in)
			if in.text("query_type") == "GET_PLAYERS" && !r.refused() {
				return r.edit(set("x_stored", stored))
			}
			return r
		}},
		{check: "manager.query.type", serve: accepts(func(in *asked) bool { return in.text("query_type") == "GET_WEATHER" })},
		{check: "manager.query.conversation", serve: answers(query, set("conversation_id", "another"))},
	}
}

func admissionAuthMutants() []mutant {
	return []mutant{
		{check: "manager.auth.missing", serve: accepts(func(in *asked) bool { return in.of(query) && in.text("auth_token") == "" })},
		{check: "manager.auth.token", serve: accepts(func(in *asked) bool { return in.of(query) && strings.HasSuffix(in.text("auth_token"), forged) })},
		{check: "manager.auth.other", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if in.of(query) && r.refused() && in.text("auth_token") != "" && !strings.HasSuffix(in.text("auth_token"), forged) && in.text("sender") == "player:P02" {
				return accepted(in)
			}
			return r
		}},
		{check: "manager.auth.quiet", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if token := in.text("auth_token"); r.refused() && strings.HasSuffix(token, forged) {
				doc := parse(r.body)
				doc["error"].(object)["message"] = "bad token " + token
				r.body = write(doc)
			}
			return r
		}},
	}
}

func managerFrameMutants() []mutant {
	return []mutant{
		{check: "manager.dialect.envelope", serve: refuses(methodIs("league.handle"))},
		{check: "manager.dialect.tool", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas(`"arguments"`)(in) })},
		{check: "manager.dialect.tool-io", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas(`"input"`)(in) })},
		{check: "manager.dialect.bare", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if doc := parse(in.body); doc["jsonrpc"] == nil && doc["message_type"] != nil {
				r.body = write(object{"jsonrpc": "2.0", "id": nil, "result": parse(r.body)})
			}
			return r
		}},
		{check: "manager.dialect.type", serve: refuses(methodIs(query))},
		{check: "manager.dialect.unknown", serve: refuses(methodIs("unknown"))},
		{check: "manager.fields.unknown", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas("x_weather")(in) })},
		stalling("manager.load.stalled"),
		{check: "manager.hostile.then", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			// What was nested too deep has left something behind.
			r := next(in)
			m.Lock()
			defer m.Unlock()
			if bodyHas("[[[[[[[[[[")(in) {
				m.count("deep")
			}
			if !r.refused() && m.seen["deep"] > 0 {
				return refusal(in, -32000)
			}
			return r
		}},
	}
}
