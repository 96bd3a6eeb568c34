package projected_test

import (
	"context"
	"fmt"
	"log"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/kube/controllerruntime/projected"
)

// A manager with projection from a Go type.
func ExampleNewManager() {
	api, writes := newServer()
	defer api.Close()
	config := &rest.Config{Host: api.URL}

	rule := projected.Type[Widget]("example.com", "widgets")
	mgr, err := projected.NewManager(config, options(), rule)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	mgr.GetCache().WaitForCacheSync(ctx)

	// The cache has what the type has.
	w := new(Widget)
	if err := mgr.GetClient().Get(ctx, key, w); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Name, w.Spec.Size, len(w.ManagedFields))

	// An update would lose spec.template. A patch of what was read does not.
	before := w.DeepCopyObject().(*Widget)
	w.Spec.Size = 4
	err = mgr.GetClient().Update(ctx, w)
	fmt.Println("update refused:", apierrors.IsInvalid(err))
	if err := mgr.GetClient().Patch(ctx, w, client.MergeFrom(before)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(writes.all())

	cancel()
	fmt.Println(<-ended)
	// Output:
	// a 3 0
	// update refused: true
	// [PATCH {"spec":{"size":4}}]
	// <nil>
}
