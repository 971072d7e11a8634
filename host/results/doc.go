// Package results is the record of played leagues: what a plan was, what
// happened in each of its leagues, and the files that keep both. Everything
// that is ever computed about an experiment can be computed from it.
//
// The file format is specified in FORMAT.md beside this file.
package results
