package extproc_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// An external processor is an http.Server, which ends well.
func Example() {
	catalog := schema.NewCatalog()
	if err := catalog.AddPath("../testdata/quickstart/crd.yaml"); err != nil {
		log.Fatal(err)
	}
	processor := extproc.New(request.ByPath(catalog), extproc.Options{})
	server := extproc.NewServer(processor) // an http.Server, for gRPC
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- server.Serve(listener) }()

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	answer, err := healthv1.NewHealthClient(conn).Check(context.Background(), &healthv1.HealthCheckRequest{})
	fmt.Println(answer.GetStatus(), err)

	processor.Drain()                           // Envoy sends no further requests,
	err = server.Shutdown(context.Background()) // and those that it has sent end
	fmt.Println(err, <-ended)
	// Output:
	// SERVING <nil>
	// <nil> http: Server closed
}
