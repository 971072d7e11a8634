// Package manager is the league manager of league.v2: it registers referees and
// players, makes the schedule, announces the rounds, takes the results down,
// keeps the table and tells everybody how it ends.
//
// It knows neither sockets nor strategies. Whoever assembles a league gives it
// a [wire.Caller], serves [Manager.Handler] over whatever transport, and calls
// [Manager.Run]:
//
//	m, err := manager.New(manager.Config{LeagueID: "cup", Players: 4, DataDir: dir, Caller: caller})
//	...
//	go server.Serve(ctx, m.Endpoint())
//	err = m.Run(ctx) // until the league is over, or ctx ends
//
// # States
//
// The league (GET_STATUS shows the state):
//
//	WAITING_FOR_REGISTRATIONS   until START_LEAGUE, Start, or Config.Players players and a referee
//	CREATING_SCHEDULE           until the schedule is in the journal
//	RUNNING_LEAGUE              round after round; referees may still register
//	LEAGUE_COMPLETED            from the end of the last round on
//
// An agent: see [AgentLife]. An agent that cannot be reached is SUSPENDED: it
// is scheduled and told everything like any other, but nobody waits for it, so
// that it costs the league one timeout and not one in every round.
//
// # The order of messages
//
// In each round:
//
//  1. ROUND_ANNOUNCEMENT to all players, at the same time. It is waited for
//     until every player that is not SUSPENDED has acknowledged, failed to, or
//     had its 10 s.
//  2. ROUND_ANNOUNCEMENT to the referees. It bears the endpoints of the players
//     and the match keys of exactly those matches that the referee conducts, and
//     nobody else is sent any.
//  3. MATCH_RESULT_REPORT from the referees, each answered when it is in the
//     journal.
//  4. LEAGUE_STANDINGS_UPDATE and then ROUND_COMPLETED to everybody.
//
// LEAGUE_COMPLETED to everybody follows the last round. Each agent gets its
// messages one after another and in this order. An attempt that fails is
// repeated in the background by [Config.Backoff]; a message that is still
// waiting when a newer one of its type comes is dropped, so that an agent that
// stays away has at most one message of each type waiting.
//
// Step 2 is repeated for a referee, and step 1 for the players concerned, when
// the announcement has become wrong: a referee that could not be told, or that
// owes a report and has sent none for [Config.MatchDeadline], loses its matches
// to another one; an agent has come back at another endpoint or with a new
// token; the manager was started again. A referee is then told of the matches
// that are not over, and only of those.
//
// # What is in the journal, and when
//
// The state of the league is made of events and of nothing else. An event is on
// disk before anybody is told what follows from it:
//
//	registered        before the answer to a registration: who, where, which dialect, the
//	                  verifier of the token (never the token); again for an agent that
//	                  comes back
//	started           before the answer to START_LEAGUE: the seats and the legs, from which
//	                  the schedule follows
//	assigned          before an announcement: the referees of a round's matches
//	reported          before the answer to a report: the result
//	round_completed   after everybody was told of the round's end
//	completed         after everybody was told of the league's end, or given up on
//
// So a manager that is killed at any moment and started again on the same data
// directory announces the round under way again, without the matches that are
// over, or repeats the messages that end a round; it may tell something twice,
// but it forgets nothing that it acknowledged, and a result counts once: its
// repeat is refused with 5003 and same_result.
//
// The JSON views (config/agents/agents_config.json,
// data/leagues/<league>/standings.json, data/matches/<league>/<match>.json,
// below the data directory) are written in the background at the ends of
// rounds; they are for people and are never read back.
//
// # Who may do what
//
// Every request but a registration must show the token of its sender. The
// launcher (START_LEAGUE, and queries) shows the admin token as auth_token or
// as Authorization: Bearer. Where none is configured, its requests count only if
// they come from a loopback address with a JSON content type, a loopback Host,
// no Origin and no header of a proxy.
//
// An agent that registers again is known again by its current token; or, for 60
// seconds, when source address, conversation, JSON-RPC id and what it says of
// itself are the same, as then the answer was lost; or, in tolerant mode and
// before the start, by its endpoint. In the last two cases it gets a new token
// and the old one is void, at most 100 times. Everybody else is refused a name
// (2002) or an endpoint (1002, 2003) that is taken. When the last round is over, only an
// agent that shows its token is taken back, to hear of the end where it is now.
package manager
