package words

import "testing"

func TestConfirmed(t *testing.T) {
	t.Parallel()
	e := shown(100, []int{0}, []int{1, 2, 3})
	e.Ranking.Places = [][2]int{{1, 1}, {2, 3}, {1, 3}, {4, 4}}
	shared := shown(100, []int{0, 1, 2, 3})
	shared.Ranking.Places[0] = [2]int{1, 2}
	for _, tt := range []struct{ got, want string }{
		{Plain.Confirmed(e, 0), "anna, first there, is significantly first here, too, which confirms it"},
		{Plain.Confirmed(e, 1), "bert, first there, is 2nd (2nd to 3rd) here, which refutes it"},
		{Plain.Confirmed(e, 2), "carl, first there, is 3rd (1st to 3rd) here, which neither confirms nor refutes it"},
		{Plain.Confirmed(e, 3), "dora, first there, is 4th here, which refutes it"},
		{Plain.Confirmed(shared, 0), "anna, first there, is first here, too (1st to 2nd), which is no proof that it is best"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
