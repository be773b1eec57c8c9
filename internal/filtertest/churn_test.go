package filtertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// churned runs a Churn of an Exact with the faults.
func churned(tb testing.TB, config ExactConfig, h hooks, steps int) {
	tb.Helper()
	c := NewChurn(&faulty{NewExact(config), h}, 20, 1)
	for range steps {
		c.Step(tb)
	}
	c.Check(tb)
}

func TestChurnFindsPlantedFaults(t *testing.T) {
	for _, p := range []struct {
		fault  string
		config ExactConfig
		want   string
		hooks  hooks
	}{
		{"denies a key", ExactConfig{}, "is in the set and was denied", hooks{has: func(f *Exact, k filter.Key) bool {
			return k%16 != 0 && f.MayContain(k)
		}}},
		{"takes no keys", ExactConfig{}, "planted", hooks{add: func(*Exact, filter.Key) (bool, error) { return false, errPlanted }}},
		{"lets no key go", counted, "which is in the set: planted", hooks{delete: func(*Exact, filter.Key) error { return errPlanted }}},
		{"deletes another key, too", ExactConfig{}, "denied", hooks{delete: func(f *Exact, k filter.Key) error {
			defer loseAny(f)
			return f.Delete(k)
		}}},
		{"deletes all copies", counted, "denied", hooks{delete: func(f *Exact, k filter.Key) error {
			f.set.Remove(k)
			return nil
		}}},
		{"deletes what was added twice", pinning, "times and could be deleted", hooks{delete: func(f *Exact, k filter.Key) error {
			f.set.Remove(k)
			return nil
		}}},
		{"keeps what it deletes", pinning, "right after it was deleted", hooks{delete: func(*Exact, filter.Key) error { return nil }}},
		{"counts one too many", counted, "keys, want", hooks{info: alter(func(i *filter.Info) { i.Keys++ })}},
	} {
		if notes := record(t, func(tb *recorder) { churned(tb, p.config, p.hooks, 2000) }); !strings.Contains(notes, p.want) {
			t.Errorf("a filter that %s: the notes are %q, want %q", p.fault, notes, p.want)
		}
	}
}

// TestChurnPassesAndDoesEverything also holds that keys come, come again, go and
// come back.
func TestChurnPassesAndDoesEverything(t *testing.T) {
	for _, config := range []ExactConfig{{}, counted, pinning, {Bounded: true, Items: 10}} {
		var fresh, again, back, deleted, refused int
		gone := make(map[filter.Key]bool)
		churned(t, config, hooks{
			add: func(f *Exact, k filter.Key) (bool, error) {
				switch {
				case f.set.Has(k):
					again++
				case gone[k]:
					back++
				default:
					fresh++
				}
				return f.Add(k)
			},
			delete: func(f *Exact, k filter.Key) error {
				err := f.Delete(k)
				if err == nil {
					gone[k] = true
					deleted++
				} else if errors.Is(err, filter.ErrPinned) {
					refused++
				}
				return err
			},
		}, 3000)
		if min(fresh, again, back, deleted) < 50 || (refused > 0) != (config == pinning) {
			t.Errorf("%+v: %d new keys, %d again, %d back, %d deleted, %d pinned", config, fresh, again, back, deleted, refused)
		}
	}
}
