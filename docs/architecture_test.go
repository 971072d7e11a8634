// Package docs_test holds the code to docs/architecture.md.
package docs_test

const (
	module = "github.com/strategylab/strategylab"
	root   = ".."
	rooms  = "cmd/strategylab/internal/"
)

// may lists, for each package, the packages of ours it may import. Reading it
// from top to bottom is reading the architecture; a change to it is a design
// decision and is reviewed as one. A package that is missing may not exist.
var may = map[string][]string{
	// floor 0: vocabulary and formats
	"host/game":                {},
	"host/disk":                {},
	"host/results":             {"host/disk", "host/game"},
	"host/journal":             {"host/disk"},
	"host/journal/journaltest": {},
	"host/rawjson":             {},
	"host/draws":               {},
	"host/credential":          {},
	"host/protocol":            {"host/credential", "host/rawjson"},
	"host/dialect":             {"host/game", "host/jsonrpc", "host/protocol", "host/rawjson"},
	"host/jsonrpc":             {"host/rawjson"},
	"host/jsonrpc/jsonrpctest": {"host/jsonrpc"},

	// floor 1: the contracts
	"strategies":          {"host/game"},
	"strategies/params":   {},
	"strategies/seat":     {"host/game", "strategies"},
	"strategies/budget":   {"strategies"},
	"host/wire/schema":    {"host/protocol", "host/rawjson"},
	"host/wire/eventlog":  {"host/disk", "host/jsonrpc"},
	"host/wire/discovery": {"host/protocol", "host/rawjson"},
	"host/wire":           {"host/dialect", "host/jsonrpc", "host/protocol", "host/rawjson", "host/wire/discovery", "host/wire/eventlog", "host/wire/schema"},
	"host/agent":          {"host/credential", "host/dialect", "host/disk", "host/game", "host/journal", "host/jsonrpc", "host/protocol", "host/wire"},
	"host/trace":          {"host/credential", "host/dialect", "host/jsonrpc", "host/protocol", "host/rawjson"},
	"host/judge":          {"host/draws", "host/game", "host/protocol", "host/trace"},

	// floor 2: what runs strategies, and the agents
	"strategies/batch":      {"host/game", "strategies", "strategies/seat"},
	"strategies/builtin":    {"host/game", "strategies"},
	"strategies/script":     {"strategies", "strategies/budget", "strategies/params"},
	"strategies/luascript":  {"host/game", "strategies", "strategies/budget", "strategies/params", "strategies/script"},
	"strategies/jsscript":   {"host/game", "strategies", "strategies/budget", "strategies/params", "strategies/script"},
	"strategies/wasmscript": {"host/disk", "host/game", "strategies", "strategies/budget", "strategies/params", "strategies/script"},
	"strategies/served": {
		"host/credential", "host/dialect", "host/game", "host/jsonrpc", "host/protocol", "host/trace", "host/wire", "plugins/subprocess", "strategies", "strategies/batch", "strategies/budget",
	},
	"strategies/strategytest":  {"host/game", "strategies", "strategies/budget", "strategies/script", "strategies/seat"},
	"host/manager/league":      {"host/credential", "host/dialect", "host/game", "host/journal", "host/protocol"},
	"host/manager":             {"host/agent", "host/credential", "host/dialect", "host/disk", "host/game", "host/journal", "host/jsonrpc", "host/manager/league", "host/protocol", "host/wire"},
	"host/manager/managertest": {"host/journal", "host/manager", "host/manager/league"},
	"host/referee":             {"host/agent", "host/credential", "host/dialect", "host/disk", "host/draws", "host/game", "host/jsonrpc", "host/protocol", "host/wire"},
	"host/player":              {"host/agent", "host/credential", "host/dialect", "host/disk", "host/draws", "host/game", "host/jsonrpc", "host/protocol", "host/wire", "strategies", "strategies/seat"},

	"host/mcptools":    {"host/dialect", "host/jsonrpc", "host/protocol", "host/rawjson", "host/wire", "host/wire/eventlog", "host/wire/schema"},
	"host/leaguetools": {"host/dialect", "host/jsonrpc", "host/mcptools", "host/protocol", "host/rawjson", "host/wire/schema"},

	"plugins/internal/strategypb": {},
	"plugins/internal/wire":       {"host/game", "plugins/internal/strategypb", "strategies"},
	"plugins/subprocess":          {},
	"plugins":                     {"host/disk", "plugins/internal/strategypb", "plugins/internal/wire", "plugins/subprocess", "strategies", "strategies/batch", "strategies/budget"},

	// floor 3: what puts them to use
	"strategies/catalog":         {"host/disk", "host/game", "strategies", "strategies/budget", "strategies/builtin", "strategies/params", "strategies/script", "strategies/luascript", "strategies/jsscript", "strategies/wasmscript"},
	"plugins/isolate":            {"plugins", "plugins/subprocess", "strategies", "strategies/budget", "strategies/catalog"},
	"experiments":                {"host/game", "host/results"},
	"experiments/arena":          {"host/game", "host/results", "strategies", "experiments"},
	"experiments/chunk":          {"host/results"},
	"experiments/cluster":        {"experiments", "experiments/chunk", "host/game", "host/results", "plugins/subprocess"},
	"experiments/cluster/broker": {"experiments/cluster", "host/disk"},
	"experiments/workers": {
		"experiments", "experiments/arena", "experiments/chunk", "host/results", "plugins", "plugins/isolate",
		"strategies", "strategies/builtin",
	},
	"host": {
		"experiments", "host/agent", "host/dialect", "host/game", "host/jsonrpc", "host/leaguetools", "host/manager", "host/manager/league", "host/mcptools", "host/player", "host/protocol", "host/referee",
		"host/results", "host/wire", "host/wire/eventlog", "host/wire/schema", "strategies", "strategies/seat",
	},
	"host/web":                 {},
	"host/web/studio":          {"analysis", "analysis/words", "host/web"},
	"host/web/wall":            {"host/game", "host/manager", "host/manager/league", "host/protocol", "host/referee", "host/web"},
	"host/peertest":            {},
	"host/trace/playback":      {"analysis/words", "host", "host/jsonrpc", "host/protocol", "host/trace"},
	"host/conformance/kit":     {"host/agent", "host/credential", "host/dialect", "host/game", "host/jsonrpc", "host/judge", "host/player", "host/protocol", "host/rawjson", "host/referee", "host/trace", "host/wire", "strategies/builtin"},
	"host/conformance/player":  {"host/conformance/kit", "host/credential", "host/dialect", "host/draws", "host/game", "host/jsonrpc", "host/player", "host/protocol", "host/referee", "host/wire"},
	"host/conformance/referee": {"host/agent", "host/conformance/kit", "host/credential", "host/dialect", "host/draws", "host/game", "host/player", "host/protocol", "host/trace"},
	"host/conformance/manager": {"host", "host/agent", "host/conformance/kit", "host/credential", "host/dialect", "host/game", "host/jsonrpc", "host/player", "host/protocol", "host/rawjson", "host/referee", "host/trace", "host/wire", "strategies"},
	"host/conformance":         {"host/conformance/kit", "host/conformance/manager", "host/conformance/player", "host/conformance/referee"},

	// beside them: what counts, knowing nothing of how it was played
	"analysis/sequential":   {},
	"analysis/power":        {"analysis/sequential", "analysis/words"},
	"analysis/tune":         {"analysis", "analysis/plots", "analysis/sequential", "analysis/words", "host/game"},
	"analysis":              {"host/game", "host/results", "analysis/sequential"},
	"analysis/analysistest": {"host/game", "host/results", "analysis", "analysis/attest"},
	"analysis/attest":       {},
	"analysis/assert":       {"host/results", "analysis", "analysis/words"},
	"analysis/contrast":     {"host/game", "host/results", "analysis"},
	"analysis/matches":      {"analysis/words", "host/game", "host/results"},
	"analysis/export":       {"host/game", "host/results", "analysis"},
	"analysis/robust":       {"analysis"},
	"analysis/words":        {"host/game", "analysis", "analysis/population", "analysis/robust"},
	"analysis/report":       {"analysis", "analysis/assert", "analysis/contrast", "analysis/explain", "analysis/population", "analysis/robust", "analysis/sequential", "analysis/words", "host/results"},
	"analysis/fairness":     {"analysis", "host/game"},
	"analysis/calibration":  {"host/game", "host/results", "analysis", "analysis/words"},
	"analysis/population":   {"host/game", "host/results", "analysis"},
	"analysis/explain":      {"host/game", "host/results", "analysis"},
	"analysis/plots":        {"analysis"},
	"analysis/page":         {"analysis", "analysis/explain", "analysis/plots", "analysis/population", "analysis/report", "analysis/words", "host/game", "host/results"},
	"host/web/experiment":   {"analysis/page", "analysis/report", "analysis/words", "host/web"},
	"host/audit":            {"analysis/fairness", "analysis/words", "host/game", "host/judge", "host/trace"},
	"host/screen": {
		"analysis/power", "analysis/words", "host/audit", "host/dialect", "host/game", "host/judge", "host/manager", "host/manager/league", "host/player", "host/protocol", "host/referee",
	},

	// an author's program: it sees what authors see
	"plugins/examples/thue-morse": {"host/game", "plugins", "strategies"},

	// floor 4: what reads flags and wires the rest
	"cmd/strategylab/internal/lab": {
		"analysis", "analysis/assert", "analysis/explain", "analysis/page", "analysis/population", "analysis/power",
		"analysis/report", "analysis/words", "experiments", "experiments/arena", "experiments/cluster", "experiments/workers", "host", "host/conformance", "host/conformance/kit",
		"host/disk", "host/game", "host/player", "host/referee", "host/results", "plugins", "plugins/isolate", "strategies", "strategies/budget", "strategies/builtin",
		"strategies/catalog", "strategies/params", "strategies/served", "strategies/strategytest",
	},
	"cmd/strategylab/internal/command": {
		"analysis/words", "cmd/strategylab/internal/lab", "experiments/cluster", "host/agent", "host/dialect", "host/disk", "host/game", "host/jsonrpc",
		"host/protocol", "host/results", "host/wire", "host/wire/eventlog", "strategies/budget", "strategies/catalog",
		"strategies/script", "strategies/served",
	},
	"cmd/strategylab/internal/runs": {
		"analysis", "analysis/assert", "analysis/calibration", "analysis/contrast", "analysis/export", "analysis/matches", "analysis/page",
		"analysis/population", "analysis/power", "analysis/report", "analysis/sequential", "analysis/tune", "analysis/words",
		"cmd/strategylab/internal/command", "cmd/strategylab/internal/lab", "experiments/arena", "experiments/cluster", "host/disk", "host/game", "host/jsonrpc", "host/results", "host/web/experiment", "plugins/subprocess", "strategies",
		"strategies/catalog", "strategies/params", "strategies/script",
	},
	"cmd/strategylab/internal/authoring": {
		"analysis", "analysis/page", "analysis/words",
		"cmd/strategylab/internal/command", "cmd/strategylab/internal/lab", "experiments/arena", "host/disk", "host/game", "host/jsonrpc", "host/results",
		"host/web/studio", "plugins", "strategies", "strategies/catalog", "strategies/strategytest",
	},
	"cmd/strategylab/internal/leagues": {
		"analysis/page", "analysis/words", "cmd/strategylab/internal/command",
		"cmd/strategylab/internal/lab", "host", "host/agent", "host/audit", "host/conformance", "host/conformance/kit", "host/dialect", "host/disk", "host/game", "host/jsonrpc",
		"host/manager", "host/manager/league", "host/mcptools", "host/player", "host/protocol", "host/referee", "host/screen", "host/trace",
		"host/trace/playback", "host/web/wall", "host/wire/eventlog", "strategies/catalog",
	},
	"cmd/strategylab/internal/assistants": {
		"analysis", "analysis/explain", "analysis/page", "analysis/report", "analysis/words", "cmd/strategylab/internal/command",
		"cmd/strategylab/internal/lab", "experiments", "host", "host/dialect", "host/disk", "host/game", "host/jsonrpc", "host/mcptools", "host/protocol",
		"host/results", "host/wire/eventlog", "strategies", "strategies/catalog", "strategies/strategytest",
	},
	"cmd/strategylab/internal/clusters": {"cmd/strategylab/internal/command", "experiments", "experiments/cluster", "host/disk"},
	"cmd/strategylab": {
		"cmd/strategylab/internal/assistants", "cmd/strategylab/internal/authoring", "cmd/strategylab/internal/clusters", "cmd/strategylab/internal/command",
		"cmd/strategylab/internal/lab", "cmd/strategylab/internal/leagues", "cmd/strategylab/internal/runs", "strategies",
	},
	"cmd/strategylab-broker": {"experiments/cluster/broker"},
	// a module of its own, which anybody can install without this one
	"cmd/strategylab-parquet": {},

	// beside the program: what tests make modules with
	"strategies/wasmscript/wasmtest": {},

	// beside the program: what tests drive pages in
	"host/web/webtest": {},

	// beside the program: how large it is
	"docs/figures": {},

	// beside the program: the schemas of its files
	"docs/schemas": {"analysis", "analysis/population", "analysis/report", "host/results"},
}

