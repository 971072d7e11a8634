package credential

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	cup    = "autumn_cup"
	heron  = "P01"
	otter  = "P02"
	refOne = "REF01"
)

// sampleToken returns the token of an agent; its randomness is the agent's id over and over.
func sampleToken(agent string) string {
	token, err := NewToken(strings.NewReader(strings.Repeat(agent, tokenBytes)), agent)
	if err != nil {
		panic(err) // the source above never runs dry
	}
	return token
}

// The expected values of this test were computed with OpenSSL 3:
//
//	printf %s "$token" | openssl dgst -sha256
//	printf %s 'league.v2|ref|autumn_cup|R1M1|REF01' | openssl dgst -sha256 -mac HMAC -macopt hexkey:$V
func TestKeys(t *testing.T) {
	const token = "tok-P01-0123456789abcdef0123456789abcdef01234567"
	v := NewVerifier(token)
	keys := v.MatchKeys("autumn_cup", "R1M1", "REF01")
	for _, tt := range []struct{ what, got, want string }{
		{"V", v.String(), "2414af969f007139b93ad6cd37509653d4f7ff61be8e060fccf7e10ff26b0d3e"},
		{"Ks", keys.Send, "d2f1caef6c197a6a611b1ebdd8a519605d9b42302404e78d6a9905df56a42918"},
		{"Kp", keys.Expect, "83a7edafa69f015ef59110575a297991e2e2563d46098beac9e09dd24bb0dbff"},
		{"manager token", v.ManagerToken("autumn_cup"), "tok-LM-fcf84e60cbd7dbfff13865aa4553c49601e3a94524ca009933e40d45990ab4a6"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %s, want %s", tt.what, tt.got, tt.want)
		}
	}
}

func TestNewToken(t *testing.T) {
	a, err := NewToken(strings.NewReader(strings.Repeat("a", tokenBytes)), heron)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^tok-P01-[0-9a-f]{32,}$`).MatchString(a) {
		t.Errorf("token %s has the wrong form, or fewer than 128 random bits", a)
	}
	b, err := NewToken(strings.NewReader(strings.Repeat("b", tokenBytes)), heron)
	if err != nil || a == b {
		t.Errorf("tokens %s and %s, %v", a, b, err)
	}
	if _, err := NewToken(iotest.ErrReader(errors.New("dry")), heron); err == nil || !strings.Contains(err.Error(), "dry") {
		t.Errorf("a source that fails gives %v", err)
	}
	if _, err := NewToken(strings.NewReader("short"), heron); err == nil {
		t.Error("a source that runs dry makes a token")
	}
}

func TestVerifier(t *testing.T) {
	token := sampleToken(heron)
	v := NewVerifier(token)
	if !v.Verify(token) || v.Verify(token+"x") || v.Verify("") || v.Verify(sampleToken(otter)) {
		t.Error("the verifier does not tell its token from others")
	}
	again, err := ParseVerifier(v.String())
	if err != nil || again != v {
		t.Errorf("ParseVerifier gives %v, %v", again, err)
	}
	for _, bad := range []string{"", "zz", v.String()[2:], v.String() + "00"} {
		if _, err := ParseVerifier(bad); err == nil {
			t.Errorf("%q is read as a verifier", bad)
		}
	}
}

// TestMatchKeysAsAnAttacker: a key is good for one player, one match, one
// league, one referee and one direction, and says nothing of the token.
func TestMatchKeysAsAnAttacker(t *testing.T) {
	v := NewVerifier(sampleToken(heron))
	keys := v.MatchKeys(cup, "R1M1", refOne)
	seen := map[string]string{keys.Send: "Ks", keys.Expect: "Kp", sampleToken(heron): "the token", v.String(): "V"}
	if len(seen) != 4 {
		t.Fatal("two of token, verifier and keys are the same")
	}
	for what, other := range map[string]KeyPair{
		"another match":   v.MatchKeys(cup, "R1M2", refOne),
		"another league":  v.MatchKeys("spring_cup", "R1M1", refOne),
		"another referee": v.MatchKeys(cup, "R1M1", "REF02"),
		"another player":  NewVerifier(sampleToken(otter)).MatchKeys(cup, "R1M1", refOne),
	} {
		for _, key := range []string{other.Send, other.Expect} {
			if was := seen[key]; was != "" {
				t.Errorf("the key of %s is %s of this one", what, was)
			}
		}
	}
	accepts := func(signed string) bool { return keys.AcceptsPlayer(signed, cup, "R1M1", refOne) }
	if !accepts(keys.Expect) || !accepts(sampleToken(heron)) {
		t.Error("the player's key or its own token is refused")
	}
	for what, signed := range map[string]string{
		"nothing":                     "",
		"the referee's key":           keys.Send,
		"the verifier":                v.String(),
		"the opponent's token":        sampleToken(otter),
		"the opponent's key":          NewVerifier(sampleToken(otter)).MatchKeys(cup, "R1M1", refOne).Expect,
		"the key of another match":    v.MatchKeys(cup, "R2M1", refOne).Expect,
		"the manager's token":         v.ManagerToken(cup),
		"the key in capital letters":  strings.ToUpper(keys.Expect),
		"the key with something more": keys.Expect + " ",
	} {
		if accepts(signed) {
			t.Errorf("a referee takes %s for the player's signature", what)
		}
	}
	if (KeyPair{}).AcceptsPlayer("", cup, "R1M1", refOne) {
		t.Error("no signature fits no key")
	}
}

// The manager's token is that of one agent in one league.
func TestManagerToken(t *testing.T) {
	v := NewVerifier(sampleToken(heron))
	token := v.ManagerToken(cup)
	if !SameToken(token, v.ManagerToken(cup)) || SameToken(token, v.ManagerToken("spring_cup")) ||
		SameToken(token, NewVerifier(sampleToken(otter)).ManagerToken(cup)) || SameToken("", "") {
		t.Error("the manager's token changes, or is that of another agent or league")
	}
}

func TestMask(t *testing.T) {
	for token, want := range map[string]string{
		"":                              "",
		sampleToken(heron):              "tok-P01-***",
		"tok-LM-0123456789abcdef":       "tok-LM-***",
		"tok-agent-with-dashes-0123456": "tok-agent-with-dashes-***",
		"tok_p01_xyz789":                "***",
		"tok-0123456":                   "***",
		"0123456789abcdef":              "***",
		"tok-" + strings.Repeat("a", 70) + "-0123": "***",
	} {
		if got := Mask(token); got != want {
			t.Errorf("Mask(%q) = %q, want %q", token, got, want)
		}
	}
}
