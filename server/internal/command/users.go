package command

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Role says what a user may do.
type Role uint8

// The roles. Each may do what those before may.
const (
	Reader Role = iota + 1
	Writer
	Administrator
)

// A User is one that may log in.
type User struct {
	Name   string
	Role   Role
	Prefix string // of all keys that it may use
	token  [sha256.Size]byte
}

// noLogin is the user of a server without users.
var noLogin = &User{Name: "default", Role: Administrator}

// Users are those that may log in.
type Users struct{ byName map[string]*User }

// ReadUsers reads lines of name, role, prefix of keys and the SHA-256 of a token in
// hexadecimal. The prefix * means all keys. Empty lines and those that begin with # are
// passed over.
func ReadUsers(r io.Reader) (*Users, error) {
	users := &Users{byName: make(map[string]*User)}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		u, err := parseUser(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if users.byName[u.Name] != nil {
			return nil, fmt.Errorf("line %d: user %s is defined twice", number, u.Name)
		}
		users.byName[u.Name] = u
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(users.byName) == 0 {
		return nil, errors.New("no users: add one with everbloom token")
	}
	return users, nil
}

func parseUser(line string) (*User, error) {
	f := strings.Fields(line)
	if len(f) != 4 {
		return nil, fmt.Errorf("%d words, must be name, role, prefix and hash", len(f))
	}
	u := &User{Name: f[0], Prefix: strings.TrimSuffix(f[2], "*")}
	switch f[1] {
	case "read":
		u.Role = Reader
	case "write":
		u.Role = Writer
	case "admin":
		u.Role = Administrator
	default:
		return nil, fmt.Errorf("role %q, must be read, write or admin", f[1])
	}
	sum, err := hex.DecodeString(f[3])
	if err != nil || len(sum) != len(u.token) {
		return nil, errors.New("the last word must be 64 hexadecimal digits")
	}
	copy(u.token[:], sum)
	return u, nil
}

// NewToken returns a random token, and a line for it in a file of users.
func NewToken(name, role, prefix string) (token, line string, err error) {
	token = rand.Text()
	sum := sha256.Sum256([]byte(token))
	line = fmt.Sprintf("%s %s %s %x", name, role, prefix, sum)
	_, err = parseUser(line)
	return token, line, err
}

// login returns the user of a name and a token, nil if there is none.
func (u *Users) login(name, token []byte) *User {
	sum := sha256.Sum256(token)
	user := u.byName[string(name)]
	want := sum
	if user != nil {
		want = user.token
	}
	if subtle.ConstantTimeCompare(sum[:], want[:]) == 1 {
		return user
	}
	return nil
}

// Login returns the user of a name and a token. A wrong one takes a while. On a server without
// users there is one, which needs no token.
func (h *Host) Login(name, token string) (*User, bool) {
	if h.Users == nil {
		return noLogin, true
	}
	u := h.Users.login([]byte(name), []byte(token))
	if u == nil {
		time.Sleep(loginPenalty)
	}
	return u, u != nil
}

// Named returns the user of a name, which has logged in before.
func (h *Host) Named(name string) (*User, error) {
	if h.Users == nil {
		return noLogin, nil
	}
	if u := h.Users.byName[name]; u != nil {
		return u, nil
	}
	return nil, fmt.Errorf("command: there is no user %s", name)
}

// forbids returns why a user may not run a command.
func (u *User) forbids(cmd *Command, args [][]byte) string {
	if u == noLogin {
		return ""
	}
	need := Reader
	switch {
	case cmd.Flags&Admin != 0:
		need = Administrator
	case cmd.Flags&Write != 0 && cmd.Name != "exec":
		need = Writer
	}
	if cmd.Name == "flushall" || cmd.Name == "flushdb" {
		need = Administrator
	}
	if u.Role < need {
		return fmt.Sprintf("NOPERM User %s has no permissions to run the '%s' command", u.Name, cmd.Name)
	}
	for i := range cmd.Keys(len(args)) {
		if !strings.HasPrefix(string(args[i]), u.Prefix) {
			return "NOPERM No permissions to access a key"
		}
	}
	return ""
}

// sees reports whether a user may know that a key is there.
func (u *User) sees(name string) bool { return strings.HasPrefix(name, u.Prefix) }

// seesUser reports whether the user of a session may know what the user of another does: one
// with all keys may, and others if they may use all keys that the other may. The name of a
// session that has not logged in is empty.
func (s *Session) seesUser(name string) bool {
	if s.user.Prefix == "" {
		return true
	}
	other, err := s.env.Named(name)
	return err == nil && s.user.sees(other.Prefix)
}
