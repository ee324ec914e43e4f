import { startRelayServer } from './relay-server.ts';

/**
 * The relay in a process of its own, so that it does not share an event loop with the load generator. It sends its port to the parent, as
 * every program that the benchmark starts.
 */
const server = await startRelayServer();
process.send?.({ port: server.port });

function stop(): void {
  server.close();
  process.exit(0);
}

process.once('SIGTERM', stop);
// The IPC channel closes when the parent exits for any reason.
process.once('disconnect', stop);
