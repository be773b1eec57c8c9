package server

import (
	"fmt"
	"os"

	"github.com/everbloom-go/everbloom/server/internal/command"
)

// readUsers reads the file of users; no file means that no login is needed.
func readUsers(path string) (*command.Users, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("server: users: %w", err)
	}
	defer func() { _ = f.Close() }()
	users, err := command.ReadUsers(f)
	if err != nil {
		return nil, fmt.Errorf("server: users: %s: %w", path, err)
	}
	return users, nil
}

// NewToken returns a random token for a user, and the line of the file of users for it.
func NewToken(name, role, prefix string) (token, line string, err error) {
	return command.NewToken(name, role, prefix)
}
