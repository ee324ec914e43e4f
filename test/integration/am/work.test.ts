import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runAm, startAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

const service = useSharedService();

test('work runs a command for each item, and releases an item when the command fails', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const [annEnv, env] = [await tokenEnv(service.url, ann.token), await tokenEnv(service.url, bob.token)];
  const inbox = { types: ['message.created'], lease_seconds: 60, max_attempts: 5, ordered_by_thread: true };
  const answer = await service.put(bob, '/inbox', inbox);
  expect(answer.status).toBe(200);
  const folder = await createFolder();
  const [log, script] = [join(folder, 'log'), join(folder, 'handle.sh')];
  await writeFile(script, `cat >> ${log}; echo "attempt $AM_ATTEMPT" >> ${log}; [ "$AM_ATTEMPT" -gt 1 ]\n`);
  const working = startAm(['work', '--exec', `sh ${script}`, '--consumer', 'one', '--json'], { env });
  await runAm(['send', bob.handle, 'to be handled'], { env: annEnv });
  await expect.poll(() => working.lines()).toMatchObject([{ type: 'handled' }]);
  const text = await readFile(log, 'utf8');
  expect(text.match(/attempt \d/g)).toEqual(['attempt 1', 'attempt 2']);
  expect(text).toContain('"content":"to be handled"');
  const { code, err } = await working.stop();
  expect([code, err]).toEqual([0, expect.stringContaining('the command ended with 1')]);
  expect((await runAm(['work'], { env })).code).toBe(2);
});
