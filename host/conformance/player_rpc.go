package conformance

import (
	"slices"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// rpcChecks are about the frame of JSON-RPC.
func rpcChecks() []Check {
	needs := []string{joinAnswered}
	id := func(name, id, what string) Check {
		return Check{
			ID: "player.rpc." + name, Level: Must, Needs: needs,
			Rule:   "An answer bears the id of its request with its type kept: " + what + " (JSON-RPC 2.0, response object).",
			Advice: "Take the id as it was parsed and write it back; never convert it.",
			run: forPlayer(func(p playerT) {
				if p.dialect.Request.Bare {
					p.Skip("it registered without JSON-RPC and is spoken to so")
				}
				a := p.Send(letter{message: p.invitation(p.bout()), dialect: p.dialect, id: id})
				p.accepted(a, protocol.TypeGameJoinAck)
				if got := string(a.Document["id"]); got != id {
					p.Fail("the id %s came back as %s", id, orMissing(a.Document["id"]))
				}
			}),
		}
	}
	return []Check{
		id("string", `"42"`, "a string stays a string, also one of digits"),
		id("number", `42`, "a number stays a number"),
		id("large", `9007199254740993`, "a number beyond 2^53 keeps its digits"),
		{
			ID: "player.rpc.version", Level: Should, Needs: needs,
			Rule:   `An answer bears jsonrpc "2.0" and exactly one of result and error (JSON-RPC 2.0, response object).`,
			Advice: `Add "jsonrpc": "2.0", and leave out error beside a result.`,
			run:    forPlayer(framed),
		},
		{
			ID: "player.rpc.noid", Level: Should, Needs: needs,
			Rule:   "A request of the league without an id is refused with id null (league.v2, transport).",
			Advice: "Answer an invitation without id by the error -32600 with id null.",
			run:    forPlayer(wantsRequestID),
		},
		{
			ID: "player.rpc.notification", Level: Wild, Needs: needs,
			Rule:   "A LEAGUE_ERROR may come without an id: it is taken with HTTP 2xx and refused by nobody (league.v2, transport).",
			Advice: "Answer a notification with HTTP 202 and an empty body, or with 200.",
			run:    forPlayer(takesNotification),
		},
	}
}

func framed(p playerT) {
	_, a := p.invited()
	if slices.Contains([]string{protocol.DialectBare, "request"}, a.Wrapping) {
		p.Skip("its answers are no JSON-RPC responses")
	}
	if v := a.Document.text("jsonrpc"); v != "2.0" {
		p.Fail("jsonrpc is %s", orMissing(a.Document["jsonrpc"]))
	}
	if _, both := a.Document["error"]; both {
		p.Fail("error stands beside result; many callers take that for a failure, even if it is null")
	}
}

// withoutID sends a message as JSON-RPC writes a notification.
func (p playerT) withoutID(m protocol.Message) *Answer {
	if p.dialect.Request.Bare {
		p.Skip("it registered without JSON-RPC and is spoken to so")
	}
	var doc map[string]any
	decode(p.body(letter{message: m, dialect: p.dialect, id: `"` + jsonrpc.RandomID() + `"`}), &doc)
	delete(doc, "id")
	return ReadAnswer(p.Post(encode(doc), nil))
}

func takesNotification(p playerT) {
	m, err := protocol.NewLeagueError(p.fromManager(protocol.TypeLeagueError, 1), protocol.Refuse(protocol.CodeLeagueNotStarted, "", "it is about to start"))
	if err != nil {
		panic(err) // it has nothing in it that cannot be written
	}
	if _, err := p.dialect.Call(m); err != nil {
		p.Skip("it is spoken to in %s, in which a LEAGUE_ERROR is no request", p.dialect.Name)
	}
	switch a := p.withoutID(m); {
	case a.Err != nil, a.Refused, a.Status < 200 || a.Status > 299:
		p.Fail("answered by %s", a)
	}
}

func wantsRequestID(p playerT) {
	a := p.withoutID(p.invitation(p.bout()))
	p.refused(a)
	if a.Document != nil && a.Document.has("id") {
		p.Fail("it is refused with the id %s, want null", a.Document["id"])
	}
}