// onlyIn says which package alone may import a dependency, and why.
var onlyIn = []struct{ dependency, home, why string }{
	{"github.com/yuin/gopher-lua", "strategies/luascript", "the script API is the same in every language; Lua is a detail of one runtime"},
	{"github.com/dop251/goja", "strategies/jsscript", "the script API is the same in every language; goja is a detail of one runtime"},
	{"github.com/tetratelabs/wazero", "strategies/wasmscript", "how a module runs is a detail of one runtime"},
	{"github.com/hashicorp", "plugins", "a strategy is a Factory; that it runs in another process is a detail of plugins"},
	{"google.golang.org", "plugins", "gRPC is how a plugin is spoken to, and nothing else"},
	{"gonum.org/v1/gonum", "analysis", "numbers with uncertainty are made in one place and handed on as values"},
	{"github.com/parquet-go/parquet-go", "cmd/strategylab-parquet", "who exports no Parquet builds none of its codecs"},
	{"github.com/modelcontextprotocol", "host/mcptools", "the MCP standard is one way in; the league must not depend on it"},
	{"github.com/google/jsonschema-go", "cmd/strategylab/internal/assistants", "schemas are made of Go types where a tool is described, and nowhere else"},
	{"rsc.io/qr", "host/web/wall", "a QR code is part of one page"},
	{"github.com/nats-io", "experiments/cluster", "an experiment on one machine needs no broker"},
	{"github.com/nats-io/nats-server", "experiments/cluster/broker", "a server has a program of its own; everybody else needs the client only"},
	{"github.com/urfave/cli", "cmd/strategylab", "only the command line knows flags; everything else takes values"},
}

