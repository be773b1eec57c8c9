package filtertest

import "math/rand/v2"

// seedScripts returns inputs that reach every command, in filters of several sizes.
func seedScripts() [][]byte {
	random := rand.New(rand.NewPCG(1, 1))
	scripts := make([][]byte, 24)
	for i := range scripts {
		scripts[i] = make([]byte, 400)
		for at := range scripts[i] {
			scripts[i][at] = byte(random.Uint32())
		}
	}
	return scripts
}
