package measure_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/docs/figures/measure"
)

// Read counts a tree of one package with one file.
func ExampleRead() {
	root, err := os.MkdirTemp("", "tree")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	for name, text := range map[string]string{
		"go.mod":   "module example.com/tree\n",
		"hello.go": "package tree\n\n// Hello greets.\nfunc Hello() string {\n\treturn \"hello\"\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	tree, err := measure.Read(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	lines, files, _ := tree.Total()
	fmt.Println(lines, "lines in", files, "file")
	fmt.Println(tree.Functions()[0])
	// Output:
	// 6 lines in 1 file
	// {Hello hello.go 3}
}