// unreachable says what a package must never reach, on any path.
var unreachable = []struct {
	from, to []string
	sentence string
}{
	{[]string{"host/manager", "host/referee"}, []string{"strategies", "plugins"}, "a referee that cannot see strategies cannot favour one"},
	{[]string{"host/manager"}, []string{"host/referee", "host/player"}, "the three agents meet in the protocol and nowhere else"},
	{[]string{"host/referee"}, []string{"host/manager", "host/player"}, "the three agents meet in the protocol and nowhere else"},
	{[]string{"host/player"}, []string{"host/manager", "host/referee"}, "the three agents meet in the protocol and nowhere else"},
	{[]string{"strategies/served"}, []string{"host/manager", "host/referee"}, "an agent in an experiment is spoken to like a player in a league, and by a league's rules alone it would cost a league's messages"},
	{[]string{"cmd/strategylab/internal/lab"}, []string{"cmd/strategylab/internal/command"}, "the lab takes values; flags stop at the commands"},
	{[]string{rooms + "runs"}, []string{rooms + "authoring", rooms + "leagues", rooms + "assistants", rooms + "clusters"}, "what two rooms of commands need is in command or lab"},
	{[]string{rooms + "authoring"}, []string{rooms + "runs", rooms + "leagues", rooms + "assistants", rooms + "clusters"}, "what two rooms of commands need is in command or lab"},
	{[]string{rooms + "leagues"}, []string{rooms + "runs", rooms + "authoring", rooms + "assistants", rooms + "clusters"}, "what two rooms of commands need is in command or lab"},
	{[]string{rooms + "assistants"}, []string{rooms + "runs", rooms + "authoring", rooms + "leagues", rooms + "clusters"}, "what two rooms of commands need is in command or lab"},
	{[]string{rooms + "clusters"}, []string{rooms + "runs", rooms + "authoring", rooms + "leagues", rooms + "assistants"}, "what two rooms of commands need is in command or lab"},
	{[]string{"cmd/strategylab"}, []string{"experiments/cluster/broker"}, "a broker has a program of its own, so that the one that everybody runs stays small"},
	{[]string{"analysis"}, []string{"host/manager", "host/referee", "host/player", "experiments", "strategies"}, "last month's result file must analyse alone"},
	{[]string{"experiments"}, []string{"analysis"}, "cmd composes plan, run, estimate and report; an experiment does not judge itself"},
}

