import { fileURLToPath } from 'node:url';
import { type Bench, startProgram } from './service.ts';

export interface BareServer {
  base: string;
  pid: number;
}

/** Programs to compare the service with, each in a process of its own. */
export type BareProgram = 'peers/relay-process' | 'tools/bare-server' | 'tools/bare-stateless-server';

export async function startBareServer(
  bench: Bench,
  program: BareProgram,
  nodeArguments: readonly string[] = [],
): Promise<BareServer> {
  const path = fileURLToPath(new URL(`../${program}.js`, import.meta.url));
  const env = { NODE_ENV: 'production' };
  const { pid, message } = await startProgram(bench, path, { env, execArgv: nodeArguments });
  return { pid, base: `http://127.0.0.1:${(message as { port: number }).port}` };
}
