package authoring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// modulePath is the module that plugins in Go import.
const modulePath = "github.com/strategylab/strategylab"

func newPluginCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "new", ArgsUsage: "NAME", Usage: "create a plugin in Go, in a new folder",
		Description: "Inside a checkout of the source, the module uses that checkout and builds offline. Elsewhere it\n" +
			"requires the version of this program, and 'go mod tidy' downloads it once.",
		Action: command.Action(p, newPlugin, "NAME"),
	}
}

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
	files, offline, err := pluginFiles(folder, name)
	if err != nil {
		return err
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
	program, err := filepath.Abs(p.Path(filepath.Join("plugins", "bin", name)))
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	fmt.Fprintf(p.Stdout, "\nEdit main.go, then run:\n")
	if !offline {
		fmt.Fprintf(p.Stdout, "  go -C %s mod tidy\n", dir)
	}
	fmt.Fprintf(p.Stdout, "  go -C %s build -o %s .\n  strategylab plugins lock --dev %s\n  strategylab experiment --field %[3]s,markov-2,random\n",
		dir, program, name)
	return nil
}

// pluginFiles returns the files of a new plugin, and whether it builds without a
// network.
func pluginFiles(dir, name string) (files map[string]string, offline bool, err error) {
	source, err := templates.ReadFile("templates/plugin.go.txt")
	if err != nil {
		return nil, false, fmt.Errorf("new: %w", err)
	}
	files = map[string]string{"main.go": strings.ReplaceAll(string(source), "NAME", name)}
	root, err := checkout(dir)
	if err != nil {
		return nil, false, fmt.Errorf("new: %w", err)
	}
	if root != "" {
		files["go.mod"], files["go.sum"], err = moduleIn(root, dir, name)
		return files, true, err
	}
	version := moduleVersion()
	if version == "" {
		return nil, false, command.WithHint(errors.New("new: this program was built from a checkout, so its version cannot be downloaded"),
			"run this below the folder of that checkout")
	}
	files["go.mod"] = fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s %s\n", name, modulePath, version)
	return files, false, nil
}

// moduleIn returns go.mod and go.sum of a module in dir that uses the checkout in
// root. They list the versions of the checkout, so that the module is complete
// without 'go mod tidy'.
func moduleIn(root, dir, name string) (mod, sum string, err error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", "", fmt.Errorf("new: %w", err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return "", "", fmt.Errorf("new: %w", err)
	}
	relative, err := filepath.Rel(dir, root)
	if err != nil {
		return "", "", fmt.Errorf("new: %w", err)
	}
	_, requirements, _ := strings.Cut(string(text), "\n")
	return fmt.Sprintf("module %s\n%s\nrequire %s v0.0.0\n\nreplace %[3]s => %s\n",
		name, requirements, modulePath, filepath.ToSlash(relative)), string(sums), nil
}

// checkout returns the folder above dir with the source of this program; empty if
// there is none.
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
