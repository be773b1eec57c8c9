package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings(os.Args[1:])...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, systemEnv(), os.Args[1:]))
}

// endings are the signals that end the tool in good order. That of a terminal which is
// closed is one of them, unless it was to be ignored (nohup), or has another meaning: a gate
// that runs reads its lists again.
func endings(args []string) []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	daemon := len(args) > 1 && args[0] == "gate" && (args[1] == "follow" || args[1] == "live")
	if !daemon && !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
