package jsscript_test
import ("testing";"os";"path/filepath";"strings";"sort";"context"
"github.com/strategylab/strategylab/host/game";"github.com/strategylab/strategylab/strategies"
"github.com/strategylab/strategylab/strategies/builtin"
"github.com/strategylab/strategylab/strategies/luascript"
"github.com/strategylab/strategylab/strategies/jsscript")
func TestField(t *testing.T) {
	var fs []strategies.Factory
	names := strings.Fields(os.Getenv("FIELD"))
	if len(names)==0 { for _, f := range builtin.All() { fs = append(fs, f) } }
	for _, n := range names { f, ok := builtin.Find(n); if !ok {t.Fatal(n)}; fs = append(fs, f) }
	js, _ := filepath.Glob("../../scripts/*.js")
	for _, p := range js { src,_ := os.ReadFile(p); f, err := jsscript.Compile(filepath.Base(p), p, src, jsscript.Options{}); if err!=nil { t.Fatal(err) }; fs = append(fs, f) }
	lua, _ := filepath.Glob("../../scripts/*.lua")
	for _, p := range lua { src,_ := os.ReadFile(p); f, err := luascript.Compile(filepath.Base(p), p, src, luascript.Options{}); if err!=nil { t.Fatal(err) }; fs = append(fs, f) }
	n := len(fs)
	sched, _ := game.NewSchedule(n, 10)
	diff := make([]float64, n); cnt := make([]float64, n)
	pd := make([][]float64, n); for i := range pd { pd[i] = make([]float64, n) }
	draw := game.FairDraw()
	const L = 60
	ctx := context.Background()
	for league := range L {
		seats := game.Seats(1, league, n)
		st := make([]strategies.Strategy, n); rs := make([]*game.Rand, n); coins := make([]*game.Rand, n); stand := make([]strategies.Standing, n)
		for s := range n { k := game.StrategyKey(1, league, seats[s]); rs[s]=game.NewRand(k); rs[s].Rekey(game.StartPosition); coins[s]=game.NewRand(game.CoinKey(1,league,seats[s]))
			var field []string; for i := range n { field = append(field, game.PlayerID(i)) }
			var err error
			st[s], err = fs[seats[s]].New(ctx, strategies.Setup{ID: game.PlayerID(s), Name: game.PlayerID(s), Field: field, Rounds: sched.Rounds(), Legs: 10, Key: k, Rand: rs[s]}); if err != nil { t.Fatal(err) } }
		ds := game.NewDrawStream(1, league)
		for r := 1; r <= sched.Rounds(); r++ { for _, m := range sched.Round(r) {
			w := ds.Next()
			ab := [2]int{m.A, m.B}; var p [2]game.Parity
			for i, s := range ab { role := game.RoleA; if i==1 {role=game.RoleB}
				rs[s].Rekey(game.ChoosePosition(uint64(m.Index)))
				c, err := st[s].Choose(ctx, &strategies.Turn{Match: uint64(m.Index), MatchID: m.ID, Round: r, Opponent: game.PlayerID(ab[1-i]), Role: role, Standing: stand[s]})
				if err != nil { t.Fatal(fs[seats[s]].Info().Name, err) }
				coins[s].Rekey(uint64(m.Index)); p[i] = c.Resolve(coins[s]) }
			num := draw.Pick(w); v := game.Judge(game.Side{Choice:p[0]}, game.Side{Choice:p[1]}, num)
			for i, s := range ab { role := game.RoleA; res, pts := v.ResultA, v.PointsA; if i==1 {role=game.RoleB; res, pts = v.ResultB, v.PointsB}
				o := strategies.Outcome{Match: uint64(m.Index), MatchID: m.ID, Round: r, Opponent: game.PlayerID(ab[1-i]), Role: role, Choice: p[i], OpponentChoice: p[1-i], Number: num, Drew: true, Result: res, Points: pts}
				stand[s].Add(res, pts); rs[s].Rekey(game.ObservePosition(uint64(m.Index)))
				if err := st[s].Observe(ctx, &o); err != nil { t.Fatal(fs[seats[s]].Info().Name, err) }
				d := 0.0; if p[0]!=p[1] { d = 1 }
				me, op := seats[s], seats[ab[1-i]]
				diff[me]+=d; cnt[me]++; pd[me][op]+=d }
		} }
		for s := range n { st[s].Close() }
	}
	idx := make([]int, n); for i := range idx { idx[i]=i }
	sort.Slice(idx, func(a,b int) bool { return diff[idx[a]]/cnt[idx[a]] > diff[idx[b]]/cnt[idx[b]] })
	for _, i := range idx { row := ""; if strings.HasSuffix(fs[i].Info().Name, ".js") { for j := range n { if j != i { row += fs[j].Info().Name+"="+ (func() string { x := int(100*pd[i][j]/(L*10)+.5); return string([]byte{byte('0'+x/100), byte('0'+x/10%10), byte('0'+x%10)}) })()+" " } } }
		t.Logf("%-18s %.3f  %s", fs[i].Info().Name, diff[i]/cnt[i], row) }
}
