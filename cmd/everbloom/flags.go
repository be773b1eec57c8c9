package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// parsed is a flag whose text becomes a T.
type parsed[T any] struct {
	to    *T
	name  string // of its values, in the help
	parse func(text string) (T, error)
	show  func(T) string // the default that the help shows; nil if its text explains it
}

// Set implements pflag.Value.
func (p parsed[T]) Set(text string) (err error) {
	*p.to, err = p.parse(text)
	return err
}

// Type implements pflag.Value.
func (p parsed[T]) Type() string { return p.name }

func (p parsed[T]) String() string {
	if p.show == nil {
		return ""
	}
	return p.show(*p.to)
}

// countFlag is a number of keys and the like.
func countFlag(to *uint64) pflag.Value {
	return parsed[uint64]{to, "N", quantity.ParseCount, nonzero}
}

// bytesFlag is an amount of memory.
func bytesFlag(to *uint64) pflag.Value {
	return parsed[uint64]{to, "N", quantity.ParseBytes, nonzero}
}

// nonzero shows no default where zero stands for one.
func nonzero(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// rateFlag is a rate of false positives.
func rateFlag(to *float64) pflag.Value {
	show := func(rate float64) string {
		if rate == 0 {
			return ""
		}
		return strconv.FormatFloat(rate, 'g', -1, 64)
	}
	return parsed[float64]{to, "P", quantity.ParseRate, show}
}

// spareFlag is what to save first.
func spareFlag(to *everbloom.Resource) pflag.Value {
	return parsed[everbloom.Resource]{to, "RESOURCE", everbloom.ParseResource, everbloom.Resource.String}
}

// gateHashFlag is the hash of a gate, where the zero value means a new secret.
func gateHashFlag(to *filter.Hash) pflag.Value {
	parse := func(text string) (filter.Hash, error) {
		h, err := filter.ParseHash(text)
		if err == nil && h == (filter.Hash{}) {
			h = filter.XXH3(1)
		}
		return h, err
	}
	return parsed[filter.Hash]{to, "HASH", parse, nil}
}

// hashFlag is a hash. Neither its String nor an error shows a secret.
func hashFlag(to *filter.Hash) pflag.Value {
	return parsed[filter.Hash]{to, "HASH", filter.ParseHash, filter.Hash.Name}
}

// seedFlag is a number with a plain message if it is none.
func seedFlag(to *uint64) pflag.Value {
	parse := func(text string) (uint64, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, errors.New("it must be a whole number from 0 to 2^64 - 1")
		}
		return n, nil
	}
	return parsed[uint64]{to, "uint64", parse, nonzero}
}

// fieldFlag is the number of a field.
func fieldFlag(to *int) pflag.Value {
	parse := func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q must be a number from 1", text)
		}
		return n, nil
	}
	return parsed[int]{to, "N", parse, nil}
}

// delimiterFlag is a text in which \t and its like are understood.
func delimiterFlag(to *string) pflag.Value {
	parse := func(text string) (string, error) {
		plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
		if err != nil || plain == "" {
			return "", fmt.Errorf("%q must be a text, such as , or \\t; write \\\\ for a backslash", text)
		}
		return plain, nil
	}
	return parsed[string]{to, "TEXT", parse, nil}
}

// commentFlag adds a prefix each time.
func commentFlag(to *[]string) pflag.Value {
	parse := func(text string) ([]string, error) {
		if text == "" {
			return *to, errors.New("an empty prefix would skip all lines")
		}
		return append(*to, text), nil
	}
	return parsed[[]string]{to, "PREFIX", parse, nil}
}

// confirmFlag is a switch with a third state: left alone, the kind decides.
func confirmFlag(to *gate.Confirmation) pflag.Value {
	parse := func(text string) (gate.Confirmation, error) {
		on, err := strconv.ParseBool(text)
		switch {
		case err != nil:
			return *to, errors.New("must be true or false")
		case on:
			return gate.ConfirmAlways, nil
		}
		return gate.ConfirmNever, nil
	}
	return parsed[gate.Confirmation]{to, "bool", parse, nil}
}

// quietFlag adds the flag of verbs that end with a line about what they did.
func quietFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "quiet", false, "say nothing unless something is wrong")
}

// complete tells the shell what a flag may be.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag: an error in the program that every test would meet
	}
}
