package assistants

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Bounds of answers: bytes of a source, strategies in a list, and bytes of each
// description there.
const (
	maxShown  = 64 << 10
	maxListed = 500
	maxSaid   = 400
)

// complete reads the script of a catalog entry and adds its description.
func (l *labTools) complete(ctx context.Context, e *catalog.Entry) (source []byte) {
	if e.Err != nil || !e.Info.Kind.Script() {
		return nil
	}
	source, err := l.cfg.folder.Read(filepath.Base(e.Info.Source), catalog.MaxSource)
	if err != nil {
		e.Err = err
		return nil
	}
	info, err := l.cfg.lab.DescribeScript(ctx, l.cfg.supply, e.Info.Name, e.Info.Kind, source)
	if err != nil {
		e.Err = err
		return source
	}
	e.Params = catalog.Declared(info, source)
	e.Info.Title, e.Info.Description, e.Info.Fingerprint = info.Title, info.Description, info.Fingerprint
	return source
}

func origin(info strategies.Info) string {
	if info.Source == "" {
		return "built-in"
	}
	return filepath.ToSlash(info.Source)
}

func parameters[P fmt.Stringer](list []P) []string {
	var all []string
	for _, p := range list {
		all = append(all, p.String())
	}
	return all
}

func (l *labTools) list(ctx context.Context, in ListInput, m meter) (ListOutput, error) {
	out := ListOutput{Strategies: []Listed{}}
	cat, err := l.cfg.lab.Load(ctx, l.cfg.supply)
	if err != nil {
		return out, err
	}
	defer cat.Close() // nothing was played
	if err := cat.OpenPlugins(ctx); err != nil {
		return out, err
	}
	entries := cat.Entries()
	count := map[strategies.Kind]int{}
	for i, e := range entries {
		if in.Kind != "" && in.Kind != string(e.Info.Kind) {
			continue
		}
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if len(out.Strategies) == maxListed {
			break
		}
		l.complete(ctx, &e)
		s := Listed{Name: e.Info.Name, Kind: string(e.Info.Kind), Title: e.Info.Title}
		if in.Details {
			s.Description, s.Origin, s.Parameters = strategies.Clip(e.Info.Description, maxSaid), origin(e.Info), parameters(e.Params)
		}
		if e.Err != nil {
			s.Error = e.Err.Error()
		}
		out.Strategies = append(out.Strategies, s)
		count[e.Info.Kind]++
		m(float64(i+1), float64(len(entries)), "reading "+e.Info.Name)
	}
	out.Summary = fmt.Sprintf("There are %d strategies: %d built in, %d in Lua, %d in JavaScript, %d in WebAssembly, %d from plugins. With details: true there is more of each; show_strategy shows one with its source.",
		len(out.Strategies), count[strategies.Builtin], count[strategies.Lua], count[strategies.JavaScript], count[strategies.WebAssembly], count[strategies.Plugin])
	return out, nil
}

func (l *labTools) show(ctx context.Context, in ShowInput, _ meter) (ShowOutput, error) {
	cat, err := l.cfg.lab.Load(ctx, l.cfg.supply)
	if err != nil {
		return ShowOutput{}, err
	}
	defer cat.Close() // nothing was played
	for _, e := range cat.Entries() {
		if e.Info.Name != in.Name {
			continue
		}
		source := l.complete(ctx, &e)
		out := ShowOutput{
			Name: e.Info.Name, Kind: string(e.Info.Kind), Title: e.Info.Title, Description: e.Info.Description,
			Origin: origin(e.Info), Parameters: parameters(e.Params), Fingerprint: e.Info.Fingerprint,
		}
		if e.Info.Kind != strategies.WebAssembly { // which is no text
			out.Source = string(source)
		}
		if len(out.Source) > maxShown {
			out.Source, out.Truncated = strings.ToValidUTF8(string(source[:maxShown]), ""), true
		}
		out.Summary = fmt.Sprintf("%s is a strategy of kind %s. %s", out.Name, out.Kind, out.Title)
		if e.Err != nil {
			out.Error = e.Err.Error()
			out.Summary = fmt.Sprintf("%s cannot play: %s", out.Name, out.Error)
		}
		return out, nil
	}
	_, err = lab.Resolve(ctx, cat, l.cfg.folder, in.Name) // which suggests names
	return ShowOutput{}, named(err)
}

func (l *labTools) save(ctx context.Context, in SaveInput, _ meter) (SaveOutput, error) {
	kind, ok := kindOf(in.Language)
	if !ok || !lab.IsName(in.Name) {
		return SaveOutput{}, command.Usagef("language must be lua or js, and name must be a valid name")
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	if _, err := l.cfg.lab.DescribeScript(ctx, l.cfg.supply, in.Name, kind, []byte(in.Source)); err != nil {
		return SaveOutput{}, fmt.Errorf("nothing was written: the script does not load: %w", err)
	}
	file := in.Name + "." + string(kind)
	if err := l.cfg.lab.Free(ctx, l.cfg.supply, in.Name, file); err != nil {
		return SaveOutput{}, err
	}
	var overwrite func([]byte) error
	if in.Overwrite {
		overwrite = func([]byte) error { return nil }
	}
	replaced, err := l.cfg.folder.Write(file, []byte(in.Source), overwrite)
	if errors.Is(err, fs.ErrExist) {
		err = command.Usagef("script %s already exists; choose another name, or set overwrite: true to replace it", file)
	}
	if err != nil {
		return SaveOutput{}, err
	}
	out := SaveOutput{Name: in.Name, File: filepath.ToSlash(filepath.Join(l.cfg.folder.Name, file)), Replaced: replaced}
	out.Summary = fmt.Sprintf("Wrote %s; its name is %s.", out.File, out.Name)
	return out, nil
}
