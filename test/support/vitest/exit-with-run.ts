/*
 * A worker of vitest does not notice that the run is over: after a signal, or a kill, it would continue with its file. Nothing is
 * left to tidy up here: whatever a test started notices by itself that this process is gone.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
