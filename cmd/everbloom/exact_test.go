package main

import (
	"context"
	"errors"
	"os"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

var exactKind = kinds.Kind{
	Name:   "exact",
	Number: filtertest.ExactKind,
	Title:  "a set that never errs",
	Grows:  true,
	Maker: kinds.Maker{
		New: func(c kinds.Config) (filter.Filter, error) {
			return filtertest.NewExact(filtertest.ExactConfig{Items: c.Items}), nil
		},
		Predict: func(kinds.Config, uint64) (filter.Prediction, error) {
			return filter.Prediction{FastBitsPerKey: 64, HitLines: 1, MissLines: 1}, nil
		},
		Type: (*filtertest.Exact)(nil),
	},
}

// saveExact writes a file of that kind. Keys that are named twice are pinned; a
// last key "full" leaves no room for more.
func saveExact(path string, keys []string) error {
	config := filtertest.ExactConfig{Items: uint64(len(keys)), Duplicates: filter.DuplicatesPin}
	if n := len(keys); n > 0 && keys[n-1] == "full" {
		config.Items, config.Bounded, keys = uint64(n-1), true, keys[:n-1]
	}
	set := everbloom.NewSet(filtertest.NewExact(config), filter.Hash{})
	for _, k := range keys {
		if _, err := set.AddString(k); err != nil {
			return err
		}
	}
	return set.Save(path)
}

// loadAny loads files of all kinds, that of the tests included.
func loadAny(path string) (*everbloom.Set, error) {
	set, err := everbloom.Open(path)
	if !errors.Is(err, filter.ErrKind) {
		return set, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := filtertest.ReadExact(file)
	if err != nil {
		return nil, err
	}
	return everbloom.NewSet(f, filter.Hash{}), nil
}

// updateAny updates files of all kinds, that of the tests without a lock.
func updateAny(ctx context.Context, path string, change func(*everbloom.Set) error) error {
	err := everbloom.Update(ctx, path, change)
	if !errors.Is(err, filter.ErrKind) {
		return err
	}
	set, err := loadAny(path)
	if err != nil {
		return err
	}
	if err := change(set); err != nil {
		return err
	}
	return set.Save(path)
}
