package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/journal/journaltest"
)

// TestCrashOfAJournal cuts a journal at every byte, as a kill in the middle of a write does, and
// flips every bit of it: it opens with a prefix of its events, and says so if something is cut off;
// or it is refused with the file and the byte, and left as it is. A plain run cuts at the places of
// journaltest.Cuts and flips one bit in every seventh byte.
func TestCrashOfAJournal(t *testing.T) {
	whole := threeEvents(t)
	name := filepath.Join(t.TempDir(), "journal")
	must(t, os.WriteFile(name, whole, 0o600))
	j, all := mustOpen(t, name)
	must(t, j.Close())
	var cases, repaired, refused int
	check := func(what string, content []byte, kept int) {
		t.Helper()
		cases++
		must(t, os.WriteFile(name, content, 0o600))
		j, found, err := journal.Open(name, journal.Config{NoSync: true})
		if err != nil {
			refused++
			if kept >= 0 || !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "(byte ") {
				t.Errorf("%s: %v, want ErrDamaged with file and byte", what, err)
			}
			if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, content) {
				t.Errorf("%s: the damaged file was changed (%v)", what, err)
			}
			return
		}
		if kept >= 0 {
			err = j.Append(t.Context(), "after", nil)
		}
		must(t, err, j.Close())
		if clean := len(content) == 0 || content[len(content)-1] == '\n'; kept >= 0 && clean != (found.Repaired == "") {
			t.Errorf("%s: repaired %q", what, found.Repaired)
		}
		again, more := mustOpen(t, name)
		_ = again.Close()
		if kept >= 0 && (len(more.Events) != kept+1 || more.Repaired != "") {
			t.Errorf("%s: after the repair %d events, repaired %q", what, len(more.Events), more.Repaired)
		}
		if kept >= 0 && len(found.Events) != kept {
			t.Errorf("%s: %d events, want %d", what, len(found.Events), kept)
		}
		for i, e := range found.Events {
			if e.Seq != all.Events[i].Seq || e.Type != all.Events[i].Type || !bytes.Equal(e.Data, all.Events[i].Data) {
				t.Errorf("%s: event %d is %+v, want %+v", what, i+1, e, all.Events[i])
			}
		}
		if found.Repaired != "" {
			repaired++
		} else if kept < 0 && len(found.Events) < len(all.Events) {
			t.Errorf("%s: opened with %d events, and nothing said of the rest", what, len(found.Events))
		}
	}
	for _, at := range journaltest.Cuts(whole, os.Getenv("WHOLE_TESTS") != "") {
		check(fmt.Sprintf("cut at %d", at), whole[:at], bytes.Count(whole[:at], []byte("\n")))
	}
	for at := range whole {
		for bit := range 8 {
			if os.Getenv("WHOLE_TESTS") == "" && (bit != at%8 || at%7 != 0) {
				continue
			}
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << bit
			check(fmt.Sprintf("bit %d of byte %d flipped", bit, at), flipped, -1)
		}
	}
	t.Logf("crash: journal: %d cases, %d repaired with a warning, %d refused with file and byte", cases, repaired, refused)
}
