package draws

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

func sample() *Match {
	return &Match{League: "cup", ID: "R1M1", Round: 1, Players: [2]Player{
		{"P01", "even", "00112233445566778899aabbccddeeff"}, {"P02", "odd", ""},
	}}
}

func key(i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return hex.EncodeToString(sum[:])
}

// TestKnownAnswers pins the construction: other programs implement it, too.
func TestKnownAnswers(t *testing.T) {
	c, err := sample().Commitment(key(1))
	if want := "35a2bb3e112786b2e174000a6a278f912d53f5307e2e7ec3e69188df2cbbd164"; err != nil || c != want {
		t.Errorf("commitment %s, %v; want %s", c, err, want)
	}
	var numbers []int
	for i := range 10 {
		n, err := sample().Number(key(i))
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	if got, want := numbers, [10]int{8, 4, 9, 9, 8, 10, 3, 2, 7, 9}; [10]int(got) != want {
		t.Errorf("numbers %v, want %v", got, want)
	}
}

// TestBinds changes each part of a match: the commitment is that of another match,
// or the number is drawn independently.
func TestBinds(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Match)
		opens  bool
	}{
		"league":       {func(m *Match) { m.League = "cup2" }, false},
		"match":        {func(m *Match) { m.ID = "R1M2" }, false},
		"round":        {func(m *Match) { m.Round = 2 }, false},
		"player":       {func(m *Match) { m.Players[1].ID = "P03" }, false},
		"moved border": {func(m *Match) { m.League, m.ID = "cupR", "1M1" }, false},
		"the order":    {func(m *Match) { m.Players[0], m.Players[1] = m.Players[1], m.Players[0] }, true},
		"own choice":   {func(m *Match) { m.Players[0].Choice = "odd" }, true},
		"other choice": {func(m *Match) { m.Players[1].Choice = "even" }, true},
		"nonce":        {func(m *Match) { m.Players[0].Nonce = "" }, true},
		"whose nonce": {func(m *Match) {
			m.Players[0].Nonce, m.Players[1].Nonce = m.Players[1].Nonce, m.Players[0].Nonce
		}, true},
	} {
		changed := sample()
		test.change(changed)
		same := 0
		for i := range 1000 {
			m, k := sample(), key(i)
			commitment, _ := m.Commitment(k)
			number, _ := m.Number(k)
			err := changed.Verify(commitment, k, number)
			if opened := !errors.Is(err, ErrCommitment); opened != test.opens {
				t.Fatalf("%s, key %d: %v", name, i, err)
			}
			if n, _ := changed.Number(k); n == number {
				same++
			}
		}
		// The mean is 100 and the standard deviation 9.5; the keys are fixed. The order has no meaning.
		if (same < 60 || same > 140) && (name != "the order" || same != 1000) {
			t.Errorf("%s: %d of 1000 numbers are the same", name, same)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	m, k := sample(), key(7)
	c, _ := m.Commitment(k)
	n, _ := m.Number(k)
	tests := map[string]struct {
		commitment, key string
		number          int
		want            error
	}{
		"honest":      {c, k, n, nil},
		"no key":      {c, "", n, ErrNoKey},
		"short key":   {c, k[2:], n, ErrBadKey},
		"long key":    {c, k + "00", n, ErrBadKey}, // HMAC would pad the short one with it
		"upper case":  {c, strings.ToUpper(k), n, ErrBadKey},
		"another key": {c, key(8), n, ErrCommitment},
		"no promise":  {"", k, n, ErrCommitment},
		"redrawn":     {c, k, n%10 + 1, ErrNumber},
	}
	for name, test := range tests {
		if err := m.Verify(test.commitment, test.key, test.number); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestRandomness(t *testing.T) {
	a, b := NewKey(), NewKey()
	if _, err := readKey(a); err != nil || a == b {
		t.Errorf("keys %s and %s: %v", a, b, err)
	}
	n := NewNonce()
	if !ValidNonce(n) || n == NewNonce() || ValidNonce("") || ValidNonce("AB") || ValidNonce(strings.Repeat("a", maxNonce+1)) {
		t.Errorf("nonce %s", n)
	}
}

// critical is the 1 - 1e-6 quantile of the chi-square distribution with 9 degrees
// of freedom, as in host/game.
const critical = 44.81

// TestUniform tests the numbers of fixed keys for their distribution: a million of them in
// the whole pass.
func TestUniform(t *testing.T) {
	draws := 20_000
	if os.Getenv("WHOLE_TESTS") != "" {
		draws = 1_000_000
	}
	var seen [11]float64
	m := sample()
	for i := range draws {
		n, err := m.Number(key(i))
		if err != nil {
			t.Fatal(err)
		}
		seen[n]++
	}
	x := 0.0
	for n := 1; n <= 10; n++ {
		want := float64(draws) / 10
		x += (seen[n] - want) * (seen[n] - want) / want
	}
	t.Logf("chi-square %.1f of %d numbers", x, draws)
	if x > critical {
		t.Errorf("chi-square %.1f, want at most %.1f: %v", x, critical, seen[1:])
	}
}
