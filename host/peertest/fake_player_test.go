package peertest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// contestant is a foreign player.
type contestant struct {
	style   *style
	program *program
	name    string
	manager string
	overs   atomic.Int64
	done    chan struct{} // closed by LEAGUE_COMPLETED
	ended   atomic.Bool
	choice  string

	id, token string
	last      string            // token received
	flat      bool              // registers by the flat arguments that the manager declares
	referees  map[string]string // by match
	settled   chan struct{}     // closed when it knows its id
	joining   sync.WaitGroup
}

// contest starts a player of a style; it registers on demand.
func contest(t testing.TB, s *style, name, choice string) *contestant {
	return contestIn(t, nil, 0, s, name, choice)
}

// contestIn starts a player on a port, in the network of a league if there is one.
func contestIn(t testing.TB, w *world, port int, s *style, name, choice string) *contestant {
	c := &contestant{style: s, name: name, choice: choice, done: make(chan struct{}), settled: make(chan struct{}), referees: make(map[string]string)}
	if s.ports { // the course names the path, too
		own := *s
		own.path = ""
		s = &own
	}
	c.program = launchIn(t, w, port, s, "player:"+name, c.handle)
	t.Cleanup(c.joining.Wait)
	return c
}

// register registers once, or twice if that is its way, and learns its id.
func (c *contestant) register(ctx context.Context, manager string) error {
	c.manager = manager
	defer close(c.settled)
	times := 1
	if c.style.repeats {
		times = 2
	}
	version := "2.1.0"
	if c.style.wantsSender {
		version = "league.v2"
	}
	for range times {
		meta := object{
			"display_name": c.name, "version": "1.0.0", "game_types": []any{"even_odd"},
			"protocol_version": version, "contact_endpoint": c.program.url,
		}
		request := object{"conversation_id": "conv-" + c.name, "player_meta": meta}
		if c.flat {
			request = meta
		}
		answer := c.program.call(ctx, manager, "LEAGUE_REGISTER_REQUEST", request)
		want := c.style.registered
		if want == "" {
			want = "ACCEPTED"
		}
		if id, _ := c.known(); text(answer, "status") != want && id != "" {
			break // a repeat, and the league has begun meanwhile
		}
		if text(answer, "status") != want {
			return fmt.Errorf("%s: registration answered by %v, want status %s", c.style.name, answer, want)
		}
		c.learn(text(answer, "player_id"), text(answer, "auth_token"))
	}
	return nil
}

// learn stores who the player is; a league within the registration asks before.
func (c *contestant) learn(id, token string) {
	role := "player:"
	if c.style.plural {
		role = "players:"
	}
	c.program.signAs(role + id)
	c.program.mu.Lock()
	defer c.program.mu.Unlock()
	c.id, c.token = id, token
}

// known returns what learn has stored so far.
func (c *contestant) known() (id, token string) {
	c.program.mu.Lock()
	defer c.program.mu.Unlock()
	return c.id, c.token
}

func (c *contestant) handle(p *program, t string, message object) object {
	if c.style.start != "within" { // or it would wait for the league that waits for it
		<-c.settled
	}
	token := c.sign(message)
	ack := func(t string) object {
		answer := p.header(t)
		id, _ := c.known()
		answer["player_id"], answer["auth_token"] = id, token
		if c.style.tokens == "none" {
			delete(answer, "auth_token")
		}
		if v, ok := message["match_id"]; ok {
			answer["match_id"] = v
		}
		return answer
	}
	switch t {
	case "ROUND_ANNOUNCEMENT":
		matches, _ := message["matches"].([]any)
		p.mu.Lock()
		for _, m := range matches {
			m, _ := m.(object)
			c.referees[text(m, "match_id")] = text(m, "referee_endpoint")
		}
		p.mu.Unlock()
	case "GAME_INVITATION":
		if c.style.joins == "never" {
			return object{"status": "received"}
		}
		if c.style.async && c.style.single {
			c.joinLater(message)
			return object{"status": "ACKNOWLEDGED"}
		}
		if c.style.async {
			c.joining.Go(func() { c.joinLater(message) })
			return object{"status": "ACKNOWLEDGED"}
		}
		answer := ack("GAME_JOIN_ACK")
		answer["arrival_timestamp"] = answer["timestamp"]
		switch c.style.joinField {
		case "status":
			answer["status"] = "RECEIVED"
		case "accepted":
			answer["accepted"] = true
		default:
			answer["accept"] = true
		}
		return answer
	case "CHOOSE_PARITY_CALL":
		answer := ack("CHOOSE_PARITY_RESPONSE")
		field := c.style.choiceField
		if field == "" {
			field = "parity_choice"
		}
		answer[field] = c.choice
		return answer
	case "GAME_OVER":
		c.overs.Add(1)
	case "LEAGUE_COMPLETED":
		if c.ended.CompareAndSwap(false, true) {
			close(c.done)
		}
	case "LEAGUE_STANDINGS_UPDATE":
		answer := ack("STANDINGS_UPDATE_ACK")
		answer["status"] = "ACKNOWLEDGED"
		return answer
	}
	switch c.style.acks {
	case "echo":
		return object{"status": "acknowledged", "message_type": t}
	case "ok":
		return object{"status": "ok"}
	case "empty":
		return object{}
	}
	answer := ack(t + "_ACK")
	answer["status"] = "ACKNOWLEDGED"
	return answer
}

// sign returns what the player signs an answer with.
func (c *contestant) sign(message object) string {
	c.program.mu.Lock()
	defer c.program.mu.Unlock()
	switch c.style.tokens {
	case "last":
		if t := text(message, "auth_token"); t != "" {
			c.last = t
		}
		return c.last
	case "placeholder":
		return "tok_p1"
	case "empty":
		return ""
	}
	return c.token
}

// joinLater joins by a message of its own.
func (c *contestant) joinLater(message object) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	match := text(message, "match_id")
	c.program.mu.Lock()
	url := c.referees[match]
	c.program.mu.Unlock()
	id, token := c.known()
	c.program.call(ctx, url, "GAME_JOIN_ACK", object{
		"match_id": match, "player_id": id, "accept": true, "auth_token": token, "league_id": message["league_id"],
		"conversation_id": message["conversation_id"], "arrival_timestamp": time.Now().UTC().Format("2006-01-02T15:04:05Z"),
	})
}
