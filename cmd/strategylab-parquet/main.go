// Command strategylab-parquet makes a Parquet file of the rows of a run. "strategylab
// export" starts it.
package main

import (
	"fmt"
	"os"

	"github.com/strategylab/strategylab/analysis/export/parquet"
)

func main() {
	if info, err := os.Stdin.Stat(); len(os.Args) > 1 || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "strategylab-parquet: other programs start this one; run strategylab export DIR --out leagues.parquet")
		os.Exit(2)
	}
	if err := parquet.Write(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "strategylab-parquet:", err)
		os.Exit(1)
	}
}
