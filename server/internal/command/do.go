package command

// Do runs one command for a user that has no connection, and returns the reply. After an
// error it is unknown what was stored.
func (e *Env) Do(u *User, from string, args [][]byte) ([]byte, error) {
	s := NewSession(e, 0, from, "")
	s.setUser(u)
	s.Begin()
	defer s.End()
	if err := s.Take(args); err != nil {
		return nil, err
	}
	if err := s.Flush(); err != nil {
		return nil, err
	}
	return s.Writer().Bytes(), nil
}

// About describes a session: the name of the connection, its user and its last command.
func (s *Session) About() (name, user, command string) {
	s.about.mu.Lock()
	defer s.about.mu.Unlock()
	if cmd := s.about.command.Load(); cmd != nil {
		command = cmd.Name
	}
	return s.about.name, s.about.user, command
}

// Memory returns the memory that the process has.
func Memory() (resident uint64) {
	resident, _ = memory()
	return resident
}
