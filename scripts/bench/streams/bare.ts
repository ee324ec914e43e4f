import { fileURLToPath } from 'node:url';
import { endChild, startChild } from '../stage.ts';

export interface BareServer {
  base: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts the bare WebSocket server that the service is compared with. */
export async function startBareServer(options: {
  node_arguments?: readonly string[];
  signal: AbortSignal;
  fail: (reason: Error) => void;
}): Promise<BareServer> {
  const { node_arguments = [], signal, fail } = options;
  let port = 0;
  let ending = false;
  const program = fileURLToPath(new URL('./bare-server.js', import.meta.url));
  const child = await startChild(program, {
    env: { NODE_ENV: 'production' },
    node_arguments,
    signal,
    fail: (reason) => ending || fail(reason),
    heard: (word) => {
      port = (word as { port: number }).port;
    },
  });
  return {
    base: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop() {
      ending = true;
      return endChild(child);
    },
  };
}
