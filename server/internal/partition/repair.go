package partition

import "github.com/everbloom-go/everbloom/server/internal/log"

// breakDown refuses all changes until repair succeeds.
func (p *Partition) breakDown(text string, err error) {
	if p.broken.Swap(&err) == nil {
		p.report(text, err)
	}
}

// fatal handles memory that is not what the log says any more. It stays so.
func (p *Partition) fatal(err error) {
	p.lost = true
	if p.shared != nil {
		p.end(err)
		return
	}
	p.breakDown("a record cannot be applied: restart the server", err)
	if p.config.Fatal != nil {
		p.config.Fatal(err)
	}
}

// checkRoom refuses changes before the disk or the log is full. What a leader writes about itself is
// not refused.
func (p *Partition) checkRoom() {
	if p.role != Leading {
		return
	}
	if w, ok := p.log.(log.Watcher); ok {
		if err := w.Room(); err != nil {
			p.breakDown("the log is nearly full: writes are refused until there is room", err)
		}
	}
}

// repair sees whether there is room and reads the end of the log. What is there though its
// writer was told nothing is applied.
func (p *Partition) repair() {
	if p.lost {
		return
	}
	if w, ok := p.log.(log.Watcher); ok {
		if err := w.Probe(); err != nil {
			p.breakDown("the log is nearly full", err)
			return
		}
	}
	switch {
	case p.shared != nil: // a leader knows where the log ends
		p.resetEntries()
	case !p.readEnd():
		return
	}
	p.broken.Store(nil)
	p.report("the log works again: writes are accepted", nil)
}

// readEnd applies the records that are in the log and were not applied. It reports whether
// nothing came behind them.
func (p *Partition) readEnd() bool {
	if err := p.follow(p.ctx); err != nil {
		p.breakDown("the log cannot be read", err)
		return false
	}
	p.store.ForgetPieces() // no unit is deciding
	p.resetEntries()
	last, err := p.log.Last(p.ctx)
	return err == nil && last == p.position
}
