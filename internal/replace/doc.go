// Package replace replaces files as a whole or not at all.
package replace
