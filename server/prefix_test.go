package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrefixesLimitWhatAdministratorsSee has users with prefixes ask about all keys, the slow
// log and connections. Each sees its own keys, and the users that may use no others.
func TestPrefixesLimitWhatAdministratorsSee(t *testing.T) {
	tokens, lines := make(map[string]string), ""
	for _, u := range [][3]string{{"root", "admin", "*"}, {"shop", "admin", "shop:"}, {"till", "write", "shop:till:"}, {"bank", "admin", "bank:"}} {
		token, line, err := NewToken(u[0], u[1], u[2])
		if err != nil {
			t.Fatal(err)
		}
		tokens[u[0]] = token
		lines += line + "\n"
	}
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "log", "memory", "users", users, "slowlog-log-slower-than", "0")
	dial(t, s.Addr().String()) // does not log in
	as := make(map[string]*client)
	for name, token := range tokens {
		as[name] = dial(t, s.Addr().String())
		if got := as[name].do("AUTH", name, token); got != "+OK" {
			t.Fatal(got)
		}
	}
	for _, pair := range [][2]string{{"root", "top"}, {"root", "shop:a"}, {"shop", "shop:b"}, {"till", "shop:till:1"}, {"bank", "bank:secret"}} {
		if got := as[pair[0]].do("BF.ADD", pair[1], "x"); got != ":1" {
			t.Fatal(got)
		}
	}
	as["shop"].do("EXPIRE", "shop:b", "1000")
	for name, want := range map[string]struct {
		size, keyspace string
		sees, not      []string
	}{
		"root": {":5", "keys=5,expires=1", []string{"user=bank", "user=till", "user=shop", "user= ", "top", "bank:secret"}, nil},
		"shop": {":3", "keys=3,expires=1", []string{"user=shop", "user=till", "shop:b", "shop:till:1"}, []string{"user=root", "user=bank", "user= ", "top", "bank:", "shop:a"}},
		"bank": {":1", "keys=1,expires=0", []string{"user=bank", "bank:secret"}, []string{"user=root", "user=shop", "user=till", "top", "shop:"}},
	} {
		c := as[name]
		if got := c.do("DBSIZE"); got != want.size {
			t.Errorf("%s: DBSIZE %s, want %s", name, got, want.size)
		}
		if got := c.do("INFO", "keyspace"); !strings.Contains(got, want.keyspace) {
			t.Errorf("%s: %s, want %s", name, got, want.keyspace)
		}
		all := c.do("CLIENT", "LIST") + c.do("SLOWLOG", "GET", "-1")
		for _, part := range want.sees {
			if !strings.Contains(all, part) {
				t.Errorf("%s does not see %q: %s", name, part, all)
			}
		}
		for _, part := range want.not {
			if strings.Contains(all, part) {
				t.Errorf("%s sees %q: %s", name, part, all)
			}
		}
	}
	bank := as["bank"]
	if got := bank.do("CLIENT", "KILL", "SKIPME", "yes"); got != ":0" {
		t.Error("bank closes connections of others:", got)
	}
	bank.do("SLOWLOG", "RESET")
	if got := bank.do("SLOWLOG", "LEN"); got != ":1" { // the reset
		t.Error("the slow log of bank has", got)
	}
	if got := as["root"].do("SLOWLOG", "GET", "-1"); !strings.Contains(got, "shop:till:1") || strings.Contains(got, "bank:secret") {
		t.Error("bank has cleared", got)
	}
	if got := as["shop"].do("CLIENT", "KILL", "SKIPME", "yes"); got != ":1" {
		t.Error("shop closes", got)
	}
}
