// Package console serves the pages of pkg/gwui over HTTP for gw-run: on which address, for whom, under which names.
package console
