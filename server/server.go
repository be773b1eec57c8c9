package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/setting"
)

// Settings are what a server can be told: see [SettingTable].
type Settings = setting.Settings

// A Setting is one row of the table of settings.
type Setting = setting.Setting

// NewSettings returns the defaults.
func NewSettings() *Settings { return setting.New() }

// SettingTable returns all settings.
func SettingTable() []Setting { return setting.Table() }

// A Server serves the sets of one folder.
type Server struct {
	settings  *Settings
	logger    *slog.Logger
	folder    *folder
	shards    []atomic.Pointer[shard] // one, unless the server is part of a cluster
	node      *node                   // nil if the server is alone
	host      *command.Host
	listeners []net.Listener
	web       *web
	memory    atomic.Int64 // bytes that sets may take
	idle      atomic.Int64 // nanoseconds that connections may be idle; 0 means any time
	loginTime time.Duration
	hooks     hooks

	mu      sync.Mutex
	conns   map[int64]*conn
	roles   [roles]int // connections
	nextID  int64
	serving bool // before, clients are told that the server loads
	ending  bool
	wg      sync.WaitGroup
	failed  chan error
	stop    context.CancelFunc
}

// hooks are what tests replace; zero fields mean what a server has usually.
type hooks struct {
	clock    partition.Clock
	dial     func(ctx context.Context, address string) (net.Conn, error) // to other servers
	patience time.Duration                                               // of commands without a leader
	level    uint8                                                       // of records that the server reads
	logBytes int64                                                       // that the log of a partition may take
	lease    time.Duration                                               // of leaders
	dead     atomic.Bool                                                 // it ends without a word to other servers
}

// Open reads what is in the folder, and listens. After an error nothing is open.
func Open(ctx context.Context, settings *Settings, logger *slog.Logger) (*Server, error) {
	s := newServer(settings, logger)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func newServer(settings *Settings, logger *slog.Logger) *Server {
	return &Server{settings: settings, logger: logger, loginTime: loginTime, conns: make(map[int64]*conn), failed: make(chan error, 1)}
}

// open reads what is in the folder, or joins the cluster, and listens. After an error some of it
// is open.
func (s *Server) open(ctx context.Context) error {
	s.configure()
	users, err := readUsers(s.settings.Get("users"))
	if err != nil {
		return err
	}
	if err := allowAddresses(s.settings, users != nil); err != nil {
		return err
	}
	s.makeHost(users)
	if err := s.openFolder(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	load := s.load
	if s.mode().way != "alone" {
		load = s.join
	}
	if err := load(ctx); err != nil {
		return err
	}
	s.web.start(s)
	s.mu.Lock()
	s.serving = true
	s.mu.Unlock()
	return nil
}

var errNoFolder = errors.New("server: no data folder: name one with --dir")

// openFolder takes the folder, unless the log needs none.
func (s *Server) openFolder() error {
	if s.settings.Get("log") == "memory" {
		return nil
	}
	dir := s.settings.Get("dir")
	if dir == "" {
		return errNoFolder
	}
	var err error
	s.folder, err = openFolder(dir)
	return err
}

// load brings images and log into memory.
func (s *Server) load(ctx context.Context) error {
	started := time.Now()
	l, err := s.openLog()
	if err != nil {
		return advise(err)
	}
	h := &shard{server: s, log: l}
	s.shards = make([]atomic.Pointer[shard], 1)
	s.shards[0].Store(h)
	if err := h.openAlone(ctx); err != nil {
		return err
	}
	if s.folder != nil {
		if err := s.folder.mark(s.mode()); err != nil {
			return err
		}
	}
	sets, _ := h.store.Len()
	s.logger.Info("loaded", "sets", sets, "bytes", h.store.Bytes(), "took", time.Since(started).Round(time.Millisecond))
	return nil
}

// advise says what to do about a log that cannot be read.
func advise(err error) error {
	if errors.Is(err, log.ErrGap) || errors.Is(err, record.ErrDamaged) {
		return fmt.Errorf("%w: restore a copy of the folder", err)
	}
	return err
}

// newHash returns the hash of a folder that is new.
func (s *Server) newHash() filter.Hash {
	if s.settings.Get("hash") == "xxh3" {
		return filter.Hash{}
	}
	return filter.NewSipHash()
}

// makeHost puts together what commands need, but for the sets.
func (s *Server) makeHost(users *command.Users) {
	table := command.NewTable()
	s.host = &command.Host{
		Table: table, Settings: s.settings, Users: users, Clients: s,
		Slow: command.NewSlowLog(s.settings), Stats: command.NewStats(table), MaxMemory: s.maxMemory, Configure: s.configure,
		Started: time.Now(), RunID: rand.Text(), Version: version(), Shutdown: func() { s.fatal(nil) },
	}
}

// version returns the release of everbloom.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// unknownMemory is taken for the memory of a machine that does not tell.
const unknownMemory = 4 << 30

// configure takes over the settings that every command asks for.
func (s *Server) configure() {
	limit := int64(s.settings.Number("maxmemory"))
	if limit == 0 {
		total, ok := mem.Total()
		if !ok {
			total = unknownMemory
		}
		limit = int64(total / 4 * 3)
	}
	s.memory.Store(limit)
	s.idle.Store(int64(time.Duration(s.settings.Number("timeout")) * time.Second))
	if s.node != nil {
		s.node.checkImageAfter()
	}
}

// maxMemory returns how many bytes sets may take.
func (s *Server) maxMemory() int64 { return s.memory.Load() }

// report tells the operator about the log.
func (s *Server) report(text string, err error) {
	if err != nil {
		s.logger.Error(text, "error", err)
		return
	}
	s.logger.Info(text)
}

// fatal ends the server.
func (s *Server) fatal(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Serve serves until ctx ends, SHUTDOWN is called or the server cannot go on, which is an
// error. Then everything is closed.
func (s *Server) Serve(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	s.wg.Go(func() { newCollector().run(ctx) })
	if s.node == nil {
		s.wg.Go(func() { s.first().keeper.run(ctx) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
		s.stop()
	}
	return errors.Join(err, s.close())
}

// close ends connections, then what is behind them.
func (s *Server) close() error {
	if s.node != nil && !s.hooks.dead.Load() {
		s.node.handOverAll()
	}
	s.mu.Lock()
	s.ending = true
	for _, c := range s.conns {
		c.interrupt()
	}
	s.mu.Unlock()
	for _, l := range s.listeners {
		_ = l.Close() // nothing can be done about it
	}
	s.web.close()
	if s.node != nil {
		s.node.router.Close()
		s.node.stop() // commands wait for logs, which may not answer as long as partitions are open
	}
	s.wg.Wait()
	err := s.release()
	s.logger.Info("ended")
	return err
}

// release closes what is open.
func (s *Server) release() error {
	for _, l := range s.listeners {
		_ = l.Close() // it may be closed already
	}
	if s.web != nil {
		s.web.close()
	}
	var errs []error
	if s.node != nil {
		errs = append(errs, s.node.close())
	}
	for h := range s.loaded() {
		errs = append(errs, h.close())
	}
	if s.folder != nil {
		errs = append(errs, s.folder.close())
	}
	return errors.Join(errs...)
}

// Addr returns the address of the Redis protocol.
func (s *Server) Addr() net.Addr { return s.listeners[0].Addr() }

// WebAddr returns the address of the console and of /metrics, nil if there is none.
func (s *Server) WebAddr() net.Addr { return s.web.addr() }
