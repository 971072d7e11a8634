// Package export writes what happened in the leagues of a run as rows for other
// programs: Parquet, CSV, or JSON with one object a line. A row is a player in a
// league, which is the unit of replication and what statistics should be made
// from, or a single match. Rows are written as leagues are read, in memory that
// does not grow with their number.
package export
