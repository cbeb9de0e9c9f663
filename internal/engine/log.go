package engine

// warn passes on to the caller of this process what a person should know.
func (e *Engine) warn(id, text string) {
	e.Log.Warn(text, "component", "engine", "task", id)
	if e.Warn != nil {
		e.Warn(text)
	}
}

// logFailure writes into the log what could not be done for a task; the act that it belongs to goes on.
func (e *Engine) logFailure(what, id string, err error) {
	e.Log.Warn(what, "component", "engine", "task", id, "error", err.Error())
}
