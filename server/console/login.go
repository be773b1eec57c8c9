package console

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// logins are the users that have logged in, by a random secret in a cookie.
type logins struct {
	mu    sync.Mutex
	users map[string]login
}

type login struct {
	user User
	ends time.Time
}

const (
	loginTime = 12 * time.Hour
	maxLogins = 10_000
)

// add returns the secret of a new login.
func (l *logins) add(u User, now time.Time) string {
	secret := rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	first := ""
	for s, old := range l.users {
		if old.ends.Before(now) {
			delete(l.users, s)
		} else if first == "" || old.ends.Before(l.users[first].ends) {
			first = s
		}
	}
	if len(l.users) >= maxLogins {
		delete(l.users, first)
	}
	l.users[secret] = login{u, now.Add(loginTime)}
	return secret
}

func (l *logins) find(secret string, now time.Time) (User, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.users[secret]
	return found.user, ok && now.Before(found.ends)
}

func (l *logins) remove(secret string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.users, secret)
}

// user returns the user of a request.
func (c *Console) user(r *http.Request) (User, bool) {
	if u, open := c.source.Default(); open {
		return u, true
	}
	return c.logins.find(secretOf(r), time.Now())
}

// withUser answers requests of users that have logged in, and has others log in.
func (c *Console) withUser(do func(http.ResponseWriter, *http.Request, User)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		u, ok := c.user(r)
		if tooLarge := new(http.MaxBytesError); ok && errors.As(r.ParseForm(), &tooLarge) {
			c.fail(w, r, http.StatusRequestEntityTooLarge, "The form has more than "+quantity.Bytes(maxBody)+".")
			return
		}
		if ok {
			do(w, r, u)
			return
		}
		if r.Method != http.MethodGet {
			c.fail(w, r, http.StatusUnauthorized, "The login has ended.")
			return
		}
		http.Redirect(w, r, "/console/login?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
	}
}

type loginView struct{ To, Name, Problem string }

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.user(r); ok {
		http.Redirect(w, r, "/console/", http.StatusSeeOther)
		return
	}
	c.render(w, http.StatusOK, frame{Title: "Log in", Page: "login", View: loginView{To: ownPath(r.FormValue("to"))}})
}

// ownPath returns a path of the console, whatever was asked for.
func ownPath(to string) string {
	if !strings.HasPrefix(to, "/console/") || strings.HasPrefix(to, "/console/live/") || strings.Contains(to, "\\") {
		return "/console/"
	}
	return to
}

func (c *Console) loginForm(w http.ResponseWriter, r *http.Request) {
	name, to := r.PostFormValue("name"), ownPath(r.PostFormValue("to"))
	u, ok := c.source.Login(name, r.PostFormValue("token"))
	if !ok {
		c.render(w, http.StatusForbidden, frame{Title: "Log in", Page: "login", View: loginView{to, name, "There is no user of that name with that token."}})
		return
	}
	cookie := cookieOf(r)
	cookie.Value, cookie.MaxAge = c.logins.add(u, time.Now()), int(loginTime.Seconds())
	http.SetCookie(w, &cookie)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	c.logins.remove(secretOf(r))
	cookie := cookieOf(r)
	cookie.MaxAge = -1
	http.SetCookie(w, &cookie)
	http.Redirect(w, r, "/console/login", http.StatusSeeOther)
}
