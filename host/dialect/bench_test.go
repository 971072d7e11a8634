package dialect

import (
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

// BenchmarkExchange is all that this package does for one request and its
// answer on both sides: wrap, open, decode, reply, read.
func BenchmarkExchange(b *testing.B) {
	question, answer := named(b, "choose_parity_call").message, named(b, "choose_parity_response").message
	for _, d := range OfProtocol() {
		b.Run(d.Name, func(b *testing.B) {
			c := NewCodec(protocol.Tolerant)
			b.ReportAllocs()
			for b.Loop() {
				call, err := d.Call(question)
				if err != nil {
					b.Fatal(err)
				}
				req, err := openCall(c, call)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := req.Decode(); err != nil {
					b.Fatal(err)
				}
				reply, err := req.Reply(answer)
				if err != nil {
					b.Fatal(err)
				}
				a := Answer{Status: reply.Status, Raw: append(reply.Result, reply.Body...)} // one of them
				if _, err := c.ReadAnswer(protocol.TypeChooseParityCall, a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
