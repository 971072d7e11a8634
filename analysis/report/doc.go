// Package report renders what an experiment has shown: as a table for a
// terminal, as the JSON document that other programs read, and as CSV. It
// computes nothing; numbers come from package analysis.
package report
