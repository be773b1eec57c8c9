package console

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// A page is what a view makes, shown anew every so many ticks; 0 means never.
type page struct {
	name  string // in addresses
	view  func(*http.Request, User) (frame, error)
	every uint64

	// query returns the parameters of a request that the view knows, written in one way.
	// It is nil if there are none.
	query func(*http.Request) url.Values
}

// known returns the parameters of a request that the page knows.
func (p page) known(r *http.Request) url.Values {
	if p.query == nil {
		return nil
	}
	return p.query(r)
}

// live returns the address of the stream of a page.
func live(name string, query url.Values) string {
	if len(query) == 0 {
		return "/console/live/" + name
	}
	return "/console/live/" + name + "?" + query.Encode()
}

// show renders a page.
func (c *Console) show(p page) http.HandlerFunc {
	return c.withUser(func(w http.ResponseWriter, r *http.Request, u User) {
		f, err := p.view(r, u)
		if err != nil {
			c.failed(w, r, err)
			return
		}
		if p.every > 0 {
			f.Live = live(p.name, p.known(r))
		}
		f.User = &u
		c.render(w, http.StatusOK, f)
	})
}

// parts are the live parts that were rendered for a tick: pages that many look at are
// rendered once.
type parts struct {
	mu    sync.Mutex
	tick  uint64
	texts map[string][]byte
	bytes int // of texts
}

// maxParts is how many bytes of parts are kept until the next tick. Others are rendered for
// each that looks at them.
const maxParts = 32 << 20

// get returns a part of a tick, which make renders if it is not there.
func (p *parts) get(tick uint64, key string, render func() ([]byte, error)) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tick != tick || p.texts == nil {
		p.tick, p.texts, p.bytes = tick, make(map[string][]byte), 0
	}
	if text, ok := p.texts[key]; ok {
		return text, nil
	}
	text, err := render()
	if err == nil && p.bytes+len(text) <= maxParts {
		p.texts[key] = text
		p.bytes += len(text)
	}
	return text, err
}

// maxQuery is how long the parameters of a stream may be. Pages name no longer ones.
const maxQuery = 4 << 10

// streamTimeout is how long a browser may take nothing.
const streamTimeout = 20 * time.Second

// stream sends the live part of a page whenever it has changed.
func (c *Console) stream(p page) http.HandlerFunc {
	return c.withUser(func(w http.ResponseWriter, r *http.Request, u User) {
		if p.every == 0 {
			c.fail(w, r, http.StatusNotFound, "This page does not change.")
			return
		}
		query := p.known(r).Encode()
		if len(query) > maxQuery {
			c.fail(w, r, http.StatusRequestURITooLong, "The address is too long.")
			return
		}
		select {
		case c.streams <- struct{}{}:
			defer func() { <-c.streams }()
		default:
			c.fail(w, r, http.StatusServiceUnavailable, "Too many pages are open.")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // nothing more is read
		c.sendAll(w, r, part{page: p, params: query, user: u})
	})
}

// sendAll sends the live part of a page with each tick until the browser or the login ends.
func (c *Console) sendAll(w http.ResponseWriter, r *http.Request, p part) {
	var sent []byte
	for {
		var next <-chan struct{}
		p.tick, next = c.history.tick()
		if _, ok := c.user(r); !ok {
			return
		}
		if p.tick%p.every == 0 || sent == nil {
			var err error
			if sent, err = c.send(w, r, p, sent); err != nil {
				return
			}
		}
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
	}
}

// A part is the live part of a page at a tick, for users that see what u does.
type part struct {
	page
	params string // that the page knows
	user   User
	tick   uint64
}

// key tells parts of the same tick apart.
func (p part) key() string {
	return fmt.Sprintf("%q %t %s %s", p.user.Prefix, p.user.Admin, p.name, p.params)
}

// send sends the live part of a page unless it is what was sent before, and returns it.
func (c *Console) send(w http.ResponseWriter, r *http.Request, p part, before []byte) ([]byte, error) {
	text, err := c.event(r, p)
	if err != nil || bytes.Equal(text, before) {
		return text, err
	}
	if _, err := (patient{w}).Write(text); err != nil {
		return nil, err
	}
	return text, http.NewResponseController(w).Flush()
}

// patient is an answer that may take long, as long as the browser takes something.
type patient struct{ http.ResponseWriter }

// Write implements io.Writer.
func (p patient) Write(b []byte) (int, error) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(streamTimeout)) // writing tells
	return p.ResponseWriter.Write(b)
}

// event returns the live part of a page as an event.
func (c *Console) event(r *http.Request, p part) ([]byte, error) {
	return c.parts.get(p.tick, p.key(), func() ([]byte, error) {
		f, err := p.view(r, p.user)
		if err != nil {
			return nil, err
		}
		var html bytes.Buffer
		if err := c.pages.templates.ExecuteTemplate(&html, f.Page+"-live", f); err != nil {
			return nil, err
		}
		return message(html.Bytes()), nil
	})
}

// message returns a server-sent event of some text.
func message(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("\r"), nil)) {
		out.WriteString("data: ")
		out.Write(bytes.TrimRight(line, "\n"))
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	return out.Bytes()
}
