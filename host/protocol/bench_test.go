package protocol

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// hot are the messages that a league is made of, and what they answer.
var hot = []string{
	"game_invitation", "game_join_ack", "choose_parity_call", "choose_parity_response",
	"game_over", "match_result_report", "league_standings_update",
}

// benchEach runs f on each hot message.
func benchEach(b *testing.B, f func(b *testing.B, s sample, raw jsontext.Value)) {
	for _, name := range hot {
		s := named(b, name, 1)[0]
		raw, err := Encode(s.message)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			f(b, s, raw)
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	benchEach(b, func(b *testing.B, s sample, _ jsontext.Value) {
		for b.Loop() {
			if _, err := Encode(s.message); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	benchEach(b, func(b *testing.B, s sample, raw jsontext.Value) {
		typ := s.message.Head().MessageType
		for b.Loop() {
			if _, err := decodeText(typ, raw, Strict, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkBroadcast compares encoding the standings of 200 players for a
// receiver with encoding one copy of a broadcast.
func BenchmarkBroadcast(b *testing.B) {
	m := &LeagueStandingsUpdate{Header: NewHeader(TypeLeagueStandingsUpdate, "league_manager", "2026-03-14T09:10:14Z", "c")}
	for i := range 200 {
		m.Standings = append(m.Standings, Standing{Rank: i + 1, PlayerID: "P01", Played: Some(1), Points: 3})
	}
	copyFor := Broadcast(m)
	for name, next := range map[string]func() Message{
		"whole": func() Message { return m },
		"copy":  func() Message { return copyFor(m.Header) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Encode(next()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
