package authoring

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/disk"
)

// teamsFile holds the teams of a class in their folder.
const teamsFile = "teams.json"

// team is a team of a class, as its file has it.
type team struct {
	Name   string `json:"name"`
	Folder string `json:"folder"` // in that of the class
	Token  string `json:"token"`

	fresh bool // made by this process
}

// Bounds of a class.
const (
	mostTeams = 200
	longest   = 60 // name of a team, in characters
	leastWord = 16 // of a token, in characters
)

// readTeams reads the teams of the class, and makes those of --team that are new.
func (s *studioServer) readTeams() error {
	s.file = s.opt.Teams
	if s.file == "" {
		s.file = filepath.Join(s.folder, teamsFile)
	}
	path := s.p.Path(s.file)
	teams, err := loadTeams(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(s.opt.Team) > 0:
	case errors.Is(err, fs.ErrNotExist):
		return command.WithHint(fmt.Errorf("%s does not exist", s.file), "name the teams to make it: --team Red --team Blue")
	case err != nil:
		return fmt.Errorf("read %s: %w", s.file, err)
	}
	for _, name := range s.opt.Team {
		if slices.ContainsFunc(teams, func(t team) bool { return t.Name == name }) {
			continue
		}
		teams, s.fresh = append(teams, team{Name: name, Folder: disk.FileName(name), Token: rand.Text(), fresh: true}), true
	}
	if err := validTeams(teams); err != nil {
		return command.Usagef("--team: %w", err)
	}
	if len(teams) > mostTeams {
		return command.Usagef("%d teams; want at most %d", len(teams), mostTeams)
	}
	s.teams = teams
	for _, t := range teams {
		if err := os.MkdirAll(s.p.Path(s.folderOf(t)), 0o755); err != nil {
			return fmt.Errorf("make the folder of team %q: %w", t.Name, err)
		}
	}
	if !s.fresh {
		return nil
	}
	if err := disk.WriteJSON(path, teams, 0o600); err != nil {
		return fmt.Errorf("keep the tokens: %w", err)
	}
	return nil
}

func (s *studioServer) folderOf(t team) string { return filepath.Join(s.folder, t.Folder) }

// loadTeams reads and validates the file of a class.
func loadTeams(path string) ([]team, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, command.WithHint(errors.New("others can read the tokens"), "make it yours alone: chmod 600 %s", words.ShellWord(path))
	}
	content, _, err := disk.ReadFile(path, 1<<20)
	if err != nil {
		return nil, err
	}
	var teams []team
	if err := json.Unmarshal(content, &teams); err != nil {
		return nil, fmt.Errorf("want a list of {name, folder, token}: %w", err)
	}
	if len(teams) == 0 {
		return nil, errors.New("the file has no team")
	}
	return teams, validTeams(teams)
}

// validTeams refuses names that cannot be shown, folders elsewhere, and what two teams share.
func validTeams(teams []team) error {
	seen := map[string]string{}
	for _, t := range teams {
		if n := utf8.RuneCountInString(t.Name); n == 0 || n > longest || t.Name != words.Printable(t.Name) {
			return fmt.Errorf("invalid team name %q, want 1 to %d printable characters", words.Shorten(t.Name, longest), longest)
		}
		if t.Folder != filepath.Base(t.Folder) || !filepath.IsLocal(t.Folder) || t.Folder == "." || t.Folder[0] == '.' {
			return fmt.Errorf("team %q: invalid folder %q, want the name of a folder beside this file's", t.Name, t.Folder)
		}
		if len(t.Token) < leastWord {
			return fmt.Errorf("team %q: the token has %d characters, want at least %d", t.Name, len(t.Token), leastWord)
		}
		for _, key := range []string{"name " + t.Name, "folder " + strings.ToLower(t.Folder), "token " + t.Token} {
			if other, twice := seen[key]; twice {
				return fmt.Errorf("teams %q and %q have the same name, folder or token, where capital letters make no folder another", other, t.Name)
			}
			seen[key] = t.Name
		}
	}
	return nil
}
