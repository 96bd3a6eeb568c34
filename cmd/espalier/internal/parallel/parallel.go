// Package parallel does work in several goroutines and keeps the results in
// order.
package parallel

import (
	"iter"
	"sync"
)

// pending is how many results of an item may wait for those of earlier items.
const pending = 16

// InOrder calls work for the items in n goroutines, and take for the results in the order of
// the items. work calls emit for each of its results, and returns when emit returns false;
// worker is the number of its goroutine. At most n items are begun before the results of an
// earlier one are taken, and at most pending results of each wait, so that memory does not
// depend on the number of items.
//
// The first error of take ends InOrder. It does not wait for goroutines that are waiting for
// input then.
func InOrder[T, R any](n int, items iter.Seq[T], work func(worker int, item T, emit func(R) bool), take func(item T, result R) error) error {
	type job struct {
		item    T
		results chan R
	}
	stop := make(chan struct{})
	queue, line := make(chan job, n), make(chan job, n)
	var workers sync.WaitGroup
	for w := range n {
		workers.Go(func() {
			for j := range queue {
				work(w, j.item, func(r R) bool {
					select {
					case j.results <- r:
						return true
					case <-stop:
						return false
					}
				})
				close(j.results)
			}
		})
	}
	go func() {
		defer close(queue)
		defer close(line)
		for item := range items {
			j := job{item, make(chan R, pending)}
			for _, to := range []chan job{line, queue} {
				select {
				case to <- j:
				case <-stop:
					return
				}
			}
		}
	}()
	for j := range line {
		for r := range j.results {
			if err := take(j.item, r); err != nil {
				close(stop)
				return err
			}
		}
	}
	workers.Wait()
	return nil
}
