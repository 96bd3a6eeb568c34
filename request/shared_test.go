package request_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/request"
)

// TestBudgetIsShared: what a request of one gate holds is missing to those of another.
func TestBudgetIsShared(t *testing.T) {
	const limit = 700 << 10
	budget := request.NewBudget(limit)
	find := byPath(t)
	body := foo(`,"spec":{"a":"` + strings.Repeat("x", 200<<10) + `"}`)
	begin := func() *request.Exchange {
		gate := request.NewGate(request.Options{Budget: budget, MaxHeldBytes: 1})
		assert.Equal(t, int64(limit), gate.Options().MaxHeldBytes)
		return gate.Begin(post(t, foosPath, "", body))
	}
	first := begin()
	result, refused := first.Judge(find)
	require.Nil(t, refused)
	held, _ := budget.Held()
	assert.GreaterOrEqual(t, held, int64(len(result.Body)))

	second := begin()
	_, refused = second.Judge(find)
	require.NotNil(t, refused)
	assert.Equal(t, 503, refused.Code)
	second.Close()

	first.Close()
	held, idle := budget.Held()
	assert.Zero(t, held)
	assert.Positive(t, idle)
	third := begin()
	_, refused = third.Judge(find)
	assert.Nil(t, refused)
	third.Close()

	budget.DropIdle()
	held, idle = budget.Held()
	assert.Zero(t, held)
	assert.Zero(t, idle)
	assert.Equal(t, int64(request.DefaultMaxHeldBytes), request.NewBudget(0).Limit())
}
