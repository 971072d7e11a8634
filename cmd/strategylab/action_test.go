package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

// action runs what action.yml runs, as a runner does for the given inputs, with a release of
// this program. It returns the exit status, the log and the summary of the job.
func action(t *testing.T, inputs map[string]string) (code int, log, summary string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "summary.md")
	env := append(os.Environ(), "GITHUB_ACTION_PATH="+root, "GITHUB_STEP_SUMMARY="+file, "STRATEGYLAB_RELEASES=file://"+release(t, inputs["version"]))
	for _, m := range regexp.MustCompile(`(INPUT_\w+): \$\{\{ inputs\.(\w+) \}\}`).FindAllStringSubmatch(string(text), -1) {
		value, given := inputs[m[2]]
		if fallback := regexp.MustCompile(`\n  ` + m[2] + `:\n    description: .*\n    default: "?([^"\n]*)`).FindStringSubmatch(string(text)); fallback != nil && !given {
			value = fallback[1]
		}
		env = append(env, m[1]+"="+value)
	}
	run := regexp.MustCompile(`run: '(.*)'`).FindStringSubmatch(string(text))
	if run == nil {
		t.Fatal("action.yml runs nothing")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", run[1])
	cmd.Dir, cmd.Env = dir, env
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(output), string(written)
}

// release returns a folder of releases with one whose archive starts this program.
func release(t *testing.T, version string) string {
	t.Helper()
	dir, releases := t.TempDir(), t.TempDir()
	write(t, dir, "lab/strategylab", "#!/bin/sh\nexec "+program(t, dir)+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "lab/strategylab"), 0o755); err != nil {
		t.Fatal(err)
	}
	name := "strategylab-linux-" + runtime.GOARCH + ".tar.gz"
	write(t, releases, version+"/"+name, "")
	archive := filepath.Join(releases, version, name)
	if output, err := exec.Command("tar", "-czf", archive, "-C", dir, "lab").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, output)
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if version == "v1.0.1" { // a damaged download
		content = nil
	}
	write(t, releases, version+"/checksums.txt", fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name))
	return releases
}

func TestAction(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	for _, name := range []string{"bash", "python3", "curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(name); err != nil || runtime.GOOS != "linux" {
			t.Skipf("the action needs Linux and %s", name)
		}
	}
	player, err := filepath.Abs("../../docs/examples/player.py")
	if err != nil {
		t.Fatal(err)
	}
	python := "python3 " + player + " http://MANAGER/mcp PORT & wait"
	for _, test := range []struct {
		name         string
		inputs       map[string]string
		code         int
		log, summary []string // what they match
	}{
		{
			"holds", map[string]string{
				"command": python, "level": "must", "runs": "20", "field": "random,role,always-odd,always-even",
				"assert": "random.technical_losses == 0\nalways-odd.adjusted > random.adjusted\n", "sprt": "new=always-odd,old=random,delta=0.01\n",
			},
			0, []string{`display name "Plain Python"`},
			[]string{
				`### Conformance of the player at http`, `(?m)^\| must \| [1-9][0-9]* \| 0 \| 0 \|$`, `(?m)^\| holds \| random.technical_losses == 0 \|$`,
				`(?m)^\| accepted \| always-odd is better than random: .* \|$`,
			},
		},
		{
			// The agent has to be killed.
			"fails", map[string]string{"command": "trap '' TERM; " + python, "runs": "20", "field": "random,role,always-odd", "assert": "random.wins == 0", "sprt": "new=random,old=always-odd,delta=0.01"},
			1, []string{`::error::the agent fails the check of the protocol \(exit status 8\)`, `::error::not every statement about the strategies holds`, `POST /mcp`},
			[]string{
				`(?m)^\| should \| player\.rpc\.noid \| it was accepted: .* \| Answer a request without id .* \|$`, `(?m)^\| refuted \| random.wins == 0 \|$`,
				`(?m)^\| rejected \| random is not .* better than always-odd`,
			},
		},
		{
			"dies", map[string]string{"command": "echo no module of this name; exit 3"},
			1, []string{`no module of this name`}, []string{`the agent ended before it was checked \(exit status 3\)`},
		},
		{"damaged", map[string]string{"version": "v1.0.1", "assert": "random.wins > 0"}, 1, []string{`strategylab-linux-\w+\.tar\.gz: FAILED`}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.name == "fails" {
				whole(t, "the agent that holds is checked alike")
			}
			manager, agent := jsonrpctest.Address(t), jsonrpctest.Address(t)
			_, port, err := net.SplitHostPort(agent)
			if err != nil {
				t.Fatal(err)
			}
			if test.inputs["version"] == "" {
				test.inputs["version"] = "v1.0.0"
			}
			test.inputs["flags"] = "--listen " + manager
			test.inputs["url"] = "http://" + agent + "/mcp"
			test.inputs["command"] = strings.NewReplacer("MANAGER", manager, "PORT", port).Replace(test.inputs["command"])
			code, log, summary := action(t, test.inputs)
			if code != test.code {
				t.Errorf("exit status %d, want %d", code, test.code)
			}
			for text, patterns := range map[string][]string{log: test.log, summary: test.summary} {
				for _, pattern := range patterns {
					if !regexp.MustCompile(pattern).MatchString(text) {
						t.Errorf("no match for %s in\n%s", pattern, text)
					}
				}
			}
			if conn, err := net.Dial("tcp", agent); err == nil {
				conn.Close()
				t.Error("the agent still listens")
			}
		})
	}
}
