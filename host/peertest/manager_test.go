package peertest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// registered is an agent that has registered with a foreign manager.
type registered struct{ id, name, endpoint, token string }

// league is a foreign manager and the referee that goes with it.
type league struct {
	t       testing.TB
	style   *style
	manager *program
	judge   *judge
	panel   []*judge // conduct the matches in turn, instead of judge

	begun    int // matches
	expected int // players; 0 where the league does not start by itself

	board
	players  []registered
	referees []registered
	reports  map[string]object
	left     bool // the last player has gone, so that nothing will come
	started  bool
	over     bool
}

// foreign starts a manager of a style, and its own referee.
func foreign(t testing.TB, s *style) *league { return foreignIn(t, nil, s) }

// foreignIn starts them on the ports of the course, in the network of a league if
// there is one.
func foreignIn(t testing.TB, w *world, s *style) *league {
	at := func(port int) int {
		if w == nil {
			return 0
		}
		return port
	}
	l := &league{t: t, style: s, reports: make(map[string]object)}
	sender := "league_manager"
	if s.naming == "type" {
		sender = "league_manager:LM01"
	}
	l.judge = judgeIn(t, w, at(8001), s, "REF01")
	l.manager = launchIn(t, w, at(8000), s, sender, l.handle)
	if path := map[string]string{"path": "/start_league", "rest": "/league/start"}[s.start]; path != "" {
		l.manager.take(path, func() reply { return reply{body: l.begin()} })
	}
	return l
}

// begin starts the league. A manager that does one thing at a time answers when it is
// over.
func (l *league) begin() object {
	l.note(func() { l.started = true })
	if l.style.single || l.style.start == "within" {
		l.awaitUntil(nil, func() bool { return l.over || l.left })
	}
	return object{"status": "started"}
}

func (l *league) handle(p *program, t string, message object) object {
	switch t {
	case "LEAGUE_REGISTER_REQUEST":
		return l.register(p, t, message, "player", &l.players)
	case "REFEREE_REGISTER_REQUEST":
		return l.register(p, t, message, "referee", &l.referees)
	case "MATCH_RESULT_REPORT":
		id := text(message, "match_id")
		l.note(func() { l.reports[id] = message })
		ack := l.style.reportAck
		if ack == "" {
			ack = "MATCH_RESULT_ACK"
		}
		answer := p.header(ack)
		answer["status"], answer["recorded"], answer["match_id"], answer["round_id"] = "recorded", true, id, message["round_id"]
		return answer
	}
	if t == "START_LEAGUE" {
		if taken, wrong := l.style.starts(message); wrong != nil {
			return object{"_error": wrong}
		} else if taken {
			return l.begin()
		}
	}
	if t == "LEAGUE_QUERY" && l.style.noEndpoints && text(message, "query_type") == "GET_PLAYERS" {
		var list []any
		l.mu.Lock()
		for _, r := range l.players {
			list = append(list, object{"player_id": r.id, "display_name": r.name, "contact_endpoint": r.endpoint})
		}
		l.mu.Unlock()
		answer := p.header("LEAGUE_QUERY_RESPONSE")
		answer["query_type"], answer["success"], answer["data"] = "GET_PLAYERS", true, object{"players": list}
		return answer
	}
	return l.badToken(p)
}

// badToken is how the manager refuses what needs a token; it knows no queries.
func (l *league) badToken(p *program) object {
	switch l.style.badToken {
	case "result":
		answer := p.header("LEAGUE_ERROR")
		answer["error_code"], answer["error_description"] = "E012", "AUTH_TOKEN_INVALID"
		return answer
	case "401":
		return object{"_status": http.StatusUnauthorized, "_body": object{
			"jsonrpc": "2.0", "id": nil, "error": object{"code": 12, "message": "AUTH_TOKEN_INVALID"},
		}}
	case "500":
		return object{"_status": http.StatusInternalServerError, "_body": object{
			"jsonrpc": "2.0", "id": nil, "error": object{"code": -32000, "message": "token"},
		}}
	case "type":
		return object{"message_type": "ERROR", "error_code": "AUTH_FAILED"}
	case "status":
		return object{"status": "error"}
	}
	return object{"_error": object{"code": -32001, "message": "unauthorized"}}
}

