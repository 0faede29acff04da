// Checkstatements reads the Go files of folders, except tests, and fails if an SQL statement in them contains a name that depends
// on the caller's search_path: a function, operator or type that is not qualified, or a key word such as IN that stands for an
// operator.
//
//	go run ./scripts/checkstatements FOLDER...
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	found, err := checkFolders(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, slip := range found {
		fmt.Fprintln(os.Stderr, slip)
	}
	if len(found) > 0 {
		fmt.Fprintln(os.Stderr, "qualify these names in statements: pg_catalog.now(), operator(pg_catalog.=), ::pg_catalog.text")
		os.Exit(1)
	}
}

func checkFolders(folders []string) (found []string, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			slips, err := checkFile(path)
			found = append(found, slips...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// isStatement reports whether a text is an SQL statement or a part of one: by its first word, a call in the schema S, or a cast.
var isStatement = regexp.MustCompile(`^\s*\(?(with (recursive )?[a-z_]+ (as|\([a-z_, ]+\) as)|select|insert|update|delete|from|where|when|case|join|left join|cross join|array\(select) |[^A-Za-z]S\.[a-z_]|^S\.[a-z_]|::[a-z]`)

func checkFile(path string) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil || !isStatement.MatchString(text) {
			return true
		}
		for _, slip := range slips(text) {
			found = append(found, fmt.Sprintf("%s: %s", files.Position(literal.Pos()), slip))
		}
		return true
	})
	return found, nil
}
