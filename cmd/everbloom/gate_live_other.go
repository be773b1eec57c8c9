//go:build !linux

package main

import (
	"context"
	"errors"
)

func (g *gateLive) runDemo(context.Context) error { return errors.New("--demo: needs Linux") }
