package console

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// A span is how far a history goes back, and how often it has a point.
type span struct {
	Name  string // in addresses
	Title string
	every int // seconds
	size  int // points
}

// spans returns the histories that are kept, the finest first.
func spans() [3]span {
	return [...]span{{"10m", "10 minutes", 1, 600}, {"day", "24 hours", 60, 1440}, {"month", "30 days", 3600, 720}}
}

// The values of the server's track.
const (
	seriesCommands = iota
	seriesEffects
	seriesLog
	seriesWait
	seriesClients
	seriesSets
	seriesResident
	seriesCount
	serverSeries
)

// The values of the track of a set.
const (
	seriesKeys = iota
	seriesBytes
	seriesRate
)

// maxTracks is how many sets have a history: the largest.
const maxTracks = 1000

// A setTrack is the history of a set.
type setTrack struct {
	track
	name    string
	number  uint64
	bytes   int64
	version uint64
	rate    float64 // at that version
	seen    uint64  // tick
}

// A history is what was, as far as pages show it.
type history struct {
	mu       sync.Mutex
	ticks    uint64
	ticked   chan struct{} // is closed with the next tick
	at       time.Time
	clock    secondCount
	numbers  Numbers
	server   track
	sets     map[uint64]*setTrack
	commands map[string]count
	ran      []Ran     // the newest first
	ranOf    int64     // commands in the last second, of which ran has some
	watched  time.Time // when a page was shown that has ran
}

// A count is how often a command ran, and how often in the last second.
type count struct {
	Total     int64
	PerSecond float64
}

func newHistory() *history {
	return &history{ticked: make(chan struct{}), sets: make(map[uint64]*setTrack), commands: make(map[string]count)}
}

// step looks at the source, which happens once a second.
func (h *history) step(s Source, now time.Time) {
	n := s.Numbers()
	h.mu.Lock()
	defer h.mu.Unlock()
	took := now.Sub(h.at).Seconds()
	if h.at.IsZero() || took <= 0 {
		took = 1
		h.numbers = n
	}
	second := h.clock.tick(now)
	h.addServer(n, took, second)
	for name, total := range s.Commands() {
		before, known := h.commands[name]
		if !known && h.ticks == 0 {
			before.Total = total
		}
		h.commands[name] = count{total, float64(total-before.Total) / took}
	}
	h.addSets(s, n.Sets, second)
	h.addSample(s, now)
	h.at, h.numbers = now, n
	h.ticks++
	close(h.ticked)
	h.ticked = make(chan struct{})
}

func (h *history) addServer(n Numbers, took float64, second int64) {
	b := h.numbers
	wait := 0.0
	if records := n.Records - b.Records; records > 0 {
		wait = (n.Waited - b.Waited).Seconds() / float64(records)
	}
	var v [serverSeries]float64
	v[seriesCommands] = float64(n.Commands-b.Commands) / took
	v[seriesEffects] = float64(n.Effects-b.Effects) / took
	v[seriesLog] = float64(n.LogBytes-b.LogBytes) / took
	v[seriesWait] = wait
	v[seriesClients] = float64(n.Connections)
	v[seriesSets] = float64(n.SetBytes)
	v[seriesResident] = float64(n.Resident)
	v[seriesCount] = float64(n.Sets)
	h.server.add(second, v[:]...)
}

// chooseEvery is how many ticks pass until the largest of many sets are chosen anew.
const chooseEvery = 60

// addSets takes the values of the sets that have a history. No Set is kept: a set that was
// dropped must not stay in memory.
func (h *history) addSets(s Source, sets, second int64) {
	if sets <= maxTracks || h.ticks%chooseEvery == 0 {
		h.choose(s)
	}
	for number, t := range h.sets {
		set := s.Set(t.name)
		if set == nil || set.Number() != number {
			if h.ticks-t.seen > chooseEvery { // or it has another name since the last choice
				delete(h.sets, number)
			}
			continue
		}
		if v := set.Version(); v != t.version || t.seen == 0 {
			t.version, t.rate = v, set.Info().FPR
		}
		t.seen, t.bytes = max(h.ticks, 1), set.Bytes()
		t.add(second, float64(set.Items()), float64(t.bytes), t.rate)
	}
}

// choose finds the largest sets and gives them a track.
func (h *history) choose(s Source) {
	type candidate struct {
		name   string
		number uint64
		bytes  int64
	}
	var all []candidate
	for name, set := range s.Sets() {
		all = append(all, candidate{name, set.Number(), set.Bytes()})
	}
	if len(all) > maxTracks {
		slices.SortFunc(all, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.number, b.number))
		})
		all = all[:maxTracks]
	}
	chosen := make(map[uint64]*setTrack, len(all))
	for _, one := range all {
		t := h.sets[one.number]
		if t == nil {
			t = &setTrack{number: one.number}
		}
		t.name, t.bytes = one.name, one.bytes
		chosen[one.number] = t
	}
	h.sets = chosen
}

// tick returns the number of the last tick, and what is closed with the next one.
func (h *history) tick() (uint64, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ticks, h.ticked
}

// ofServer returns the history of some values of the server.
func (h *history) ofServer(span int, series ...int) (out [][]float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range series {
		out = append(out, h.server.rings[span].values(i))
	}
	return out
}

// ofSet returns the history of a set: keys, bytes and rate.
func (h *history) ofSet(number uint64, span int) (keys, bytes, rate []float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.sets[number]
	if t == nil {
		return nil, nil, nil
	}
	r := &t.rings[span]
	return r.values(seriesKeys), r.values(seriesBytes), r.values(seriesRate)
}

// growth returns how many keys a set has gained per minute, over ten minutes at most.
func (h *history) growth(number uint64) (perMinute float64, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.sets[number]
	if t == nil {
		return 0, false
	}
	keys := t.rings[0].values(seriesKeys)
	for len(keys) > 0 && math.IsNaN(keys[0]) {
		keys = keys[1:]
	}
	if len(keys) < 2 {
		return 0, false
	}
	return 60 * (keys[len(keys)-1] - keys[0]) / float64(len(keys)-1), true
}

// largest returns the names of the largest sets that begin with a prefix.
func (h *history) largest(prefix string, n int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []*setTrack
	for _, t := range h.sets {
		if strings.HasPrefix(t.name, prefix) {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *setTrack) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.number, b.number))
	})
	var names []string
	for _, t := range found[:min(n, len(found))] {
		names = append(names, t.name)
	}
	return names
}
