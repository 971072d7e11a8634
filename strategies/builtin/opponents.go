package builtin

// opponents keeps one state for every opponent, made when it is first asked
// for. The zero S is the state of an opponent never met.
//
// The lookup is on the path of every call, so the ids of a league.v2 field,
// "P01" to "P999", are read as numbers and index a slice; any other id, and a
// number beyond the field, goes through a map.
type opponents[S any] struct {
	numbered []S
	named    map[string]*S
}

func newOpponents[S any](field []string) opponents[S] {
	return opponents[S]{numbered: make([]S, len(field)+1)} // ids count from 1
}

// at returns the state of an opponent. The empty id, for an opponent who is
// not known, is an id like any other. The pointer stays good for the seat's
// life.
func (o *opponents[S]) at(id string) *S {
	if n := playerNumber(id); uint(n) < uint(len(o.numbered)) {
		return &o.numbered[n]
	}
	return o.atName(id)
}

func (o *opponents[S]) atName(id string) *S {
	if s, ok := o.named[id]; ok {
		return s
	}
	if o.named == nil {
		o.named = make(map[string]*S)
	}
	s := new(S)
	o.named[id] = s
	return s
}

// playerNumber returns the n of which id is the game.PlayerID, "P00" and up to
// three digits, or -1. No two ids have the same number: "P7", "P007" and
// "P07x" have none.
func playerNumber(id string) int {
	if len(id) != 3 && (len(id) != 4 || id[1] == '0') || id[0] != 'P' {
		return -1
	}
	n := 0
	for i := 1; i < len(id); i++ {
		digit := id[i] - '0'
		if digit > 9 {
			return -1
		}
		n = n*10 + int(digit)
	}
	return n
}