func (l *league) register(p *program, t string, message object, role string, list *[]registered) object {
	meta, _ := message[role+"_meta"].(object)
	if l.style.lists {
		meta = message
	}
	answer := p.header(strings.Replace(t, "REQUEST", "RESPONSE", 1))
	endpoint := text(meta, "contact_endpoint")
	if !strings.HasPrefix(text(meta, "protocol_version"), l.style.wantsMeta) || endpoint == "" {
		answer["status"], answer["reason"] = "REJECTED", "protocol_version must begin with "+l.style.wantsMeta
		if endpoint == "" {
			answer["reason"] = "missing required field: contact_endpoint"
		}
		return answer
	}
	if l.style.probes {
		if !p.reaches(endpoint) {
			answer["status"], answer["reason"] = "REJECTED", "nobody listens at "+endpoint
			return answer
		}
	}
	time.Sleep(l.style.slow) // as such a manager does
	var r registered
	l.note(func() {
		for _, before := range *list {
			if before.name == text(meta, "display_name") && l.style.repeats {
				r = before
				return
			}
		}
		r = registered{name: text(meta, "display_name"), endpoint: endpoint}
		prefix := map[string]string{"player": "P", "referee": "REF"}[role]
		switch l.style.assigns {
		case "hex":
			r.id = fmt.Sprintf("%s_%08x", role, 0x3fa9c2d1+len(*list))
		case "sender":
			_, r.id, _ = strings.Cut(text(message, "sender"), ":")
		case "honour":
			r.id = fmt.Sprintf("%s%02d", prefix, len(*list)+1)
			if _, asked, _ := strings.Cut(text(message, "sender"), ":"); numberedSender.MatchString(text(message, "sender")) {
				r.id = asked
			}
		default:
			r.id = fmt.Sprintf("%s%02d", prefix, len(*list)+1)
			if pattern := oddIDs[l.style.assigns]; pattern != "" {
				r.id = fmt.Sprintf(pattern, len(*list)+1)
			}
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(r.id, "P")); err == nil && l.style.ports {
			r.endpoint = playerURL(n)
		}
		r.token = fmt.Sprintf("token-of-%s", r.id)
		*list = append(*list, r)
	})
	answer["status"], answer[role+"_id"] = l.style.registered, r.id
	if l.style.registered == "" {
		answer["status"] = "ACCEPTED"
	}
	if !l.style.noToken {
		answer["auth_token"], answer["league_id"] = r.token, "league_2025"
	}
	l.mu.Lock()
	last := l.style.start == "within" && len(*list) == l.expected && !l.started
	l.mu.Unlock()
	if last {
		l.begin()
	}
	return answer
}

// oddIDs are ids that cannot name a file.
var oddIDs = map[string]string{"space": "Team A %d", "slash": "team/%d", "unicode": "Zoë·%d", "dot": "../%d"}

// await waits until the condition, asked with the lock held, is true.
func (l *league) await(ctx context.Context, what string, condition func() bool) (ok bool) {
	l.t.Helper()
	if !l.awaitUntil(ctx.Done(), func() bool { ok = condition(); return ok || l.left }) {
		l.t.Errorf("%s: in vain: %v", l.style.name, what)
	}
	return ok
}

func (l *league) round(n int) any {
	if l.style.textRounds {
		return fmt.Sprintf("ROUND_%d", n)
	}
	return n
}

// tell sends a message to all players and referees.
func (l *league) tell(ctx context.Context, t string, to []registered, fields object) {
	var all sync.WaitGroup
	for _, r := range to {
		all.Go(func() {
			own := object{"auth_token": "manager-token"}
			if !l.style.bare {
				own["league_id"] = "league_2025"
			}
			for k, v := range fields {
				own[k] = v
			}
			l.manager.call(ctx, r.endpoint, t, own)
		})
	}
	all.Wait()
}

