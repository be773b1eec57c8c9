module github.com/everbloom-go/everbloom

go 1.26

require (
	github.com/dchest/siphash v1.2.3
	github.com/twmb/murmur3 v1.1.8
	github.com/zeebo/xxh3 v1.1.0
	golang.org/x/sys v0.37.0
)

require github.com/klauspost/cpuid/v2 v2.2.10 // indirect
