// Package protocol is the league.v2 protocol: its messages as Go types, the rules that a message
// must keep, the error codes, the tokens and keys that prove who sent it, and the JSON Schemas of
// all of it. How messages are wrapped for the wire is the business of host/dialect. The package
// does no I/O and reads no clock; everything here is a pure function of its arguments, and every
// exported value is safe for concurrent use unless its comment says otherwise.
//
// A message is written once: its Go type, whose tags hold the rules of its fields, and a line of
// the catalog, which says under which method it travels, from whom, and what is special about its
// header. [Decode], [Encode] and the JSON Schemas follow from both ([Types], [Describe], [Schema]).
package protocol

// Version is the only value of the protocol field that this package speaks.
const Version = "league.v2"

// A Type is the message_type of a message, by which it is dispatched.
type Type string

// A Message is a pointer to one of the message structs of this package, each of which embeds a
// [Header]. A message is not safe for concurrent change; encoding one only reads it.
type Message interface {
	// Head returns the header of the message, which may be changed.
	Head() *Header
}

// A Mode is how much a receiver demands of a message.
type Mode uint8

const (
	// Strict demands everything that the protocol calls required.
	Strict Mode = iota
	// Tolerant demands only what a message cannot do without, accepts other names of fields, treats
	// null and "" as a missing optional field, and infers the message type from the method.
	Tolerant
)

// String returns "strict" or "tolerant".
func (m Mode) String() string {
	if m == Tolerant {
		return "tolerant"
	}
	return "strict"
}

// StatusAcknowledged is the status of an acknowledgement.
const StatusAcknowledged = "ACKNOWLEDGED"

// Acknowledgement returns what confirms the receipt of a message of type t; nil where the
// answer to it says more, or where there is none.
func (t Type) Acknowledgement() *Ack {
	ack, ok := New(t.Answer()).(*Ack)
	if !ok {
		return nil
	}
	ack.Status = StatusAcknowledged
	return ack
}

// An Ack confirms the receipt of a notification, or of an answer that was posted
// as a request of its own. One Go type serves all message types that do no more;
// Header.MessageType distinguishes them.
type Ack struct {
	Header
	Status          string    `json:"status,omitzero" rule:"strict one=ACKNOWLEDGED" doc:"Always ACKNOWLEDGED."`
	PlayerID        string    `json:"player_id,omitzero" not:"MATCH_PROGRESS_ACK" rule:"id strict or=referee_id" doc:"The player who acknowledges."`
	RefereeID       string    `json:"referee_id,omitzero" not:"MATCH_PROGRESS_ACK" rule:"id" doc:"The referee who acknowledges."`
	DrawVerified    Opt[bool] `json:"draw_verified,omitzero" in:"ROUND_COMPLETED_ACK GAME_OVER_ACK" doc:"Whether the player could verify the drawn number."`
	StrategyVersion string    `json:"strategy_version,omitzero" in:"ROUND_COMPLETED_ACK" doc:"The version of the player's strategy that chose in the round, of one that is edited while it plays."`
	StrategyError   string    `json:"strategy_error,omitzero" in:"ROUND_COMPLETED_ACK" rule:"prose" doc:"Why the player's strategy failed in the round, for people."`
}
