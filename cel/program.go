package cel

import (
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

const (
	selfName    = "self"
	oldSelfName = "oldSelf"
)

// A programKey is what a compiled expression depends on.
type programKey struct {
	of         *shape // of self
	optional   bool   // oldSelf is an optional value
	message    bool   // the expression makes a text, and not a verdict
	expression string
}

// A program is a compiled expression.
type program struct {
	once          sync.Once
	err           string // why it cannot be evaluated, in the words of the server
	run           celgo.Program
	usesOldSelf   bool
	self, oldSelf *access // what it reads
}

// compile returns the program of an expression. Only one goroutine compiles it.
func (c *Compiler) compile(key programKey, envs *environments) *program {
	p := c.programs.get(key, func() *program { return new(program) })
	p.once.Do(func() {
		defer func() {
			if r := recover(); r != nil {
				p.run, p.err = nil, fmt.Sprintf("internal error: %v", r)
			}
		}()
		p.compile(key, envs)
	})
	return p
}

// compile is compileRule of the server's package cel, but for what it estimates.
func (p *program) compile(key programKey, envs *environments) {
	prefix, what, want := "", "program", celgo.BoolType
	if key.message {
		prefix, what, want = "messageExpression ", "messageExpression", celgo.StringType
	}
	env, err := envs.get(key.optional)
	if err != nil {
		p.err = err.Error()
		return
	}
	ast, issues := env.Compile(key.expression)
	switch {
	case issues != nil:
		p.err = prefix + "compilation failed: " + issues.String()
		return
	case ast.OutputType() != want && key.message:
		p.err = "messageExpression must evaluate to a string"
		return
	case ast.OutputType() != want:
		p.err = "cel expression must evaluate to a bool"
		return
	}
	for _, r := range ast.NativeRep().ReferenceMap() {
		if r.Name == oldSelfName {
			p.usesOldSelf = true
		}
	}
	// The program keeps its environment, and what the types of self add to this one it does not
	// need.
	run, err := envs.base.Program(ast,
		celgo.CostLimit(celconfig.PerCallLimit), celgo.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		p.err = what + " instantiation failed: " + err.Error()
		return
	}
	p.run = run
	p.self, p.oldSelf = accesses(ast.NativeRep(), key.of, envs.keywords)
	p.self.read()
	p.oldSelf.read()
}

// environments are those in which the expressions at a schema are compiled. Making one takes as
// long as compiling an expression.
type environments struct {
	base     *celgo.Env
	keywords bool
	of       *shape
	made     [2]*celgo.Env // without and with an optional oldSelf
}

func (e *environments) get(optional bool) (*celgo.Env, error) {
	i := 0
	if optional {
		i = 1
	}
	if e.made[i] != nil {
		return e.made[i], nil
	}
	p := &provider{e.base.CELTypeProvider(), e.keywords, map[string]*shape{}}
	self := p.typeOf(e.of, selfType)
	oldSelf := self
	if optional {
		oldSelf = celgo.OptionalType(self)
	}
	env, err := e.base.Extend(celgo.CustomTypeProvider(p),
		celgo.Variable(selfName, self), celgo.Variable(oldSelfName, oldSelf))
	e.made[i] = env
	return env, err
}
