package lab

import (
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// study returns a study of a plan, in which yours are the user's strategies; nil stands for
// those that do not come with the program.
func study(plan results.Plan, level float64, yours []int) (*report.Study, error) {
	s, err := report.NewStudy(plan, level)
	if err == nil {
		if s.Yours = yours; yours == nil {
			s.Yours = yoursIn(plan)
		}
	}
	return s, err
}

// yoursIn returns the field indices of the strategies of a plan that are the user's, as far
// as the plan alone says: those that do not come with the program.
func yoursIn(plan results.Plan) []int {
	var list []int
	for i, f := range plan.Field {
		if !catalog.Shipped(strategies.Kind(f.Kind), f.Name, f.Fingerprint) {
			list = append(list, i)
		}
	}
	return list
}
