package game

// Points of one match, by league.v2: three for a win or for the opponent of a
// technical loss, one each for a draw, none otherwise.
const (
	WinPoints  = 3
	DrawPoints = 1
)

// Result is how a match ended for one of its players.
type Result uint8

// The zero Result is unknown. A TechnicalLoss counts as a loss in every table
// and as a technical loss besides.
const (
	NoResult Result = iota
	Win
	Drawn
	Loss
	TechnicalLoss
)

// String returns "win", "draw", "loss", "technical_loss" or "".
func (r Result) String() string {
	switch r {
	case Win:
		return "win"
	case Drawn:
		return "draw"
	case Loss:
		return "loss"
	case TechnicalLoss:
		return "technical_loss"
	}
	return ""
}

// Side is what one player brought to a match. A player with a Fault has lost
// on technical grounds, whatever it chose; one without has made a Choice.
type Side struct {
	Choice Parity
	Fault  Fault
}

// Verdict is the outcome of a match. Results and points stand in the order
// player A, player B.
type Verdict struct {
	ResultA, ResultB Result
	PointsA, PointsB int
}

// Technical reports whether the match was decided on technical grounds, in
// which case no number is drawn.
func (v Verdict) Technical() bool {
	return v.ResultA == TechnicalLoss || v.ResultB == TechnicalLoss
}

// Judge scores a match. The number is looked at only if neither side is at
// fault: exactly one right choice wins 3 to 0, both right or both wrong is a
// draw at 1 each. One side at fault gives the other a win; both at fault is a
// loss each with no points.
func Judge(a, b Side, number int) Verdict {
	switch {
	case a.Fault != NoFault && b.Fault != NoFault:
		return Verdict{ResultA: TechnicalLoss, ResultB: TechnicalLoss}
	case a.Fault != NoFault:
		return Verdict{ResultA: TechnicalLoss, ResultB: Win, PointsB: WinPoints}
	case b.Fault != NoFault:
		return Verdict{ResultA: Win, ResultB: TechnicalLoss, PointsA: WinPoints}
	case a.Choice == b.Choice:
		return Verdict{ResultA: Drawn, ResultB: Drawn, PointsA: DrawPoints, PointsB: DrawPoints}
	case a.Choice == ParityOf(number):
		return Verdict{ResultA: Win, ResultB: Loss, PointsA: WinPoints}
	default:
		return Verdict{ResultA: Loss, ResultB: Win, PointsB: WinPoints}
	}
}
