package assistants

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func (l *labTools) save(ctx context.Context, in SaveInput, _ meter) (SaveOutput, error) {
	kind, ok := kindOf(in.Language)
	if !ok || !isName(in.Name) {
		return SaveOutput{}, mistake("language must be lua or js, and name must be a valid name")
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	f, err := l.cfg.lab.LoadScript(l.cfg.supply, in.Name, kind, []byte(in.Source))
	if err != nil {
		return SaveOutput{}, fmt.Errorf("nothing was written: the script does not load: %w", err)
	}
	if err := f.Close(); err != nil {
		return SaveOutput{}, err
	}
	file := in.Name + extension(kind)
	if err := l.free(ctx, in.Name, file); err != nil {
		return SaveOutput{}, err
	}
	replaced, err := l.write(file, in.Source, in.Overwrite)
	if err != nil {
		return SaveOutput{}, err
	}
	out := SaveOutput{Name: in.Name, File: filepath.ToSlash(filepath.Join(l.cfg.scriptsName, file)), Replaced: replaced}
	out.Summary = fmt.Sprintf("Wrote %s; its name is %s.", out.File, out.Name)
	return out, nil
}

// free refuses the name of another strategy.
func (l *labTools) free(ctx context.Context, name, file string) error {
	cat, err := l.cfg.lab.Load(ctx, l.cfg.supply)
	if err != nil {
		return err
	}
	defer cat.Close() // nothing was loaded
	for _, e := range cat.Entries() {
		if e.Info.Name == name && (e.Info.Source == "" || filepath.Base(e.Info.Source) != file) {
			return mistake("another strategy is called %s (%s); choose another name", name, origin(e.Info))
		}
	}
	return nil
}

// write writes a script into the folder and follows no links out of it. It replaces
// only a regular file, and only with overwrite.
func (l *labTools) write(file, source string, overwrite bool) (replaced bool, err error) {
	if err := os.MkdirAll(l.cfg.scripts, 0o755); err != nil {
		return false, fmt.Errorf("make the folder of scripts %s: %w", l.cfg.scriptsName, bare(err))
	}
	root, err := os.OpenRoot(l.cfg.scripts)
	if err != nil {
		return false, fmt.Errorf("open the folder of scripts %s: %w", l.cfg.scriptsName, bare(err))
	}
	defer root.Close()
	info, err := root.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", file, bare(err))
	case !info.Mode().IsRegular():
		return false, mistake("%s is not a regular file", file)
	case !overwrite:
		return false, mistake("script %s already exists; choose another name, or set overwrite: true to replace it", file)
	default:
		replaced = true
	}
	draft := "." + file + ".new" // hidden files are no scripts
	if err := root.WriteFile(draft, []byte(source), 0o644); err != nil {
		return false, fmt.Errorf("write %s: %w", file, bare(err))
	}
	if err := root.Rename(draft, file); err != nil {
		return false, errors.Join(fmt.Errorf("write %s: %w", file, bare(err)), root.Remove(draft))
	}
	return replaced, nil
}
