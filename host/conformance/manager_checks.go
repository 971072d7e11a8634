package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// The checks that others build on.
const (
	managerTakes    = "manager.register.all"
	managerTells    = "manager.query.status"
	managerSurvives = "manager.hostile.then"
	managerGoesOn   = "manager.round.given"
)

// managerChecks are in the order in which they are made.
func managerChecks() []Check {
	waiting := slices.Concat(earlyChecks(), admissionChecks(), queryChecks(), admissionAuthChecks(), managerFrameChecks(), managerHostileChecks())
	running := slices.Concat(startChecks(), scheduleChecks(), messageSentChecks(), messageContextChecks(), reportTakenChecks(), reportRefusedChecks(),
		standingsChecks(), roundEndChecks(), leagueEndChecks(), lateChecks(), runningQueryChecks(), notifyChecks(), crowdChecks())
	return append(waiting, running...)
}

// askedID is the id that the last player asks for.
const askedID = "P77"

// admissionChecks are about registration.
func admissionChecks() []Check {
	base := []string{managerTakes}
	check := func(name string, level Level, needs []string, rule, advice string, run func(p managerT)) Check {
		return Check{ID: "manager." + name, Level: level, Needs: needs, Rule: rule, Advice: advice, run: forManager(run)}
	}
	refused := func(name string, level Level, rule, advice string, change func(p managerT, m *protocol.LeagueRegisterRequest), edit func(map[string]any)) Check {
		return check("register."+name, level, base, rule, advice, func(p managerT) {
			p.enrol()
			m := p.application(p.stranger(name))
			if change != nil {
				change(p, m)
			}
			p.refused(p.Send(letter{message: m, edit: edit}))
		})
	}
	return []Check{
		check("register.referee", Must, nil, "REFEREE_REGISTER_REQUEST is answered by REFEREE_REGISTER_RESPONSE with status ACCEPTED, referee_id, auth_token and league_id.",
			"Answer with HTTP 200, and put all four beside the header fields.", func(p managerT) { p.join(p.referees()[0]) }),
		check("register.player", Must, nil, "LEAGUE_REGISTER_REQUEST is answered by LEAGUE_REGISTER_RESPONSE with status ACCEPTED, player_id, auth_token and league_id.",
			"Answer with HTTP 200, and put all four beside the header fields.", func(p managerT) { p.join(p.players()[0]) }),
		check(managerTakes[len("manager."):], Must, []string{"manager.register.referee", "manager.register.player"}, "Every agent has an id and a token of its own (league.v2, registration).",
			"Count the ids up, and make each token of at least 128 random bits.", registersAll),
		check("register.id", Should, base, "An id of the form P07 that is free and asked for in sender is given (league.v2, registration): some players keep it whatever they are told.",
			"Read the id out of sender, and give it if nobody has it.", func(p managerT) {
				p.enrol()
				m := p.players()[p.c.opts.Players-1]
				p.saw("the manager", m.answer.Body)
				if m.id != askedID {
					p.Fail("player:%s was given the id %s", askedID, m.id)
				}
			}),
		check("register.header", Must, base, `An answer bears protocol "league.v2", message_type and a timestamp in UTC (league.v2, header fields).`, "Put all three into every result. "+writeUTC,
			func(p managerT) {
				p.enrol()
				for _, m := range []*member{p.players()[0], p.referees()[0]} {
					p.saw("the manager", m.answer.Body)
					f := m.answer.Message
					if f.text("protocol") != protocol.Version || f.text("message_type") == "" {
						p.Fail("protocol is %s, message_type is %s", orMissing(f["protocol"]), orMissing(f["message_type"]))
					}
					if _, err := protocol.ParseTimestamp(f.text("timestamp")); err != nil {
						p.Fail("timestamp is %s: %v", orMissing(f["timestamp"]), err)
					}
				}
			}),
		refused("name", Should, "A player with the display_name of another, at another endpoint, is refused (2002, E022).", "Compare the names, and answer with the error 2002.",
			func(p managerT, m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = p.players()[0].display }, nil),
		refused("game", Should, "A player that does not play even_odd is refused (2004, E045).", "Look for even_odd in game_types.",
			func(_ managerT, m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} }, nil),
		refused("endpoint", Should, "A player whose contact_endpoint is no URL is refused (2003, E044).", "Parse contact_endpoint; it must be absolute, with http or https and a host.",
			func(_ managerT, m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "nowhere" }, nil),
		refused("meta", Must, "A registration without player_meta is refused (-32602, E003).", "Check that it is there before it is read.",
			nil, func(m map[string]any) { delete(m, "player_meta") }),
	}
}

func registersAll(p managerT) {
	seen := map[string]string{}
	for _, m := range p.arrivals() {
		p.join(m)
		for what, value := range map[string]string{"id": m.id, "token": m.token} {
			if other, taken := seen[what+value]; taken {
				p.Fail("%s has the same %s as %s: %s", m.name, what, other, value)
			}
			seen[what+value] = m.name
		}
	}
}

