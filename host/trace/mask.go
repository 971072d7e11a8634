package trace

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/credential"
)

// secretMembers are the members whose strings are credentials: those of
// league.v2, and those that agents in the wild use besides.
var secretMembers = map[string]bool{
	"auth_token": true, "authToken": true, "token": true, "access_token": true, "admin_token": true,
	"player_token": true, "referee_token": true, "provided_token": true,
	"authorization": true, "Authorization": true, "api_key": true, "password": true, "secret": true,
	"send": true, "expect": true, // a pair of match keys
}

// tokenShape matches the tokens of league.v2 anywhere in a text, such as an
// error message.
var tokenShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:tok|admin)-[A-Za-z0-9_.-]*[A-Za-z0-9_-]{16,}`) })

// looseMember finds credentials in bodies that are not valid JSON.
var looseMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(auth_token|token|admin_token|provided_token)"\s*:\s*"([^"\\]+)"`)
})

// minSecret is the length of the shortest secret that is masked outside of its
// own member: shorter ones occur by chance.
const minSecret = 8

// maxNested bounds the search in JSON inside of JSON strings.
const maxNested = 4

// masker replaces each secret by a name, always the same one, so that a reader
// still sees who used whose token. It is for one goroutine.
type masker struct {
	names map[string]string // by secret
	// starts holds the secrets to look for in any text, by how they begin: a league has
	// thousands, and every message is searched.
	starts map[[minSecret]byte][]string
}

func newMasker() *masker {
	return &masker{names: map[string]string{}, starts: map[[minSecret]byte][]string{}}
}

// name returns the name of a secret. It keeps the token's owner:
// "tok-P01-masked-3".
func (m *masker) name(secret string) string {
	if strings.Contains(secret, "masked-") || secret == "" {
		return secret
	}
	if name, ok := m.names[secret]; ok {
		return name
	}
	name := fmt.Sprintf("%smasked-%d", strings.TrimSuffix(credential.Mask(secret), "***"), len(m.names)+1)
	m.names[secret] = name
	if len(secret) >= minSecret {
		start := [minSecret]byte([]byte(secret))
		m.starts[start] = append(m.starts[start], secret)
	}
	return name
}

// mask returns a copy of body without secrets and otherwise unchanged, byte for byte.
func (m *masker) mask(body []byte) []byte {
	out, err := m.json(body, 0)
	if err != nil {
		out = looseMember().ReplaceAllFunc(body, func(found []byte) []byte {
			parts := looseMember().FindSubmatch(found)
			return bytes.Replace(found, parts[2], []byte(m.name(string(parts[2]))), 1)
		})
	}
	return m.text(out)
}

// text returns a copy in which known secrets are masked, and everything shaped like a token.
func (m *masker) text(b []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i+minSecret <= len(b); i++ {
		for _, secret := range m.starts[[minSecret]byte(b[i:])] {
			if bytes.HasPrefix(b[i:], []byte(secret)) {
				out = append(append(out, b[copied:i]...), m.names[secret]...)
				copied = i + len(secret)
				i = copied - 1
				break
			}
		}
	}
	out = append(out, b[copied:]...)
	return tokenShape().ReplaceAllFunc(out, func(found []byte) []byte { return []byte(m.name(string(found))) })
}

// json masks the values of secret members, also in strings that contain JSON.
func (m *masker) json(body []byte, nested int) ([]byte, error) {
	var out []byte
	copied, member := 0, ""
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		container, n := dec.StackIndex(dec.StackDepth())
		before := int(dec.InputOffset())
		token, err := dec.ReadToken()
		switch {
		case err == io.EOF:
			return append(out, body[copied:]...), nil
		case err != nil:
			return body, err
		case token.Kind() != '"':
			continue
		}
		text := token.String()
		masked := text
		switch inner := strings.TrimSpace(text); {
		case container == '{' && n%2 == 0:
			member = text
		case container == '{' && secretMembers[member]:
			masked = m.name(text)
		case nested < maxNested && len(inner) > 1 && (inner[0] == '{' || inner[0] == '['):
			whole, _ := m.json([]byte(text), nested+1) // unchanged on an error
			masked = string(whole)
		}
		if masked == text {
			continue
		}
		start := before + bytes.IndexByte(body[before:], '"') // only white space and a comma or colon come first
		if out, err = jsontext.AppendQuote(append(out, body[copied:start]...), masked); err != nil {
			return body, err
		}
		copied = int(dec.InputOffset())
	}
}
