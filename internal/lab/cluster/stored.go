package cluster

// stored is what a full run found, for quick ones.
var stored = costs{
	query: 1.464, add: 3.72, forward: 2.29, apply: 0.95, client: 1.485, alone: 264, lead: 975, replay: 814, follow: 265, idle: 2800, write: 3.5, waitAlone: 467, wait: 2640,
	netRecord: 244, netAdd: 8.04, diskRecord: 4478, diskAdd: 15.99, bits: 15.82,
	"one node, queries: operations/s": 315557, "one node, queries: cores left": 0.866,
	"one node, adds: operations/s": 26848, "one node, adds: cores left": 0.422,
	"three nodes, copies all, queries: operations/s": 122483, "three nodes, copies all, queries: cores left": 0.925,
	"three nodes, copies all, adds: operations/s": 10574, "three nodes, copies all, adds: cores left": 0.802,
	"three nodes, copies 1, queries: operations/s": 113444, "three nodes, copies 1, queries: cores left": 1.122,
	"three nodes, copies 1, adds: operations/s": 4883, "three nodes, copies 1, adds: cores left": 0.609,
}
