//go:build !race

package strategytest_test

const raced = false