// queryChecks are about what may be asked while the league waits.
func queryChecks() []Check {
	check := func(name string, level Level, rule, advice string, run func(p managerT)) Check {
		needs := []string{managerTakes, managerTells}
		if name == "status" {
			needs = needs[:1]
		}
		return Check{ID: "manager.query." + name, Level: level, Needs: needs, Rule: rule, Advice: advice, run: forManager(run)}
	}
	ids := func(p managerT, list json.RawMessage) []string {
		var all []fields
		if json.Unmarshal(list, &all) != nil {
			p.Fail("the list is %s", orMissing(list))
		}
		var ids []string
		for _, f := range all {
			ids = append(ids, f.text("player_id"))
		}
		return ids
	}
	everybody := func(p managerT, list json.RawMessage) {
		got := ids(p, list)
		for _, m := range p.players() {
			if !slices.Contains(got, m.id) {
				p.Fail("player %s is not among %q", m.id, got)
			}
		}
	}
	return []Check{
		check("status", Must, "LEAGUE_QUERY GET_STATUS is answered by LEAGUE_QUERY_RESPONSE, whose data bear league_id and status (LEAGUE_QUERY_RESPONSE).", "Answer with query_type, success and data.",
			func(p managerT) {
				data := p.data(protocol.QueryStatus)
				if got := data.text("league_id"); got != p.league {
					p.Fail("data.league_id is %s, want %q", orMissing(data["league_id"]), p.league)
				}
				if data.text("status") == "" {
					p.Fail("data.status is %s", orMissing(data["status"]))
				}
			}),
		check("standings", Should, "GET_STANDINGS lists every player, also before the first match (LEAGUE_QUERY_RESPONSE).", "Begin the table with a line for each player, with zeros.",
			func(p managerT) { everybody(p, p.data(protocol.QueryStandings)["standings"]) }),
		check("players", Should, "GET_PLAYERS lists every player (LEAGUE_QUERY_RESPONSE).", "List all that have registered.",
			func(p managerT) { everybody(p, p.data(protocol.QueryPlayers)["players"]) }),
		check("secret", Must, "No query yields a token (league.v2, authentication).", "Choose the members that an answer bears; do not write out what is stored.",
			tellsNoTokens),
		check("endpoints", Should, "GET_PLAYERS tells players nobody's contact_endpoint (league.v2, queries).", "Add contact_endpoint for referees and the launcher only.",
			func(p managerT) {
				a := p.send(p.asking(p.players()[0], protocol.QueryPlayers))
				if other := p.players()[1]; bytes.Contains(a.Body, []byte(other.station.url)) {
					p.Fail("player %s is told the endpoint of %s", p.players()[0].id, other.id)
				}
			}),
		check("early", Should, "Before the league has started, GET_SCHEDULE and GET_NEXT_MATCH are answered by nothing or refused (E030): no match is made up.", "Answer with an empty list, and with null.", asksEarly),
		check("type", Should, "A query_type that league.v2 does not have is refused (6002, E042).", "Let the dispatch end in a branch for everything else.",
			func(p managerT) { p.refused(p.send(p.asking(p.players()[0], "GET_WEATHER"))) }),
		check("conversation", Should, "An answer repeats conversation_id of the request, if it bears one (league.v2, header fields).", "Copy it.",
			repeatsConversation),
	}
}

func tellsNoTokens(p managerT) {
	for _, q := range []string{protocol.QueryPlayers, protocol.QueryStatus, protocol.QueryStandings} {
		a := p.send(p.asking(p.players()[0], q))
		for _, m := range p.members {
			if bytes.Contains(a.Body, []byte(m.token)) {
				p.Fail("the answer to %s holds the token of %s", q, m.id)
			}
		}
	}
}

func repeatsConversation(p managerT) {
	m := p.asking(p.players()[0], protocol.QueryStatus)
	a := p.send(m)
	if got := a.Message.text("conversation_id"); a.Message.has("conversation_id") && got != m.ConversationID {
		p.Fail("conversation_id is %q, want %q", got, m.ConversationID)
	}
}

// admissionAuthChecks are about who is believed.
func admissionAuthChecks() []Check {
	refused := func(name, rule, advice string, change func(p managerT, m *protocol.LeagueQuery)) Check {
		return Check{ID: "manager.auth." + name, Level: Must, Needs: []string{managerTakes, managerTells}, Rule: rule, Advice: advice, run: forManager(func(p managerT) {
			m := p.asking(p.players()[0], protocol.QueryStatus)
			change(p, m)
			p.refused(p.send(m))
		})}
	}
	const compare = "Compare auth_token with that of the agent in sender before anything else is looked at."
	return []Check{
		refused("missing", "A request without auth_token is refused (6001, E011).", compare, func(_ managerT, m *protocol.LeagueQuery) { m.AuthToken = "" }),
		refused("token", "A request with a token that nobody was given is refused (6001, E012).", compare, func(_ managerT, m *protocol.LeagueQuery) { m.AuthToken = forged }),
		refused("other", "A request with the token of another agent than its sender is refused (6001, E012).", compare, func(p managerT, m *protocol.LeagueQuery) {
			m.Sender = protocol.Sender(protocol.RolePlayer, p.players()[1].id)
		}),
		{
			ID: "manager.auth.quiet", Level: Should, Needs: []string{managerTakes, managerTells}, Rule: "A refusal does not repeat the token that was given (league.v2, errors).",
			Advice: "Leave tokens out of error texts, or cut them.",
			run: forManager(func(p managerT) {
				m := p.asking(p.players()[0], protocol.QueryStatus)
				m.AuthToken = forged
				if a := p.send(m); a.Refused && bytes.Contains(a.Body, []byte(forged)) {
					p.Fail("the refusal repeats the token whole")
				}
			}),
		},
	}
}

