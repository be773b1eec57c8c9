package main

import (
	linvon "github.com/linvon/cuckoo-filter"
	panmari "github.com/panmari/cuckoofilter"
	seiflotfy "github.com/seiflotfy/cuckoofilter"
)

const linvonModule = "github.com/linvon/cuckoo-filter"

// cuckooRivals are the cuckoo filters, all with buckets of four. The first two have fingerprints
// of one fixed length and so no say in their rate.
var cuckooRivals = []contender{
	{
		name: "panmari cuckoo 16b", module: "github.com/panmari/cuckoofilter",
		traits: short, peak: 64, build: newPanmari,
	},
	{
		name: "seiflotfy cuckoo 8b", module: "github.com/seiflotfy/cuckoofilter",
		peak: 32, build: newSeiflotfy,
	},
	{name: "linvon cuckoo 10/13b", module: linvonModule, peak: 64, build: linvonOf(linvon.TableTypeSingle, 10, 13)},
	{name: "linvon cuckoo 12/16b", module: linvonModule, peak: 64, build: linvonOf(linvon.TableTypeSingle, 12, 16)},
	{name: "linvon packed 10/13b", module: linvonModule, peak: 200, build: linvonOf(linvon.TableTypePacked, 10, 13)},
}

func newPanmari(w request) (set, error) {
	f := panmari.NewFilter(uint(w.n))
	return set{
		add:   func(b block) int { return count(b, func(k []byte) bool { return f.Insert(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Lookup(k) }) },
		del:   func(b block) int { return count(b, func(k []byte) bool { return f.Delete(k) }) },
		reset: f.Reset,
	}, nil
}

func newSeiflotfy(w request) (set, error) {
	f := seiflotfy.NewFilter(uint(w.n))
	return set{
		add:   func(b block) int { return count(b, func(k []byte) bool { return f.Insert(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Lookup(k) }) },
		del:   func(b block) int { return count(b, func(k []byte) bool { return f.Delete(k) }) },
		reset: f.Reset,
	}, nil
}

// linvonOf returns the constructor for a kind of table with fingerprints of so many bits at the
// two usual rates.
func linvonOf(table uint, at1percent, at1permille int) func(request) (set, error) {
	return func(w request) (set, error) {
		fingerprint, err := bitsAsked(w.fpr, at1percent, at1permille)
		if err != nil {
			return set{}, err
		}
		return newLinvon(linvon.NewFilter(4, uint(fingerprint), uint(w.n), table)), nil
	}
}

func newLinvon(f *linvon.Filter) set {
	return set{
		add:   func(b block) int { return count(b, func(k []byte) bool { return f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Contain(k) }) },
		del:   func(b block) int { return count(b, func(k []byte) bool { return f.Delete(k) }) },
		reset: f.Reset,
		bits:  func() uint64 { return uint64(f.SizeInBytes()) * 8 },
	}
}
