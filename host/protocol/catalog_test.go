package protocol

import "testing"

// TestCatalog: every type is described, with an answer that exists, and no name stands
// for two types. TestReferencePage holds methods, answers and roles to the page.
func TestCatalog(t *testing.T) {
	t.Parallel()
	owner := make(map[string]Type)
	for _, typ := range Types() {
		d, ok := Describe(typ)
		if !ok || d.Type != typ || d.Title == "" || len(d.From) == 0 || d.Answer != "" && catalog().types[d.Answer] == nil {
			t.Errorf("%s is described as %+v", typ, d)
		}
		registers := typ == TypeLeagueRegisterRequest || typ == TypeRefereeRegisterRequest
		if wants := d.Method != "" && !registers; d.Auth != wants || d.Method == "" && d.Answer != "" {
			t.Errorf("%s wants a token: %v, and is answered with %q", typ, d.Auth, d.Answer)
		}
		if h := New(typ).Head(); h.MessageType != typ || h.Protocol != Version {
			t.Errorf("New(%s) has the header %+v", typ, h)
		}
		for _, name := range d.Names {
			if found, ok := TypeOfMethod(name); owner[name] != "" || !ok || found != typ {
				t.Errorf("%s stands for %s and %s, and is found as %s", name, owner[name], typ, found)
			}
			owner[name] = typ
		}
	}
	_, described := Describe("NO_SUCH_TYPE")
	_, found := TypeOfMethod("no_such_method")
	if _, err := Schema("NO_SUCH_TYPE", Strict); described || found || New("NO_SUCH_TYPE") != nil || err == nil {
		t.Error("a type that does not exist is known")
	}
}
