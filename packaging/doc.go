// Package packaging has nothing but tests: of the files in this folder, and of the programs that they are about.
package packaging
