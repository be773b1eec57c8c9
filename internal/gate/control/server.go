package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// A Server answers for a gate.
type Server struct {
	Keeper   *keeper.Keeper
	Version  string
	Source   string // what it judges, such as the name of an interface
	Enforcer string // what makes bans hold

	Reload func() error             // reads lists again; may be nil
	Lines  func() map[string]uint64 // counters of logs by name; may be nil
	Kernel func() map[string]uint64 // counters of the enforcer by name; may be nil
	Done   <-chan struct{}          // ends streams of events
}

// Status is what a gate tells about itself.
type Status struct {
	Version  string            `json:"version"`
	Source   string            `json:"source"`
	Enforcer string            `json:"enforcer"`
	Now      time.Time         `json:"now"`
	Lines    map[string]uint64 `json:"lines,omitempty"`
	Kernel   map[string]uint64 `json:"kernel,omitempty"`
	keeper.Status
}

// Status returns what the server tells at /status.
func (s *Server) Status() Status {
	out := Status{Version: s.Version, Source: s.Source, Enforcer: s.Enforcer, Now: time.Now().UTC(), Status: s.Keeper.Status()}
	if s.Lines != nil {
		out.Lines = s.Lines()
	}
	if s.Kernel != nil {
		out.Kernel = s.Kernel()
	}
	return out
}

// Handler returns what answers requests.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Status()) })
	m.HandleFunc("GET /bans", s.bans)
	m.HandleFunc("GET /query", s.query)
	m.HandleFunc("POST /ban", s.ban)
	m.HandleFunc("POST /unban", s.unban)
	m.HandleFunc("POST /reload", s.reload)
	m.HandleFunc("GET /events", s.events)
	m.Handle("GET /metrics", s.Metrics())
	return m
}

// Metrics returns what answers requests of Prometheus.
func (s *Server) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(metrics(s.Status())) // the caller has gone
	})
}

// bans answers with all bans, or the newest ones.
func (s *Server) bans(w http.ResponseWriter, r *http.Request) {
	newest := r.FormValue("newest")
	if newest == "" {
		reply(w, s.Keeper.Bans())
		return
	}
	n, err := strconv.ParseUint(newest, 10, 31)
	if err != nil {
		refuse(w, fmt.Errorf("newest %.40q: must be a number of bans", newest))
		return
	}
	reply(w, s.Keeper.Newest(int(n)))
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the caller has gone
}

func refuse(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	if errors.Is(err, filter.ErrNotFound) {
		code = http.StatusNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // the caller has gone
}

// address returns the address that a request names.
func address(r *http.Request) (netip.Addr, error) {
	a, err := netip.ParseAddr(r.FormValue("addr"))
	if err != nil {
		return a, fmt.Errorf("address %.60q: not an IPv4 or IPv6 address", r.FormValue("addr"))
	}
	return a.Unmap().WithZone(""), nil
}

// Answer is the answer to a query.
type Answer struct {
	Src netip.Addr `json:"src"`
	gate.Answer
	Ban *keeper.Ban `json:"ban,omitempty"`
}

func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	src, err := address(r)
	if err != nil {
		refuse(w, err)
		return
	}
	a := Answer{Src: src}
	a.Answer, a.Ban = s.Keeper.Query(src)
	reply(w, a)
}

// Usual is how long a ban lasts if nothing else is said.
const Usual = time.Duration(-1)

// ParseLasting reads how long a ban lasts: a duration, ever, or nothing for the usual.
func ParseLasting(text string) (time.Duration, error) {
	switch text {
	case "":
		return Usual, nil
	case "ever":
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%.40q: must be a duration such as 10m, or ever", text)
	}
	return d, nil
}

func (s *Server) ban(w http.ResponseWriter, r *http.Request) {
	src, err := address(r)
	lasts, wrong := ParseLasting(r.FormValue("for"))
	if err := errors.Join(err, wrong); err != nil {
		refuse(w, err)
		return
	}
	reason := r.FormValue("reason")
	if reason == "" {
		reason = "by hand"
	}
	b, err := s.Keeper.Ban(src, lasts, reason)
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, b)
}

func (s *Server) unban(w http.ResponseWriter, r *http.Request) {
	src, err := address(r)
	if err == nil {
		err = s.Keeper.Unban(src, "by hand")
	}
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, map[string]netip.Addr{"unbanned": src})
}

func (s *Server) reload(w http.ResponseWriter, _ *http.Request) {
	if s.Reload == nil {
		refuse(w, errors.New("there is nothing to reload"))
		return
	}
	if err := s.Reload(); err != nil {
		refuse(w, err)
		return
	}
	reply(w, map[string]bool{"reloaded": true})
}

// events sends events as they come.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	events, stop := s.Keeper.Listen()
	defer stop()
	flush := http.NewResponseController(w)
	if flush.Flush() != nil {
		return
	}
	lines := json.NewEncoder(w)
	for {
		select {
		case e := <-events:
			if lines.Encode(e) != nil || flush.Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.Done:
			return
		}
	}
}

// Listen opens a socket for its owner only. One that a process left that is gone is taken
// over. PATH.lock tells which of two gates that start at once is the first.
func Listen(path string) (net.Listener, error) {
	lock, err := replace.Hold(path + ".lock")
	if errors.Is(err, replace.ErrHeld) {
		return nil, fmt.Errorf("%s: another gate answers there: name another socket", path)
	}
	if err != nil && !errors.Is(err, replace.ErrNoLocks) {
		return nil, err
	}
	l, err := listen(path)
	if err != nil {
		if lock != nil {
			lock.Release()
		}
		return nil, err
	}
	return &held{l, lock}, nil
}

// held is a listener with its lock.
type held struct {
	net.Listener
	lock *replace.Lock // nil if the file system has none
}

// Close implements net.Listener.
func (h *held) Close() error {
	err := h.Listener.Close()
	if h.lock != nil {
		h.lock.Release()
	}
	return err
}

func listen(path string) (net.Listener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close() // it answers
		return nil, fmt.Errorf("%s: another gate answers there: name another socket", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