// initialises says which package may have an init function, and why: there is no other way.
var initialises = map[string]string{
	"plugins/internal/strategypb": "generated code registers its messages",
	"strategies/luascript":        "gopher-lua keeps the highest index of an array in a variable of its own",
}

// clockless packages take no clock and no unseeded randomness, so that the
// same seed gives the same bytes.
var clockless = []string{
	"analysis", "analysis/assert", "analysis/calibration", "analysis/contrast", "analysis/explain", "analysis/export",
	"analysis/fairness", "analysis/matches", "analysis/page", "analysis/plots",
	"analysis/population", "analysis/power", "analysis/report", "analysis/robust", "analysis/sequential",
	"analysis/words", "experiments", "experiments/arena", "host/game", "host/protocol", "host/results", "strategies",
	"strategies/batch", "strategies/builtin", "strategies/catalog", "strategies/jsscript", "strategies/luascript",
	"strategies/script", "strategies/seat", "strategies/strategytest",
}

// processes are the files besides cmd/*/main.go that may touch the process, and why.
var processes = map[string]string{
	"plugins/serve.go":            "Serve is the whole of an author's main",
	"docs/figures/main.go":        "a program of its own, for those who work on the source",
	"analysis/attest/attest.go":   "make whole and make statistics repeat simulations more often, by variables",
	"host/web/webtest/browser.go": "make whole has browsers started, by its variable",
	"host/web/webtest/look.go":    "tests get a folder for pictures and axe-core from their environment",
	"docs/schemas/main.go":        "a program of its own, for those who work on the source",
}
