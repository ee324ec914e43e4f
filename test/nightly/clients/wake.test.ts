import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createClient } from '../../../packages/client/src/node/main.ts';
import { startAm, tokenEnv } from '../../clients/am.ts';
import { startService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

vi.setConfig({ testTimeout: 600_000 });

const messages = 100;

/** The command of a wake: it notes when it starts and ends, and reads nothing. */
const noteTimes = `
const { appendFileSync } = require('node:fs');
appendFileSync(process.env.LOG, 'start ' + Date.now() + '\\n');
setTimeout(() => appendFileSync(process.env.LOG, 'end ' + Date.now() + '\\n'), 50);`;

test('measures the time from a message to the start of the command of a wake', async () => {
  const service = await startService({ worker: false });
  const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
  const [asAda, asBob] = [ada, bob].map(({ token }) => createClient({ url: service.url, auth: token }));
  if (!asAda || !asBob) throw new Error('no clients');
  const LOG = join(await createFolder(), 'log');
  const readLog = async () => (await readFile(LOG, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const env = { ...(await tokenEnv(service.url, bob.token)), LOG, NOTE_TIMES: noteTimes };
  const exec = `"${process.execPath}" -e "$NOTE_TIMES"`;
  const waking = startAm(['wake', '--agent-harness', 'command', '--exec', exec], { env });
  const { id: thread_id } = await asAda.threads.create({ with_handle: bob.handle });
  const delays: number[] = [];
  for (let number = 1; number <= messages; number += 1) {
    const sentAt = Date.now();
    const { sequence } = await asAda.messages.send({ thread_id, content: String(number) });
    // One wake for each message: the one before has ended, and was read.
    await expect.poll(readLog, { interval: 5 }).toHaveLength(2 * number);
    await asBob.threads.markRead({ thread_id, up_to_sequence: sequence });
    const [, startedAt] = (await readLog()).at(-2)?.split(' ') ?? [];
    delays.push(Number(startedAt) - sentAt);
  }
  await waking.stop();
  await service.stop();
  // Never two that are not consumed.
  const kinds = (await readLog()).map((line) => line.split(' ')[0]);
  expect(kinds).toEqual(Array.from({ length: messages }, () => ['start', 'end']).flat());
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * messages) - 1];
  process.stdout.write(`${messages} wakes: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms\n`);
});
