package words

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis/population"
)

// memory says what a prediction looks at.
func memory(order int) string {
	switch order {
	case 0:
		return "the role alone"
	case 1:
		return "the last match of both"
	}
	return fmt.Sprintf("the last %d matches of both", order)
}

// BySize returns the members of a population, those with the largest final share
// first; members with equal or unknown shares stand by their Borda scores.
func BySize(v *population.View) []int {
	list := make([]int, len(v.Members))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(i, j int) int {
		a, b := v.Members[i], v.Members[j]
		return cmp.Or(cmp.Compare(b.Share.Estimate, a.Share.Estimate), cmp.Compare(b.Borda.Estimate, a.Borda.Estimate))
	})
	return list
}

// Population says where replicator dynamics lead from equal shares, or why that is not
// known. Payoffs have a fixed number of decimals; at most most survivors are named, or
// all if most is 0.
func (s Style) Population(v *population.View, decimals, most int) string {
	return s.Say("population", struct {
		*population.View
		Decimals, Most int
		Settled        float64
	}{v, decimals, most, population.SettledGap})[0]
}
