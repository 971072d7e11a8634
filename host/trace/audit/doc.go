// Package audit checks from recorded messages whether a league was conducted by
// its rules: whether results follow from choices and numbers, whether everybody
// was told the same, whether the table and the schedule are right, and whether
// nobody lost on technical grounds who had answered in time.
//
// An [Evidence] is fed the exchanges that an agent saw and keeps what they say
// of one league. [Leagues] divides a recording. [Evidence.Audit] judges what can
// be judged without statistics; whether the numbers were drawn fairly is a
// question to the [Evidence.Draws], for which package analysis/fairness has
// the tests.
//
// A player sees its own matches only, a manager all of them, so each check says
// how much it could look at.
package audit
