// This program uses module extproc as an importer does.
package main

import (
	"fmt"

	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

func main() {
	find := request.ByPath(schema.NewCatalog())
	server := extproc.NewServer(extproc.New(find, extproc.Options{}))
	fmt.Println(server.Protocols)
}
