package pgtemp

import (
	"os/exec"
	"strings"
)

// NoServerError is the error of [Start] if no source has a server. Its text is one paragraph: the reason of each
// source, then the remedies. The caller can append further remedies after a semicolon.
type NoServerError struct {
	reasons  []string
	remedies []string
}

func (e NoServerError) Error() string {
	return "no server found: " + strings.Join(e.reasons, "; ") +
		". Do one of the following: " + strings.Join(e.remedies, "; ")
}

// add records why a source has no server.
func (e *NoServerError) add(s source, why unavailable) {
	e.reasons = append(e.reasons, s.name+": "+strings.Join(strings.Fields(string(why)), " "))
	if s.remedy != "" {
		e.remedies = append(e.remedies, s.remedy)
	}
}

// installCommand returns the command that installs the server with the package manager of this machine.
func installCommand() string {
	commands := []struct{ manager, install string }{
		{"apt-get", "apt-get install postgresql"},
		{"dnf", "dnf install postgresql-server"},
		{"apk", "apk add postgresql"},
		{"pacman", "pacman -S postgresql"},
		{"zypper", "zypper install postgresql-server"},
		{"brew", "brew install postgresql@17"},
	}
	for _, c := range commands {
		if _, err := exec.LookPath(c.manager); err == nil {
			return c.install
		}
	}
	return "on Debian and Ubuntu: apt-get install postgresql; on macOS: brew install postgresql@17"
}
