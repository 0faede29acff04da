// Package gwprom has Prometheus metrics of workers and of their queue. docs/observe.md lists them.
//
//	metrics, err := gwprom.New(prometheus.DefaultRegisterer)
//	if err != nil {
//		return err
//	}
//	metrics.Watch(worker)
//	prometheus.MustRegister(gwprom.NewQueueCollector(worker.Client(), gwprom.QueueConfig{}))
//
// The first tells what the workers of this process do, by their events; sum it over processes. The second asks the
// database how many jobs stand where, when it is scraped, which is the same whoever asks: let one process do it.
//
// The label task has as many values as tasks are registered with the workers, or are in their crontabs.
package gwprom
