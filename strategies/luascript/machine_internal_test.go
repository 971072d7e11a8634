package luascript

import (
	"runtime"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

func TestAlloc(t *testing.T) {
	for _, body := range []string{
		`local t = {} for i=1,N do local x={} x.y=1 t[i]=x end`,
		`local t = {} for i=1,N do t[i]={} end`,
		`local t = {} for i=1,N do t[i]={x=1} end`,
		`local t = {} for i=1,N do t[i]={i} end`,
		`local t = {} for i=1,N do local x={} x[1]=1 t[i]=x end`,
		`local t = {} for i=1,N do local x={} x[t]=1 t[i]=x end`,
		`local t = {} for i=1,N do local x={} x[true]=1 t[i]=x end`,
		`local t = {} for i=1,N do t[i]=function() return i end end`,
		`local t = {} for i=1,N do t[i.."x"]=i end`,
		`local t = {} for i=1,N do t[i]=i end`,
		`local t = {} for i=1,N do t[-i]=i t[-i]=nil end`,
		`local t = {} for i=1,N do t[i]=("x"):rep(1000) end`,
		`local t = {} local function f(...) return {...} end for i=1,N do t[i]=f(1,2,3,4,5,6,7,8,9,10) end`,
		`local t = {} local function f(...) return {...} end local b={} for i=1,4000 do b[i]=i end for i=1,N/1000 do t[i]=f(unpack(b)) end`,
		`local t = {} local function f(...) return arg end local b={} for i=1,4000 do b[i]=i end for i=1,N/1000 do t[i]=f(unpack(b)) end`,
		`local t = {} for i=1,N do t[i] = {} t[i][60]=1 end`,
		`local t = {} for i=1,N do t[i] = {[64]=1} end`,
		`local t = {} for i=1,N do t[i] = {[t]=1} end`,
		`local t = {} for i=1,N/100 do t[i] = {} t[i][10000]=1 end`,
		`for i=1,N do pcall(error) end`,
		`for i=1,N do ("x"):gmatch("x") end`,
		`for i=1,N do ("x"):find("()") end`,
		`for i=1,N do ("x"):gsub("x", "y") end`,
		`for i=1,N do ("%5.1f"):format(i) end`,
		`for i=1,N do tostring(i) end`,
		`local b={} for i=1,1000 do b[i]=i end for i=1,N/100 do table.concat(b,",") end`,
		`local b={} for i=1,1000 do b[i]=i end for i=1,N/1000 do table.sort(b) end`,
	} {
		f, err := Compile("x", "x", []byte("N=20000 function choose() "+body+" return 1 end"), Options{Limits: budget.Limits{Time: time.Minute, Instructions: 1<<40}})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.New(t.Context(), strategies.Setup{Rand: game.NewRand(game.Key{})})
		if err != nil {
			t.Fatal(err)
		}
		s := st.(*seat)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		was := s.machine.life
		t0 := time.Now()
		_, err = s.Choose(t.Context(), &strategies.Turn{})
		d := time.Since(t0)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Log(body, err)
			continue
		}
		units := s.machine.life - was
		t.Logf("%5.0f B/unit %5.1f ns/unit %9d units  %s", float64(after.TotalAlloc-before.TotalAlloc)/float64(units), float64(d.Nanoseconds())/float64(units), units, body)
		s.Close()
		f.Close()
	}
}
