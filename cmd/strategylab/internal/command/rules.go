package command

// rule says that flags need another one, or do not go with others.
type rule struct {
	command string // of the flags; empty for every command that has them
	flags   string // separated by spaces; name=value is a flag with this value
	needs   string // flags of which one has to be given
	bars    string // flags of which none may be given
	unless  string // a flag with which the rule does not hold
	// text is the sentence of the error, empty for that of most. {flag} is one of flags,
	// {other} one of needs or bars, and {value} its value.
	text, hint string
}

const exclusive = "--{flag} and --{other} exclude each other"

// rules are all rules on which flags go with which. The first that is broken is reported.
var rules = []rule{
	{flags: "tls-cert", needs: "tls-key", text: "--tls-cert and --tls-key need each other"},
	{flags: "tls-key", needs: "tls-cert", text: "--tls-cert and --tls-key need each other"},
	{flags: "cluster-cert", needs: "cluster-key", text: "--cluster-cert and --cluster-key need each other"},
	{flags: "cluster-key", needs: "cluster-cert", text: "--cluster-cert and --cluster-key need each other"},
	{flags: "in-process", bars: "isolate", text: exclusive},
	{flags: "offline", needs: "cassette", text: "--offline needs --cassette DIR, where the answers are"},
	{flags: "admin-token", bars: "admin-token-file", text: exclusive},

	{flags: "verify worker-timeout", needs: "cluster"},
	{flags: "in-process shard", bars: "cluster"},
	{flags: "isolate=false", bars: "cluster", text: "--isolate=false cannot be used with --cluster: workers run scripts in processes of their own"},

	{command: "experiment", flags: "listen", needs: "web", text: "--listen is the address of the page of --web, which is missing", hint: "add --web, or leave --listen out"},
	{command: "experiment", flags: "confirm", bars: "watch", hint: "confirm once, when the scripts are finished: strategylab experiment --resume DIR --confirm"},
	{command: "experiment", flags: "legs seed field without draw transport out watch until guarantee margin sprt shard records", bars: "resume",
		text: "--{flag} cannot be used with --{other}: the plan of {value} fixes it"},
	{command: "tune", flags: "runs confirm against objective legs seed draw out", bars: "resume", text: "--{flag} cannot be used with --{other}: {value}/tune.json fixes it"},
	{command: "experiment", flags: "watch confirm no-report", bars: "web", text: "--{other} cannot be used with --{flag}: the page becomes the report of one run"},
	{flags: "shard", needs: "seed", hint: "give all shards the same seed, for example --seed 7"},
	{flags: "watch confirm until sprt", bars: "shard", text: "--{flag} cannot be used with --shard: a shard does not see the leagues of the others"},
	{flags: "assert plots format details", bars: "shard", text: "--{flag} cannot be used with --shard, which prints no results", hint: "give it to strategylab merge"},
	{command: "experiment", flags: "until sprt confirm watch web plots cluster", bars: "records=none",
		text: "--{flag} cannot be used with --{other}: it needs the records of single leagues"},
	{command: "merge", flags: "assert plots", bars: "records=none", text: "--{flag} cannot be used with shards of --{other}: it needs the records of single leagues"},
	{command: "experiment", flags: "runs", bars: "until sprt", text: exclusive, hint: "give one of them; --max-runs limits the leagues of --until and --sprt"},
	{command: "experiment", flags: "until", bars: "sprt", text: exclusive, hint: "give one of them; --max-runs limits the leagues of --until and --sprt"},
	{command: "experiment", flags: "max-runs guarantee margin", needs: "until sprt", unless: "resume", text: "--{flag} needs --until", hint: "--runs N sets the number of leagues"},
	{command: "experiment", flags: "margin", bars: "sprt", text: "--margin needs --until, not --sprt"},

	{command: "report", flags: "plots", bars: "format=markdown format=latex", text: "--plots needs --format html"},
	{command: "replay", flags: "faults", bars: "lost", text: exclusive},
	{command: "replay", flags: "nth", bars: "next previous", text: exclusive},
	{command: "replay", flags: "next", bars: "previous", text: exclusive},
	{command: "calibrate", flags: "players legs leagues", bars: "DIR", text: "--{flag} cannot be used with DIR, whose run has its own"},
	{command: "power", flags: "delta", bars: "effect", text: exclusive},
	{command: "mcp", flags: "allow-origin allow-host tls-cert tls-key", needs: "http"},
}
