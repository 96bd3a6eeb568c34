package projected_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/projection"
)

// Without controller-runtime: an informer of client-go, for maps, with paths.
func Example_dynamicInformer() {
	api, _ := newServer()
	defer api.Close()
	config := &rest.Config{Host: api.URL}

	p, err := projection.New(projection.Options{}, projection.Rule{
		Group: "example.com", Resource: "widgets", Keep: []string{"spec.size", "status.ready"},
	})
	if err != nil {
		log.Fatal(err)
	}
	config.Wrap(p.Transport)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(widgets.WithResource("widgets")).Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	for _, obj := range informer.GetStore().List() {
		u := obj.(*unstructured.Unstructured)
		fmt.Println(u.GetName(), u.Object["spec"], u.Object["status"])
	}
	cancel()
	factory.Shutdown()
	// Output:
	// a map[size:3] map[ready:true]
}
