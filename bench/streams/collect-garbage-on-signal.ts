/** Loaded before a program whose memory is measured (`--expose-gc --import`): SIGUSR2 collects all garbage. */
process.on('SIGUSR2', () => globalThis.gc?.());
