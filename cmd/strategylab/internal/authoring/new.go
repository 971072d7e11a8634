package authoring

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/disk"
)

//go:embed templates
var templates embed.FS

// checkName refuses names of strategies or plugins that the catalog does not take, and
// those that Windows takes for devices.
func checkName(of, name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`).MatchString(name) {
		return command.Usagef("new: invalid %s name %q, use letters, digits, - and _, for example mine", of, name)
	}
	if disk.IsDevice(name) {
		return command.Usagef("new: Windows takes %s for a device, in every folder; choose another name", name)
	}
	return nil
}

func newStrategy(p *command.Process, c *cli.Context) error {
	file := c.Args().First()
	ext := strings.ToLower(filepath.Ext(file))
	source, err := templates.ReadFile("templates/new" + ext)
	if ext == ".go" {
		source, err = templates.ReadFile("templates/new.go.txt")
	}
	if err != nil {
		what := "unknown extension of " + file
		if ext == "" {
			what = file + " has no extension"
		}
		return command.Usagef("new: %s, want .lua or .js, or .c, .rs, .go or .zig for WebAssembly", what)
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if err := checkName("strategy", name); err != nil {
		return err
	}
	if err := writeNew(p.Path(file), strings.ReplaceAll(string(source), "NAME", name)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return command.Usagef("new: %s already exists; choose another name", file)
		}
		return fmt.Errorf("new: %w", err)
	}
	fmt.Fprintf(p.Stdout, "wrote %s\n\nEdit it, then run:\n", file)
	if build := buildCommand(source); build != "" {
		stem := strings.TrimSuffix(file, filepath.Ext(file))
		fmt.Fprintf(p.Stdout, "  %s\n", strings.ReplaceAll(build, "NAME", stem))
		file = stem + ".wasm"
	}
	add := ""
	if filepath.Dir(file) != "scripts" { // whose strategies play by themselves
		add = " --mine " + file
	}
	fmt.Fprintf(p.Stdout, "  strategylab strategies check %s\n  strategylab experiment --runs 1000%s\n", file, add)
	return nil
}

// buildCommand returns the command that builds a template, which stands in its first
// comment, or "" if it needs none.
func buildCommand(template []byte) string {
	m := regexp.MustCompile(`(?m)^// *\t? *((?:clang|rustc|zig|GOOS=\S+) .*)$`).FindSubmatch(template)
	if m == nil {
		return ""
	}
	return string(m[1])
}

func writeNew(name, content string) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// modulePath is the module that plugins in Go import.
const modulePath = "github.com/strategylab/strategylab"

func newPlugin(p *command.Process, c *cli.Context) error {
	dir := c.Args().First()
	name := filepath.Base(dir)
	if err := checkName("plugin", name); err != nil {
		return err
	}
	folder, err := filepath.Abs(p.Path(dir))
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	program, err := filepath.Abs(p.Path(filepath.Join("plugins", "bin", name)))
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	root, err := checkout(folder)
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	files, err := pluginFiles(root, folder, name)
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	for _, f := range []string{"go.mod", "main.go", "go.sum"} {
		if files[f] == "" {
			continue
		}
		if err := writeNew(filepath.Join(folder, f), files[f]); errors.Is(err, fs.ErrExist) {
			return command.Usagef("new: %s already exists; choose another name", filepath.Join(dir, f))
		} else if err != nil {
			return fmt.Errorf("new: %w", err)
		}
		fmt.Fprintf(p.Stdout, "wrote %s\n", filepath.Join(dir, f))
	}
	fmt.Fprintf(p.Stdout, "\nEdit main.go, then run:\n")
	if root == "" {
		fmt.Fprintf(p.Stdout, "  go -C %s mod tidy\n", dir)
	}
	fmt.Fprintf(p.Stdout, "  go -C %s build -o %s .\n  strategylab plugins lock --dev %s\n  strategylab experiment --field %[3]s,markov-2,random\n",
		dir, program, name)
	return nil
}

// pluginFiles returns the files of a new plugin. In a checkout, whose root is not empty,
// go.mod and go.sum list its versions, so that the module is complete without
// 'go mod tidy' and builds without a network.
func pluginFiles(root, dir, name string) (map[string]string, error) {
	source, err := templates.ReadFile("templates/plugin.go.txt")
	if err != nil {
		return nil, err
	}
	files := map[string]string{"main.go": strings.ReplaceAll(string(source), "NAME", name)}
	if root == "" {
		version := moduleVersion()
		if version == "" {
			return nil, command.WithHint(errors.New("this program was built from a checkout, so its version cannot be downloaded"),
				"run this below the folder of that checkout")
		}
		files["go.mod"] = fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s %s\n", name, modulePath, version)
		return files, nil
	}
	mod, missing := os.ReadFile(filepath.Join(root, "go.mod"))
	sum, unread := os.ReadFile(filepath.Join(root, "go.sum"))
	relative, err := filepath.Rel(dir, root)
	_, requirements, _ := strings.Cut(string(mod), "\n")
	files["go.mod"] = fmt.Sprintf("module %s\n%s\nrequire %s v0.0.0\n\nreplace %[3]s => %s\n", name, requirements, modulePath, filepath.ToSlash(relative))
	files["go.sum"] = string(sum)
	return files, errors.Join(missing, unread, err)
}

// checkout returns the folder above dir with the source of this program; empty without
// one.
func checkout(dir string) (root string, err error) {
	for root = filepath.Dir(dir); ; root = filepath.Dir(root) {
		text, err := os.ReadFile(filepath.Join(root, "go.mod"))
		switch {
		case err == nil && strings.HasPrefix(string(text), "module "+modulePath+"\n"):
			return root, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case root == filepath.Dir(root):
			return "", nil
		}
	}
}

// moduleVersion returns the version that this program was installed as; empty if
// it was built from a checkout.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePath || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}
