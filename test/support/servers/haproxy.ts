import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { findFreePort } from '../free-port.ts';
import { startGuarded } from './guarded-process.ts';

const program = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((path) => existsSync(path));
const settings = join(import.meta.dirname, '../../../deploy/haproxy/haproxy.cfg');

/** Why suites that need the real balancer cannot run; undefined when they can. */
export const missingHaproxyReason =
  program === undefined ? 'no haproxy: on Debian, apt-get install haproxy' : undefined;

/** A request that went through the balancer, as its log tells it. */
export interface ProxiedRequest {
  method: string;
  path: string;
  status: number;
  /** How it ended: `----` in order; else who ended it first, and when (HAProxy, session state at disconnection). */
  ending: string;
  server: string;
}

/** The balancer of the compose file, with its own settings, before two ports of this machine. */
export async function startHaproxy(apis: readonly [number, number]) {
  const [port, health] = [await findFreePort(), await findFreePort()];
  const { child, end } = startGuarded([program ?? 'haproxy', '-db', '-f', settings], {
    env: {
      BALANCER_BIND: `127.0.0.1:${port}`,
      BALANCER_HEALTH_BIND: `127.0.0.1:${health}`,
      BALANCER_API_1: `127.0.0.1:${apis[0]}`,
      BALANCER_API_2: `127.0.0.1:${apis[1]}`,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const carried: ProxiedRequest[] = [];
  if (!child.stdout) throw new Error('the balancer has no log');
  createInterface(child.stdout).on('line', (line) => {
    const [, method = '', path = '', status = '', ending = '', server = ''] = line.split(' ');
    if (/^-?\d+$/.test(status)) carried.push({ method, path, status: Number(status), ending, server });
  });
  await vi.waitFor(async () => {
    const answer = await fetch(`http://127.0.0.1:${health}/healthz`);
    if (!answer.ok) throw new Error(`the balancer answers ${answer.status}`);
  }, 30_000);
  return {
    url: `http://127.0.0.1:${port}`,
    carried,
    /** What it measures about itself, in Prometheus' text format. */
    metrics: async () => (await fetch(`http://127.0.0.1:${health}/metrics`)).text(),
    stop: end,
  };
}
