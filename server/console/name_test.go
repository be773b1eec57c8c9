package console

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
)

// manySets is a source of sets with names of 64 KiB. They overlap in one text, so that they
// take no memory. Each number is there twice, as in two partitions.
type manySets struct {
	text    string
	count   int
	cluster *Cluster
}

const longName = 64 << 10

func newManySets(count int, alphabet string) *manySets {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, count+longName)
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return &manySets{text: string(b), count: count}
}

func (m *manySets) name(i int) string { return m.text[i : i+longName] }

func (m *manySets) Login(string, string) (User, bool) { return User{}, false }
func (m *manySets) Default() (User, bool)             { return User{Name: "root", Admin: true}, true }
func (m *manySets) Do(_ User, _ string, _ ...string) ([]string, error) {
	return []string{":1"}, nil
}

func (m *manySets) Numbers() Numbers {
	return Numbers{Started: time.Now(), Sets: int64(m.count), Images: time.Now()}
}
func (m *manySets) Commands() iter.Seq2[string, int64] { return func(func(string, int64) bool) {} }
func (m *manySets) Kinds() []string                    { return nil }
func (m *manySets) Cluster() *Cluster                  { return m.cluster }

func (m *manySets) Sets() iter.Seq2[string, Set] {
	return func(yield func(string, Set) bool) {
		for i := range m.count {
			if !yield(m.name(i), oneSet(i/2)) {
				return
			}
		}
	}
}

func (m *manySets) Set(name string) Set {
	if i := strings.Index(m.text, name); len(name) == longName && i >= 0 {
		return oneSet(i / 2)
	}
	return nil
}

func (m *manySets) Clients() (out []Client) {
	for i := range 100 {
		out = append(out, Client{Name: m.name(i), Addr: "192.0.2.1:1"})
	}
	return out
}

// Slow has commands as the slow log shortens them.
func (m *manySets) Slow() (out []Slow) {
	for i := range 100 {
		var words []string
		for j := range 32 {
			words = append(words, m.name(i)[128*j:128*(j+1)])
		}
		out = append(out, Slow{Words: words})
	}
	return out
}

func (m *manySets) Sample(bool) ([]Ran, int64) { return nil, 0 }

// oneSet is the number of a set.
type oneSet uint64

func (s oneSet) Number() uint64           { return uint64(s) }
func (s oneSet) KindName() string         { return "bloom" }
func (s oneSet) Items() uint64            { return 1 }
func (s oneSet) Deletes() uint64          { return 0 }
func (s oneSet) Bytes() int64             { return 1000 }
func (s oneSet) Version() uint64          { return 1 }
func (s oneSet) Expiry() int64            { return 0 }
func (s oneSet) Asked() (uint64, float64) { return 1000, 0.01 }
func (s oneSet) CanDelete() bool          { return false }
func (s oneSet) HashName() string         { return "" }
func (s oneSet) Info() filter.Info        { return filter.Info{Kind: "bloom"} }
func (s oneSet) Fills(int) []float64      { return nil }

func (s oneSet) File() (io.WriterTo, error) { return strings.NewReader(fmt.Sprint("file ", s)), nil }

// TestPagesStaySmall has 10,000 sets with names of 64 KiB, of bytes that take the most to be
// written, and follows the links to one of them.
func TestPagesStaySmall(t *testing.T) {
	for title, alphabet := range map[string]string{"bytes": "\x80\xff\x01", "marks": "&\"'<>", "text": "ü"} {
		t.Run(title, func(t *testing.T) {
			source := newManySets(10_000, alphabet)
			c := New(source, "")
			c.history.step(source, time.Now())
			get := func(method, path string, body ...string) string {
				t.Helper()
				r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(strings.Join(body, "&")))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				w := httptest.NewRecorder()
				if c.ServeHTTP(w, r); w.Code == http.StatusSeeOther {
					return w.Header().Get("Location")
				}
				if w.Code != http.StatusOK {
					t.Fatalf("%.100s: %d", path, w.Code)
				}
				return w.Body.String()
			}
			first := 0
			for _, path := range []string{"", "static/style.css", "static/script.js", "static/icon.svg"} {
				first += len(get(http.MethodGet, "/console/"+path))
			}
			sets := get(http.MethodGet, "/console/sets")
			commands := get(http.MethodGet, "/console/commands")
			t.Logf("first page %d bytes, sets %d, commands %d", first, len(sets), len(commands))
			if first > 100_000 || len(sets) > 500_000 || len(commands) > 500_000 {
				t.Error("a page is too large")
			}
			name := source.name(77)
			link := get(http.MethodGet, "/console/set?"+url.Values{"name": {name}}.Encode())
			if link != setLink(name, oneSet(38)) || len(link) > 100 {
				t.Fatalf("a long name leads to %.200s", link)
			}
			for _, text := range []string{get(http.MethodGet, link), get(http.MethodPost, link, "do=ask&items=x")} {
				if len(text) > 100_000 || !strings.Contains(text, `data-live="/console/live`+strings.TrimPrefix(link, "/console")) {
					t.Errorf("the page of a set has %d bytes: %.2000s", len(text), text)
				}
			}
			if got, _ := c.named(url.Values{"number": {setAddress(name, oneSet(38)).Get("number")}}, User{}); got != name {
				t.Errorf("the link leads to %.100q", got)
			}
			if _, set := c.named(url.Values{"number": {"38-00000000"}}, User{}); set != nil {
				t.Error("a number with another checksum leads to a set")
			}
			if got := get(http.MethodGet, "/console/file?"+setAddress(name, oneSet(38)).Encode()); got != "file 38" {
				t.Errorf("the link to the file: %.100s", got)
			}
		})
	}
}

// TestStreamsRefuseLongAddresses as no page has them.
func TestStreamsRefuseLongAddresses(t *testing.T) {
	source := newManySets(2, "abc")
	w := httptest.NewRecorder()
	New(source, "").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/console/live/set?name="+source.name(1), http.NoBody))
	if w.Code != http.StatusRequestURITooLong {
		t.Error(w.Code)
	}
}
