// Package parallel does work in several goroutines and keeps the results in
// order.
package parallel

import "sync"

// pending is how many results of one input wait for those before it.
const pending = 16

// InOrder works on items in n goroutines, and passes on what comes of them in the
// order of the items. work calls emit for each result, in the goroutine with the
// given number, and returns when emit says no. The items that are worked on are
// never more than n ahead of the one whose results are passed on, and no more than
// pending results of each are kept, so that the memory does not depend on how many
// items there are.
//
// The first error of take ends all. Goroutines that wait for input then are not
// waited for.
func InOrder[T, R any](n int, items []T, work func(worker int, item T, emit func(R) bool), take func(item T, result R) error) error {
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
		for _, item := range items {
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
