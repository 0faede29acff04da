// Package packaging contains only tests: of the files in this folder, and of the programs that they install.
package packaging
