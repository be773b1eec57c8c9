package filtertest

// values returns a byte that stands for each command.
func values() map[string]byte {
	out := make(map[string]byte)
	for value, c := range commandsByValue(anyCommand) {
		out[c.name] = byte(value)
	}
	return out
}

// seedScripts returns inputs that reach every command: each once, between
// additions, in filters of several sizes.
func seedScripts() [][]byte {
	var scripts [][]byte
	value := values()
	for _, geometry := range [][]byte{{0, 0, 1}, {7, 1, 2}, {31, 2, 0}, {63, 3, 4}} {
		var all []byte
		for _, c := range commands() {
			if c.weights[anyCommand] == 0 {
				continue
			}
			one := append(someAdds(24), value[c.name])
			one = append(one, argumentsOf(c.name)...)
			one = append(one, value["delete"], 3, 0, value["check all"])
			scripts = append(scripts, append(geometry[:3:3], one...))
			all = append(all, one...)
		}
		scripts = append(scripts, append(geometry[:3:3], all...))
	}
	return scripts
}

// someAdds returns commands that add n keys.
func someAdds(n byte) []byte {
	add := values()["add"]
	var out []byte
	for i := range n {
		out = append(out, add, 5*i, 0)
	}
	return out
}

// argumentsOf returns bytes that a command can make something of.
func argumentsOf(name string) []byte {
	switch name {
	case "union", "intersect":
		return append([]byte{12}, someAdds(12)...)
	case "add batch":
		return []byte{9, 1, 0, 2, 0, 3, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 200, 1}
	case "restart":
		return []byte{0, 20, 2, 9}
	}
	return []byte{6, 0}
}
