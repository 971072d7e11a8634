package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/host/disk"
)

// SourcesFolder is the folder of a run with the scripts that it was played with.
const SourcesFolder = "sources"

// errNoScript reports a player without a script that a run could keep.
var errNoScript = errors.New("the player has no script with a fingerprint")

// SourceFile is where the run in a folder keeps the script of a player.
func SourceFile(folder string, e Entrant) (string, error) {
	sum, err := hex.DecodeString(e.Fingerprint)
	if err != nil || len(sum) != sha256.Size || e.Source == "" { // else a plan could name any file
		return "", errNoScript
	}
	return filepath.Join(folder, SourcesFolder, e.Fingerprint+filepath.Ext(e.Source)), nil
}

// KeepSource writes the script of a player to the folder of a run, unless it is there.
// The source must be the one that the player's fingerprint is of.
func KeepSource(folder string, e Entrant, source []byte) error {
	if _, err := ReadSource(folder, e); err == nil {
		return nil
	}
	name, err := SourceFile(folder, e)
	if err == nil && !e.Played(source) {
		err = fmt.Errorf("%s is not the code that plays", e.Source)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name, source, 0o644) // ReadSource notices a torn file
	}
	if err != nil {
		return fmt.Errorf("keep the script of %s: %w", e.Name, err)
	}
	return nil
}

// maxSource bounds what is read of a script that was kept; the largest that can be played
// are modules of some MiB.
const maxSource = 64 << 20

// ReadSource returns the script that a player of the run in a folder was played with.
// The error wraps fs.ErrNotExist if the run does not have it.
func ReadSource(folder string, e Entrant) ([]byte, error) {
	name, err := SourceFile(folder, e)
	if err != nil {
		return nil, fmt.Errorf("read the script of %s: %w: %w", e.Name, err, fs.ErrNotExist)
	}
	source, _, err := disk.ReadFile(name, maxSource)
	if err != nil {
		return nil, fmt.Errorf("read the script of %s: %s: %w", e.Name, name, err)
	}
	if !e.Played(source) {
		return nil, fmt.Errorf("read the script of %s: %s is damaged: %w", e.Name, name, fs.ErrNotExist)
	}
	return source, nil
}

// Played reports whether source is the script that the player was played with.
func (e Entrant) Played(source []byte) bool {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:]) == e.Fingerprint
}
