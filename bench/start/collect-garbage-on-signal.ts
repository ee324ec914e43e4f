/**
 * Loaded before a program whose memory is measured (`--expose-gc --import`): SIGUSR2 collects all garbage. The last resort of V8 also
 * shrinks its young generation, as V8 does by itself in a process that is idle for some time.
 */
process.on('SIGUSR2', () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }));
