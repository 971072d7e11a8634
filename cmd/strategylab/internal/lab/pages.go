//go:build !race

package lab

import "github.com/strategylab/strategylab/plugins/isolate"

// largePages is how many bytes of a worker's heap large pages back.
const largePages = isolate.DefaultMemory / 2
