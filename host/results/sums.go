package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/host/disk"
)

// SumsFile is the file of a run without records; FORMAT.md describes it.
const SumsFile = "sums.json"

// SumsSchema is the version of that file.
const SumsSchema = "strategylab/sums/v1"

// RecordsNone is Plan.Records of a run whose folder has no leagues.bin.
const RecordsNone = "none"

// Sums is what a run without records keeps of its leagues.
type Sums struct {
	Leagues      int             `json:"leagues"`
	Matches      int             `json:"matches"`
	Reproducible bool            `json:"reproducible"`      // no fault depended on the clock or the machine
	Quarantined  []int           `json:"quarantined"`       // after the last league: field indices, ascending
	Digest       string          `json:"digest,omitempty"`  // see Hasher; empty for a merged run
	Analysis     json.RawMessage `json:"analysis,omitzero"` // sums of package analysis
}

// ErrNoRecords reports that a run without records was to be read league by league.
var ErrNoRecords = errors.New("keeps sums and no leagues (--records none); play it again without that flag for everything that needs single leagues")

// sumsFile is the content of SumsFile.
type sumsFile struct {
	Schema string          `json:"schema"`
	Plan   string          `json:"plan"`   // Plan.Hash
	SHA256 string          `json:"sha256"` // of Sums without white space
	Sums   json.RawMessage `json:"sums"`
}

// KeepSums writes the sums of a complete run without records.
func (d *Dir) KeepSums(s Sums) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keep sums: %w", err)
	}
	hash := d.plan.Hash()
	file, err := json.Marshal(sumsFile{SumsSchema, hex.EncodeToString(hash[:]), checksum(text), text})
	if err != nil {
		return fmt.Errorf("keep sums: %w", err)
	}
	return disk.WriteFile(filepath.Join(d.path, SumsFile), append(file, '\n'), 0o644)
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxSums bounds the file of sums, which grows with the pairs of a field: a thousand
// strategies take some 100 MiB.
const maxSums = 1 << 30

// ReadSums reads the folder of a run without records. The error wraps fs.ErrNotExist if
// the file does not exist or is not complete; the plan is valid in the latter case.
func ReadSums(path string) (Plan, Sums, error) {
	var s Sums
	plan, err := readPlan(filepath.Join(path, PlanFile))
	if err != nil {
		return plan, s, err
	}
	if plan.Records != RecordsNone {
		return plan, s, errors.New("keeps leagues and no sums (without --records none); play all shards with the same --records")
	}
	name := filepath.Join(path, SumsFile)
	text, _, err := disk.ReadFile(name, maxSums)
	if err != nil {
		return plan, s, fmt.Errorf("read sums %s: %w", name, err)
	}
	bad := func(err error) (Plan, Sums, error) {
		return plan, s, fmt.Errorf("%s: %w; play the run again", name, err)
	}
	var file sumsFile
	if err := json.Unmarshal(text, &file); err != nil {
		return bad(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, file.Sums); err != nil {
		return bad(err)
	}
	hash := plan.Hash()
	first, end := plan.Span()
	switch got := checksum(compact.Bytes()); {
	case file.Schema != SumsSchema:
		return bad(fmt.Errorf("schema %q, want %q", file.Schema, SumsSchema))
	case file.Plan != hex.EncodeToString(hash[:]):
		return bad(fmt.Errorf("sums of another plan than %s", PlanFile))
	case file.SHA256 != got:
		return bad(fmt.Errorf("bad checksum: SHA-256 %s, want %s", got, file.SHA256))
	}
	if err := json.Unmarshal(file.Sums, &s); err != nil {
		return bad(err)
	}
	if s.Leagues != end-first {
		return bad(fmt.Errorf("sums of %d leagues, want %d", s.Leagues, end-first))
	}
	return plan, s, nil
}

// unfinished reports whether a folder holds the beginning of the same run without
// records: one that came to no end, of which nothing is left but its plan.
func (d *Dir) unfinished() bool {
	was, err := readPlan(filepath.Join(d.path, PlanFile))
	if err != nil || was.Records != RecordsNone || d.plan.Records != RecordsNone || was.SameRun(d.plan) != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(d.path, SumsFile))
	return os.IsNotExist(err)
}
