//go:build !race

package lab

import "github.com/strategylab/strategylab/strategies/budget"

// largePages is how many bytes of a worker's heap large pages back: as many as the collector lets it have.
const largePages = budget.Memory / 8 * 5
