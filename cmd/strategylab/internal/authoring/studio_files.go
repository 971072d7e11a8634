package authoring

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/web/studio"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Bounds of a studio, whatever flags say.
const (
	mostFiles   = 100 // scripts of a folder that the studio adds to
	mostListed  = 500 // of a folder
	mostWaiting = 64  // trials or checks that wait, of all teams
	mostOfTeam  = 8   // of one team
)

// workshop is the lab of one folder. It implements studio.Lab.
type workshop struct {
	lab           lab.Lab
	supply        lab.Supply // scripts are isolated
	folder        lab.Folder
	tries, checks [2]*lab.Queue // of this folder, and of all
	maxRuns       int
	maxTime       time.Duration

	saving sync.Mutex
}

// Scripts implements studio.Lab.
func (w *workshop) Scripts(context.Context) ([]studio.Script, error) {
	files, err := w.folder.Files()
	if err != nil {
		return nil, err
	}
	var list []studio.Script
	for _, f := range files {
		name := f.Name()
		ext := strings.ToLower(filepath.Ext(name))
		if f.IsDir() || name[0] == '.' || !slices.Contains([]string{".lua", ".js", ".wasm"}, ext) || len(list) == mostListed {
			continue
		}
		s := studio.Script{File: name}
		_, _, invalid := scriptFile(name)
		switch info, err := f.Info(); {
		case err != nil:
			continue // it is gone
		case ext == ".wasm":
			s.Why = "compiled; not for this editor"
		case invalid != nil:
			s.File, s.Why = words.Printable(name), "its name is not that of a strategy"
		case !info.Mode().IsRegular():
			s.Why = "not a regular file"
		case info.Size() > catalog.MaxSource:
			s.Why = fmt.Sprintf("longer than %d KiB", catalog.MaxSource>>10)
		default:
			s.Size = words.Plain.Plural(info.Size(), "byte")
		}
		list = append(list, s)
	}
	return list, nil
}

// scriptFile takes the name of a file apart that can be edited here. Such a name is in
// the folder.
func scriptFile(file string) (name string, kind strategies.Kind, err error) {
	name, ext, _ := strings.Cut(file, ".")
	kind = strategies.Kind(ext)
	if kind != strategies.Lua && kind != strategies.JavaScript || !lab.IsName(name) {
		return "", "", fmt.Errorf("invalid file name %q: want at most 40 letters, digits, - and _, then .lua or .js", strategies.OneLine(file, 60))
	}
	return name, kind, nil
}

// versionOf identifies the content of a file.
func versionOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// Open implements studio.Lab.
func (w *workshop) Open(_ context.Context, file string) (studio.Text, error) {
	if _, _, err := scriptFile(file); err != nil {
		return studio.Text{}, err
	}
	content, err := w.folder.Read(file, catalog.MaxSource)
	if err != nil {
		return studio.Text{}, err
	}
	if !utf8.Valid(content) {
		return studio.Text{}, fmt.Errorf("%s is not UTF-8 text; convert it first", file)
	}
	return studio.Text{File: file, Source: string(content), Version: versionOf(content)}, nil
}

// New implements studio.Lab.
func (w *workshop) New(ctx context.Context, file string) (studio.Text, error) {
	name, kind, err := scriptFile(file)
	if err != nil {
		return studio.Text{}, err
	}
	template, err := templates.ReadFile("templates/new." + string(kind))
	if err != nil {
		return studio.Text{}, err
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	if err := w.lab.Free(ctx, w.supply, name, file); err != nil {
		return studio.Text{}, err
	}
	if err := w.room(); err != nil {
		return studio.Text{}, err
	}
	content := []byte(strings.ReplaceAll(string(template), "NAME", name))
	if _, err := w.folder.Write(file, content, nil); errors.Is(err, fs.ErrExist) {
		return studio.Text{}, fmt.Errorf("%s already exists; choose another name", file)
	} else if err != nil {
		return studio.Text{}, err
	}
	return studio.Text{File: file, Source: string(content), Version: versionOf(content)}, nil
}

// room refuses a further file in a full folder.
func (w *workshop) room() error {
	files, err := w.folder.Files()
	if err == nil && len(files) >= mostFiles {
		err = fmt.Errorf("the folder has %d files, which is the limit; delete some on the machine of the studio", len(files))
	}
	return err
}

// Save implements studio.Lab. Programs that write the file between its comparison and
// its replacement are not seen.
func (w *workshop) Save(_ context.Context, d studio.Draft, version string) (studio.Text, error) {
	if _, _, err := scriptFile(d.File); err != nil {
		return studio.Text{}, err
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	if _, err := w.folder.Read(d.File, 0); errors.Is(err, fs.ErrNotExist) {
		if err := w.room(); err != nil {
			return studio.Text{}, err
		}
	}
	_, err := w.folder.Write(d.File, []byte(d.Source), func(old []byte) error {
		if versionOf(old) != version {
			return fmt.Errorf("%s was not saved: %w; keep a copy of your text, open the file again and put them together", d.File, studio.ErrConflict)
		}
		return nil
	})
	if err != nil {
		return studio.Text{}, err
	}
	return studio.Text{File: d.File, Version: versionOf([]byte(d.Source))}, nil
}

// Field implements studio.Lab.
func (w *workshop) Field(ctx context.Context) ([]studio.Opponent, error) {
	cat, err := w.lab.Load(ctx, w.supply)
	if err != nil {
		return nil, err
	}
	defer cat.Close() // nothing was played
	var all []studio.Opponent
	for _, e := range cat.Entries() {
		if e.Err == nil && lab.IsName(e.Info.Name) && len(all) < mostListed {
			all = append(all, studio.Opponent{Name: e.Info.Name, About: e.Info.Title, Chosen: slices.Contains(lab.Opponents(), e.Info.Name)})
		}
	}
	return all, nil
}
