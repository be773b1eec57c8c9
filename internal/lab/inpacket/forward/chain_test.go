package forward

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
)

// serviceTable has an ID for each of so many services.
func serviceTable(n int) []filter.Key {
	table := make([]filter.Key, n)
	for i := range table {
		table[i] = ServiceID(fmt.Sprint("service ", i), 0)
	}
	return table
}

func pick(table []filter.Key, chain []int) []filter.Key {
	ids := make([]filter.Key, len(chain))
	for i, entry := range chain {
		ids[i] = table[entry]
	}
	return ids
}

func serve(tb testing.TB, s Switch, h Header, chain []int) Visits {
	tb.Helper()
	v, err := s.Serve(h, chain)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestServiceIDsDiffer(t *testing.T) {
	seen := map[filter.Key]bool{}
	for _, service := range []string{"", "firewall", "1 firewall"} {
		for step := range 20 {
			seen[ServiceID(service, step)] = true
		}
	}
	if len(seen) != 60 {
		t.Errorf("%d of 60 IDs", len(seen))
	}
}

func TestChainsAreServedOnceAndInOrder(t *testing.T) {
	table := serviceTable(30)
	chain := []int{2, 3, 11, 29}
	f := newFormat(t, Config{})
	h, err := f.Choose(pick(table, chain), deletable.AllDeletable(pick(table, chain)...))
	if err != nil {
		t.Fatal(err)
	}
	for _, passes := range []int{1, 2, 5} {
		for _, byPort := range []bool{false, true} {
			v := serve(t, Switch{Table: table, Delete: true, ByPort: byPort, Passes: passes}, h, chain)
			if v != (Visits{Right: 4}) || !v.Done() {
				t.Errorf("%d passes, by port %t: %+v", passes, byPort, v)
			}
		}
		v := serve(t, Switch{Table: table, ByPort: true, Passes: passes}, h, chain)
		if v != (Visits{Right: 4, Twice: 4 * (passes - 1)}) || v.Done() != (passes == 1) {
			t.Errorf("%d passes without deletion: %+v", passes, v)
		}
	}
	// Without deletion or ports the switch never gets beyond the first service.
	v := serve(t, Switch{Table: table, TTL: 10}, h, chain)
	if v != (Visits{Right: 1, Twice: 9, Skipped: 3, Expired: true}) {
		t.Errorf("%+v", v)
	}
}

func TestChainsAgainstTheOrderOfTheTableAreLate(t *testing.T) {
	table := serviceTable(10)
	chain := []int{7, 2, 5}
	h := encode(t, newFormat(t, Config{}), pick(table, chain))
	v := serve(t, Switch{Table: table, Delete: true}, h, chain)
	if v.Right != 3 || v.Late != 1 || v.Done() {
		t.Errorf("%+v", v)
	}
}

// TestStepsGiveAnyOrder has an ID for each service at each step, and a service twice.
func TestStepsGiveAnyOrder(t *testing.T) {
	services := []string{"firewall", "balancer", "inspector"}
	var table []filter.Key
	for step := range 4 {
		for _, s := range services {
			table = append(table, ServiceID(s, step))
		}
	}
	chain := []int{2, 3 + 0, 6 + 2, 9 + 1} // inspector, firewall, inspector, balancer
	ids := pick(table, chain)
	h, err := newFormat(t, Config{}).Choose(ids, deletable.AllDeletable(ids...))
	if err != nil {
		t.Fatal(err)
	}
	if v := serve(t, Switch{Table: table, Delete: true}, h, chain); !v.Done() || v.Right != 4 {
		t.Errorf("%+v", v)
	}
}

// TestVisitsAddUp tries small headers, in which everything goes wrong at times.
func TestVisitsAddUp(t *testing.T) {
	table := serviceTable(40)
	var sum Visits
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		chain := r.Perm(40)[:1+r.IntN(10)]
		slices.Sort(chain)
		h := encode(t, newFormat(t, Config{Bits: 48, Hashes: 3, Candidates: 1, Salt: seed}), pick(table, chain))
		s := Switch{Table: table, Delete: seed%2 == 0, ByPort: true, Passes: 1 + r.IntN(3)}
		v := serve(t, s, h, chain)
		if v.Right+v.Skipped != len(chain) || v.Late != 0 && s.Passes == 1 || v.Expired && v.Right+v.Wrong+v.Twice != 64 {
			t.Fatalf("seed %d: %+v", seed, v)
		}
		if !s.Delete && (v.Skipped != 0 && !v.Expired || v.Pinned != 0 || v.Twice != len(chain)*(s.Passes-1) && !v.Expired) {
			t.Fatalf("seed %d: without deletion %+v", seed, v)
		}
		sum.Wrong += v.Wrong
		sum.Twice += v.Twice
		sum.Skipped += v.Skipped
		sum.Pinned += v.Pinned
	}
	if sum.Wrong == 0 || sum.Twice == 0 || sum.Skipped == 0 || sum.Pinned == 0 {
		t.Errorf("not everything that can go wrong was tried: %+v", sum)
	}
}

func TestChainsOfUnknownServicesAreRefused(t *testing.T) {
	for _, entry := range []int{-1, 5} {
		if _, err := (Switch{Table: serviceTable(5)}).Serve(Header{}, []int{entry}); err == nil {
			t.Errorf("entry %d was taken", entry)
		}
	}
}
