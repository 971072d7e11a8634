package assistants

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/disk"
)

const (
	reportsFolder = "reports"
	sourcesFolder = "sources"
	reportText    = "report.txt"

	idTime = "20060102T150405.000"

	// longest is longer than any experiment takes.
	longest = 48 * time.Hour

	// maxReport limits the reports that are served, in bytes.
	maxReport = 4 << 20
)

// store keeps the folders of finished experiments, DATA/reports/ID. No link leads
// out of its root.
type store struct {
	folder, name string // of the data; as the user wrote it
	keep         int
}

// newID names an experiment by the time, so that names sort by age, and by a random
// number, so that two of one moment differ.
func newID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(b[:])
}

// madeAt returns the time of an id; false if newID did not make it.
func madeAt(id string) (time.Time, bool) {
	stamp, chance, _ := strings.Cut(id, "-")
	made, err := time.Parse(idTime, stamp)
	return made, err == nil && len(chance) == 8
}

// path is the folder of a report as the user knows it.
func (s *store) path(id string) string { return filepath.Join(s.name, reportsFolder, id) }

// begin makes the folder of a report with the sources of its players and returns
// its path.
func (s *store) begin(id string, sources map[string]string) (dir string, err error) {
	if err = os.MkdirAll(s.folder, 0o755); err == nil {
		err = s.in(func(root *os.Root) error {
			folder := filepath.Join(reportsFolder, id, sourcesFolder)
			err := root.MkdirAll(folder, 0o755)
			for name, source := range sources {
				err = errors.Join(err, root.WriteFile(filepath.Join(folder, name), []byte(source), 0o644))
			}
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("create the folder of the report in %s: %w", s.name, disk.Pathless(err))
	}
	return filepath.Join(s.folder, reportsFolder, id), nil
}

// in calls f with the folder of the data.
func (s *store) in(f func(root *os.Root) error) error {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}

func (s *store) write(id, file string, content []byte) error {
	return s.in(func(root *os.Root) error {
		return root.WriteFile(filepath.Join(reportsFolder, id, file), content, 0o644)
	})
}

// read returns a file of a report; the error is fs.ErrNotExist if the report does
// not exist.
func (s *store) read(id, file string) (content []byte, err error) {
	if !isID(id) {
		return nil, fs.ErrNotExist
	}
	err = s.in(func(root *os.Root) (err error) {
		content, err = disk.ReadIn(root, filepath.Join(reportsFolder, id, file), maxReport)
		return err
	})
	return content, disk.Pathless(err)
}

func (s *store) discard(id string) error {
	return s.in(func(root *os.Root) error { return root.RemoveAll(filepath.Join(reportsFolder, id)) })
}

// folders returns the ids of the folders of reports, newest first: of those that
// are finished, and of the others.
func (s *store) folders() (finished, others []string, err error) {
	err = s.in(func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), reportsFolder) // sorted by name
		for _, e := range slices.Backward(entries) {
			if !e.IsDir() || !isID(e.Name()) {
				continue
			}
			if info, err := root.Lstat(filepath.Join(reportsFolder, e.Name(), reportText)); err == nil && info.Mode().IsRegular() {
				finished = append(finished, e.Name())
			} else {
				others = append(others, e.Name())
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return finished, others, err
}

// prune removes the oldest finished reports beyond the limit, and what killed
// servers left behind. Folders that newID did not name stay.
func (s *store) prune(now time.Time) error {
	finished, others, err := s.folders()
	if err != nil {
		return err
	}
	var old []string
	for _, id := range finished[min(len(finished), s.keep):] {
		if _, ours := madeAt(id); ours {
			old = append(old, id)
		}
	}
	for _, id := range others {
		if made, ours := madeAt(id); ours && now.Sub(made) > longest {
			old = append(old, id)
		}
	}
	return s.in(func(root *os.Root) (err error) {
		for _, id := range old {
			err = errors.Join(err, root.RemoveAll(filepath.Join(reportsFolder, id)))
		}
		return err
	})
}
