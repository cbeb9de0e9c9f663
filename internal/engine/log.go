package engine

// warn passes on to the caller of this process what a person should know.
func (e *core) warn(id, text string) {
	e.log.Warn(text, "component", "engine", "task", id)
	if e.hear != nil {
		e.hear(text)
	}
}

// OnWarn has a person hear what is no part of an answer.
func (e *core) OnWarn(hear func(text string)) { e.hear = hear }

// logFailure writes into the log what could not be done for a task; the act that it belongs to goes on.
func (e *core) logFailure(what, id string, err error) {
	e.log.Warn(what, "component", "engine", "task", id, "error", err.Error())
}
