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
	if n := twoDigits(id); uint(n) < uint(len(o.numbered)) {
		return &o.numbered[n]
	}
	return o.atOther(id)
}

// atOther is at for the ids that are not two digits.
func (o *opponents[S]) atOther(id string) *S {
	if n := threeDigits(id); uint(n) < uint(len(o.numbered)) {
		return &o.numbered[n]
	}
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

// twoDigits returns the n of which id is the game.PlayerID, "P00" to "P99", or
// -1. It is apart from threeDigits, and has no loop, so that the compiler makes
// it part of the lookup.
func twoDigits(id string) int {
	if len(id) != 3 || id[0] != 'P' {
		return -1
	}
	tens, ones := id[1]-'0', id[2]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}

// threeDigits returns the n of which id is the game.PlayerID, "P100" to "P999",
// or -1.
func threeDigits(id string) int {
	if len(id) != 4 || id[0] != 'P' || id[1] == '0' {
		return -1
	}
	n := 0
	for _, c := range []byte(id[1:]) {
		digit := c - '0'
		if digit > 9 {
			return -1
		}
		n = n*10 + int(digit)
	}
	return n
}
