package protocol

import (
	"testing"
)

var inv = []byte(`{"protocol":"league.v2","message_type":"GAME_INVITATION","sender":"referee:REF01","timestamp":"2025-01-19T10:01:00Z","conversation_id":"conv-r1m1-001","auth_token":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","league_id":"league_2025_even_odd","round_id":1,"match_id":"R1M1","game_type":"even_odd","role_in_match":"PLAYER_A","opponent_id":"P02"}`)

func BenchmarkOpen(b *testing.B) {
	c := NewCodec(Strict)
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Open("handle_game_invitation", inv)
		if err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkOpenDecode(b *testing.B) {
	c := NewCodec(Strict)
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Open("handle_game_invitation", inv)
		if err != nil {
			b.Fatal(err)
		}
		if _, err = r.Decode(); err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, err := Decode(TypeGameInvitation, inv, Strict, true)
		if err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkEncode(b *testing.B) {
	m, err := Decode(TypeGameInvitation, inv, Strict, true)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(m); err != nil {
			b.Fatal(err)
		}
	}
}

	b.ReportAllocs()
	for b.Loop() {
		var c checker
		c.request = true
		if err := c.check(inv, gameInvitationShape); err != nil || len(c.findings) > 0 {
			b.Fatal(err, c.findings)
		}
	}
}
