package cluster

// stored is what a full run found, for quick ones.
var stored = costs{
	query: 1.45, add: 3.52, forward: 3.12, apply: 0.512, client: 1.431, alone: 264, lead: 921, replay: 611, follow: 237, idle: 3541,
	write: 4.34, waitAlone: 577, wait: 2770, netRecord: 238, netAdd: 8.07, diskRecord: 4476, diskAdd: 16, bits: 15.9,
	"one node, queries" + measuredRate: 333223, "one node, queries" + coresLeft: 0.908,
	"one node, adds" + measuredRate: 47434, "one node, adds" + coresLeft: 0.546,
	"three nodes, copies all, queries" + measuredRate: 166346, "three nodes, copies all, queries" + coresLeft: 1.097,
	"three nodes, copies all, adds" + measuredRate: 15397, "three nodes, copies all, adds" + coresLeft: 0.964,
	"three nodes, copies 1, queries" + measuredRate: 143412, "three nodes, copies 1, queries" + coresLeft: 0.946,
	"three nodes, copies 1, adds" + measuredRate: 17516, "three nodes, copies 1, adds" + coresLeft: 0.848,
}
