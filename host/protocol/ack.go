package protocol

// StatusAcknowledged is the status of an acknowledgement by the book.
const StatusAcknowledged = "ACKNOWLEDGED"

// Ack acknowledges a notification, or an answer that was posted as a request
// of its own. One Go type serves all message types that end in _ACK and say
// nothing but that the message arrived; Header.MessageType tells them apart.
type Ack struct {
	Header
	Status    string `json:"status,omitzero"`
	PlayerID  string `json:"player_id,omitzero"`  // the player who acknowledges
	RefereeID string `json:"referee_id,omitzero"` // or the referee
}

var (
	anyAgent   = []Role{RolePlayer, RoleReferee}
	ackStatus  = text("status", "Always ACKNOWLEDGED.").strict().values(StatusAcknowledged)
	ackPlayer  = ident("player_id", "The player who acknowledges.").strict().or("referee_id")
	ackReferee = ident("referee_id", "The referee who acknowledges.")

	roundAckShape = message(anyAgent, ackStatus, ackPlayer, ackReferee,
		round("round_id", "The round of the acknowledged message.").strict())

	leagueAckShape = message(anyAgent, ackStatus, ackPlayer, ackReferee)

	matchAckShape = message(anyAgent, ackStatus, ackPlayer, ackReferee,
		ident("match_id", "The match of the acknowledged message.").strict())

	// receiptShape is a referee's acknowledgement of an asynchronous answer;
	// the player it names is the one who answered.
	receiptShape = message([]Role{RoleReferee}, ackStatus,
		ident("player_id", "The player who answered.").strict(),
		ackReferee,
		ident("match_id", "The match of the acknowledged message.").strict())
)
