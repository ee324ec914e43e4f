import { Session } from 'node:inspector';

const session = new Session();
session.connect();

/**
 * Loaded before a program whose memory is measured (`--import`): SIGUSR2 collects all garbage. As in a process that is idle for some time,
 * V8 also shrinks its young generation and returns pages.
 */
process.on('SIGUSR2', () => session.post('HeapProfiler.collectGarbage'));
