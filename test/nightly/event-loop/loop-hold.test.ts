import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildProbeEnv, maxHoldMs, measureHold } from './loop-hold.ts';

test('a call that blocks the event loop slightly longer than the limit counts as slow; one that yields does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ams-probe-'));
  const socket = join(folder, 'probe');
  const server = fork(resolve(import.meta.dirname, 'busy-server.mjs'), {
    env: { ...process.env, ...buildProbeEnv(socket) },
    execArgv: [],
  });
  onTestFinished(async () => {
    server.kill();
    await rm(folder, { recursive: true });
  });
  const [port] = await once(server, 'message');
  const call = (how: string, ms: number) =>
    measureHold(socket, () => fetch(`http://127.0.0.1:${String(port)}/${how}/${ms}`));
  expect(await call('holds', maxHoldMs + 5)).toBeGreaterThan(maxHoldMs);
  expect(await call('yields', 4 * maxHoldMs)).toBeLessThanOrEqual(maxHoldMs);
});
