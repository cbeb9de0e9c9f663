package metrics

import (
	"errors"
	"maps"
	"sync"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/wire"
)

// Requests counts the requests of people that a worker forwards, by how they ended.
type Requests struct {
	interceptor.WorkerInterceptorBase

	lock   sync.Mutex
	counts map[string]int64
}

// ResultAnswered is the result of a request that its host answered.
const ResultAnswered = "answered"

// Counts are the counts so far. That of the answered is always there.
func (r *Requests) Counts() map[string]int64 {
	r.lock.Lock()
	defer r.lock.Unlock()
	all := map[string]int64{ResultAnswered: 0}
	maps.Copy(all, r.counts)
	return all
}

func (r *Requests) add(err error) {
	result := ResultAnswered
	var said *temporal.ApplicationError
	switch {
	case errors.As(err, &said):
		result = said.Type()
	case err != nil:
		result = "failed"
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.counts == nil {
		r.counts = map[string]int64{}
	}
	r.counts[result]++
}

// InterceptWorkflow sees the updates of every workflow.
func (r *Requests) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor,
) interceptor.WorkflowInboundInterceptor {
	return &updateCounter{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}, to: r}
}

type updateCounter struct {
	interceptor.WorkflowInboundInterceptorBase
	to *Requests
}

// ValidateUpdate counts a request that custody refuses. It is not called in a replay.
func (i *updateCounter) ValidateUpdate(ctx workflow.Context, in *interceptor.UpdateInput) error {
	err := i.Next.ValidateUpdate(ctx, in)
	if err != nil && in.Name == wire.AskUpdate && !workflow.IsReplaying(ctx) {
		i.to.add(err)
	}
	return err
}

// ExecuteUpdate counts a request at its end, once: a replay repeats it, and does not count it again.
func (i *updateCounter) ExecuteUpdate(ctx workflow.Context, in *interceptor.UpdateInput) (any, error) {
	answer, err := i.Next.ExecuteUpdate(ctx, in)
	if in.Name == wire.AskUpdate && !workflow.IsReplaying(ctx) {
		i.to.add(err)
	}
	return answer, err
}
