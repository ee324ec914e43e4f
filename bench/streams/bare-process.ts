import { fileURLToPath } from 'node:url';
import { stopChild, startChild } from '../environment.ts';

const socketServerProgram = fileURLToPath(new URL('./bare-server.js', import.meta.url));

export interface BareServer {
  base: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a bare server to compare the service with: the WebSocket server unless `program` is set. */
export async function startBareServer(options: {
  program?: string;
  node_arguments?: readonly string[];
  signal: AbortSignal;
  fail: (reason: Error) => void;
}): Promise<BareServer> {
  const { program = socketServerProgram, node_arguments = [], signal, fail } = options;
  let port = 0;
  let ending = false;
  const child = await startChild(program, {
    env: { NODE_ENV: 'production' },
    node_arguments,
    signal,
    fail: (reason) => ending || fail(reason),
    onMessage: (message) => {
      port = (message as { port: number }).port;
    },
  });
  return {
    base: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop() {
      ending = true;
      return stopChild(child);
    },
  };
}