// managerFrameChecks are about JSON-RPC, wrappings, and slow peers.
func managerFrameChecks() []Check {
	needs := []string{managerTakes, managerTells}
	check := func(name string, level Level, rule, advice string, run func(p managerT, m protocol.Message)) Check {
		return Check{ID: "manager." + name, Level: level, Needs: needs, Rule: rule, Advice: advice, run: forManager(func(p managerT) {
			run(p, p.asking(p.players()[0], protocol.QueryStatus))
		})}
	}
	id := func(name, id, what string) Check {
		return check("rpc."+name, Must, "An answer bears the id of its request with its type kept: "+what+" (JSON-RPC 2.0, response object).",
			"Take the id as it was parsed and write it back; never convert it.", func(p managerT, m protocol.Message) {
				a := p.Send(letter{message: m, id: id})
				p.accepted(a, "")
				if got := string(a.Document["id"]); got != id {
					p.Fail("the id %s came back as %s", id, orMissing(a.Document["id"]))
				}
			})
	}
	in := func(d *protocol.Dialect, rule string) Check {
		return check("dialect."+d.Name, Wild, rule+" (league.v2, dialects)", "Look for the message where its wrapping puts it, dispatch by message_type, and answer in the wrapping that was used.",
			func(p managerT, m protocol.Message) {
				p.answersInKind(m, d)
			})
	}
	named := func(name, rule, method string) Check {
		return check("dialect."+name, Wild, rule, "Dispatch by message_type, wherever it sits, and not by the method.", func(p managerT, m protocol.Message) {
			p.accepted(p.Send(letter{message: m, method: method}), "")
		})
	}
	return []Check{
		id("string", `"42"`, "a string stays a string, also one of digits"),
		id("number", `42`, "a number stays a number"),
		id("large", `9007199254740993`, "a number beyond 2^53 keeps its digits"),
		check("rpc.noid", Should, "A request of the league without an id is refused with id null (league.v2, transport).", "Answer a request without id by the error -32600 with id null.",
			func(p managerT, m protocol.Message) {
				var doc map[string]any
				decode(p.body(letter{message: m}), &doc)
				delete(doc, "id")
				p.refused(ReadAnswer(p.Post(encode(doc), nil)))
			}),
		in(protocol.Envelope, "A message to league.handle, with the header in params.envelope and the rest in params.payload, is answered in result.envelope and result.payload."),
		in(protocol.Tool, "A message by tools/call with params.name and params.arguments is answered as a tool result, in structuredContent or as text in content."),
		in(protocol.ToolIO, "A message by tools/call with params.tool and params.input is answered in result.output."),
		in(protocol.Bare, "A message without JSON-RPC is answered without, or refused."),
		named("type", "A message whose method is its message_type is taken (observed in real leagues).", string(protocol.TypeLeagueQuery)),
		named("unknown", "A message with a known message_type is taken under a method that nobody has heard of (observed in real leagues).", "unknown"),
		check("fields.unknown", Must, "Members that the manager does not know are passed over (league.v2, validation).", "Read the members that you need, and do not refuse others; in Python, do not pass **params on to a function.",
			func(p managerT, m protocol.Message) {
				p.accepted(p.Send(letter{message: m, edit: with("x_weather", "sunny")}), "")
			}),
		check("load.stalled", Should, "A peer that sends slowly holds up nobody else: while one request is under way, others are answered.", "Serve requests concurrently; in Python, ThreadingHTTPServer in the place of HTTPServer.",
			func(p managerT, m protocol.Message) { p.besideSlowPeer(func() *Answer { return p.send(m) }) }),
	}
}

// managerHostileChecks are about input that no good peer sends.
func managerHostileChecks() []Check {
	valid := func(t *T) letter {
		p := managerT{t, t.side.(*managerSide)}
		m := p.players()[0]
		return letter{message: p.asking(m, protocol.QueryStatus), dialect: protocol.Contracts}
	}
	checks := attackChecks(Manager, attacks(protocol.TypeLeagueQuery, "report_match_result"), valid)
	for i := range checks {
		checks[i].Needs = []string{managerTakes}
	}
	return append(checks, Check{
		ID: managerSurvives, Level: Must, Needs: []string{managerTakes, managerTells},
		Rule:   "After all that, the manager goes on answering.",
		Advice: "Let no input end or block the process: handle each request apart, and release locks when one fails.",
		run:    forManager(func(p managerT) { p.data(protocol.QueryStatus) }),
	})
}
