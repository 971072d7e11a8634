package protocol

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/rawjson"
)

// A Meaning is something that programs say by a word of their own, in a status or in a member that
// is true or false: its words in upper case, the protocol's own first. Anything may follow a word
// that ends in "*".
type Meaning []string

// The meanings.
var (
	Joining   = Meaning{StatusAccepted, "ACCEPT", "ACK", "RECEIVED", "JOINED", "JOIN", "READY", "CONFIRMED", "YES", "TRUE", "1"} // a player takes part in a match
	Declining = Meaning{StatusRejected, "REJECT", "DECLINED", "DECLINE", "REFUSED", "NO", "FALSE", "0"}                          // or does not
	Enrolling = Meaning{StatusAccepted, "REGISTERED", "OK", "SUCCESS", "ACK", StatusAcknowledged, "ACCEPT", "JOINED", "CONFIRMED", "PENDING"}
	Rejecting = Meaning{StatusRejected, "ERROR", "FAILED", "FAILURE", "DENIED", "REFUSED", "DECLINED"} // a registration
	Receiving = Meaning{StatusAcknowledged, "ACK", "OK", "RECEIVED", "SUCCESS", StatusAccepted, "PENDING", "QUEUED", "PROCESSING", "RECORDED", "REGISTERED"}
	Failing   = Meaning{"ERROR*", "FAIL*", "UNKNOWN*", "UNSUPPORTED*", "UNRECOGNI*", "INVALID*", "UNAUTHORIZED*", "NOT_FOUND*", "NOT FOUND*", "NOT_IMPLEMENTED*"}
	Nobody    = Meaning{"", "NONE", "NULL", "NOBODY", "N/A", StatusDraw, "TIE"} // a winner that does not exist
	Winning   = Meaning{StatusWin, "WON"}                                       // of a result for one player
	Losing    = Meaning{"LOSS", "LOSE", "LOST"}
	Drawing   = Meaning{StatusDraw, "TIE", "TIED"}
)

// affirming are the members that say by true that something was accepted.
var affirming = []string{"success", "ok", "accepted", "accept", "registered", "joined"}

// Means reports whether a program means m by a word, in any case.
func Means(m Meaning, word string) bool {
	word = strings.ToUpper(strings.TrimSpace(word))
	return slices.ContainsFunc(m, func(w string) bool {
		beginning, more := strings.CutSuffix(w, "*")
		return word == w || more && strings.HasPrefix(word, beginning)
	})
}

// WinnerIn returns whom a status such as PLAYER_A_WINS names as the winner.
func WinnerIn(status string) (name string, named bool) {
	at := strings.LastIndexAny(status, "_- ")
	if at < 1 || !Means(Winning, strings.TrimSuffix(strings.ToUpper(status[at+1:]), "S")) {
		return "", false
	}
	return status[:at], true
}

// Affirms reports what an object says by members such as "success": true or false, and
// whether it says anything.
func Affirms(doc rawjson.Object) (yes, said bool) {
	for _, name := range affirming {
		switch doc.Get(name).Kind() {
		case 'f':
			return false, true
		case 't':
			yes, said = true, true
		}
	}
	return yes, said
}

// Refuses reports whether a message of the type is a refusal, by the protocol or as
// other programs name one.
func (t Type) Refuses() bool { return t == TypeLeagueError || t == TypeGameError || t == "ERROR" }

// Fails reports whether a message says of itself that it is a failure.
func Fails(doc rawjson.Object) bool {
	if doc.Get("success").Kind() == 'f' || doc.Get("ok").Kind() == 'f' {
		return true
	}
	if e := doc.Get("error"); e.Kind() == '{' || e.Kind() == '"' && len(e) > len(`""`) {
		return true
	}
	return Means(Failing, doc.Text("status"))
}

// Joins returns what an answer to an invitation says of joining, and whether it says
// anything: by accept or another name of it, or by its status.
func Joins(doc rawjson.Object) (joins, said bool) {
	for _, name := range append(NamesOf("accept"), "status") {
		if joins, said = joining(strings.Trim(string(doc.Get(name)), `" `)); said {
			break
		}
	}
	return joins, said
}

// joining returns whether a word says that a player joins, and whether it says anything. One that
// only confirms receipt does not; the answer follows.
func joining(word string) (joins, said bool) {
	joins = Means(Joining, word)
	return joins, joins || Means(Declining, word)
}