// play plays the league once that many players and referees have registered.
func (l *league) play(ctx context.Context, players, referees int) map[string]object {
	ok := l.await(ctx, "registrations", func() bool { return len(l.players) >= players && len(l.referees) >= referees })
	if !ok {
		return nil
	}
	defer l.note(func() { l.over = true })
	if l.style.start != "" && l.expected > 0 && !l.await(ctx, "the start", func() bool { return l.started }) {
		return nil
	}
	l.mu.Lock()
	field, judges := append([]registered(nil), l.players...), append([]registered(nil), l.referees...)
	l.mu.Unlock()
	played := 0
	for _, round := range roundRobin(field) {
		played += len(round)
		l.playRound(ctx, round, field, judges)
		if !l.await(ctx, "reports", func() bool { return len(l.reports) >= played }) {
			return nil
		}
		table := object{"round_id": l.round(round[0].round), "standings": l.standings(field)}
		over := object{"round_id": l.round(round[0].round), "matches_played": len(round), "next_round_id": nil}
		everybody := append(append([]registered(nil), field...), judges...)
		if l.style.standings == "before" {
			l.tell(ctx, "LEAGUE_STANDINGS_UPDATE", everybody, table)
			l.tell(ctx, "ROUND_COMPLETED", everybody, over)
		} else {
			l.tell(ctx, "ROUND_COMPLETED", everybody, over)
			l.tell(ctx, "LEAGUE_STANDINGS_UPDATE", everybody, table)
		}
	}
	if !l.style.endless {
		l.tell(ctx, "LEAGUE_COMPLETED", append(field, judges...), object{"final_standings": l.standings(field), "total_matches": played})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reports
}

func (l *league) standings(field []registered) []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := newTally(field)
	for _, report := range l.reports {
		result := inner(report, "result")
		score := inner(result, "score")
		for id, points := range score {
			t.add(id, points, result["winner"], len(score))
		}
	}
	return t.table()
}

func (l *league) playRound(ctx context.Context, round []matchup, field, judges []registered) {
	var referee registered
	conducting := make([]*judge, len(round))
	var matches []any
	for i, p := range round {
		conducting[i] = l.next()
		referee = registered{id: conducting[i].id, endpoint: conducting[i].program.url}
		if len(judges) > 0 {
			referee = judges[0]
		}
		m := object{
			"match_id": p.id, "game_type": "even_odd", "player_A_id": p.sides[0].id, "player_B_id": p.sides[1].id,
			"referee_endpoint": strings.Replace(referee.endpoint, "127.0.0.1", "localhost", 1), "referee_id": referee.id,
		}
		if l.style.bare {
			delete(m, "referee_id")
		}
		if len(judges) > 0 {
			m["player_A_endpoint"], m["player_B_endpoint"] = p.sides[0].endpoint, p.sides[1].endpoint
		}
		matches = append(matches, m)
	}
	announcement := object{"round_id": l.round(round[0].round), "matches": matches}
	if !l.style.quiet {
		l.tell(ctx, "ROUND_ANNOUNCEMENT", field, announcement)
	}
	if len(judges) == 0 {
		var all sync.WaitGroup
		for i, p := range round {
			all.Go(func() {
				report := conducting[i].play(ctx, p, l.round(p.round))
				l.note(func() { l.reports[p.id] = report })
			})
		}
		all.Wait()
		return
	}
	l.assign(ctx, round, announcement, referee)
}

// next is the referee of the match that is begun.
func (l *league) next() *judge {
	if len(l.panel) == 0 {
		return l.judge
	}
	l.begun++
	return l.panel[(l.begun-1)%len(l.panel)]
}

// assign gives a referee that has registered its matches.
func (l *league) assign(ctx context.Context, round []matchup, announcement object, referee registered) {
	if l.style.assignBy == "" {
		l.tell(ctx, "ROUND_ANNOUNCEMENT", []registered{referee}, announcement)
		return
	}
	for _, p := range round {
		message := l.manager.header(strings.ToUpper(l.style.assignBy))
		message["match_id"], message["round_id"], message["league_id"] = p.id, l.round(p.round), "league_2025"
		message["player_A_id"], message["player_B_id"] = p.sides[0].id, p.sides[1].id
		if !l.style.noEndpoints {
			message["player_A_endpoint"], message["player_B_endpoint"] = p.sides[0].endpoint, p.sides[1].endpoint
		}
		l.manager.post(ctx, referee.endpoint, object{
			"jsonrpc": "2.0", "method": l.style.assignBy, "params": message, "id": time.Now().UnixNano() % 1000,
		})
	}
}
