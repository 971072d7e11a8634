//go:build race

package lab

// largePages is 0, as the race detector takes several bytes of memory for each of them.
const largePages = 0
