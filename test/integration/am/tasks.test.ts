import { expect, test } from 'vitest';
import { runAm, startAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();

interface ShownTask {
  id: string;
  state: string;
}

/** Two agents, each with the environment of its commands. */
async function startAgents() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const [asAnn, asBob] = [await tokenEnv(service.url, ann.token), await tokenEnv(service.url, bob.token)];
  const ask = (content: string, fields: object = {}) =>
    service.post(ann, '/tasks', { with_handle: bob.handle, content, ...fields });
  return { ann, bob, asAnn, asBob, ask };
}

test('a question is due, listed, shown and answered with commands', async () => {
  const { ann, bob, asAnn, asBob } = await startAgents();
  const asking = startAm(['ask', bob.handle, 'When does it arrive?', '--due', '2h'], { env: asAnn });
  const list = async () => (await runAm(['tasks', '--asked', '--open'], { env: asBob })).out;
  await expect.poll(list).toContain('submitted');
  const [head, row = ''] = (await list()).split('\n');
  expect(head).toMatch(/^STATE +FROM +TO +DUE +CHANGED +ID$/);
  expect(row).toContain(`${ann.handle}  ${bob.handle}`);
  const id = row.split(/\s+/).at(-1) ?? '';

  const shown = await runAm(['task', 'show', id], { env: asBob });
  expect(shown.out).toMatch(/submitted, due \d{4}-/);
  expect(shown.out).toContain('  When does it arrive?');
  const done = await runAm(['task', 'done', id, 'Tomorrow.'], { env: asBob });
  expect([done.code, done.out]).toEqual([0, `${id} is completed\n`]);
  expect((await asking.ended).out).toContain('Tomorrow.');
  expect(await list()).toBe('');
  const late = await runAm(['task', 'done', id, 'Again.'], { env: asBob });
  expect([late.code, late.err]).toEqual([4, expect.stringContaining('INVALID_TRANSITION')]);
});

test('tasks are failed, rejected and canceled', async () => {
  const { asAnn, asBob, ask } = await startAgents();
  const ends = [
    ['fail', asBob, 'failed'],
    ['reject', asBob, 'rejected'],
    ['cancel', asAnn, 'canceled'],
  ] as const;
  for (const [command, env, state] of ends) {
    const { body } = await ask(command);
    const result = await runAm(['task', command, body.id, '--json'], { env });
    expect(JSON.parse(result.out)).toMatchObject({ id: body.id, state });
  }
  const tasks = await runAm(['tasks', '--asking', '--json', '--limit', '2'], { env: asAnn });
  const states = tasks.out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as ShownTask).state);
  expect(states).toEqual(['canceled', 'rejected']);
  expect((await runAm(['tasks', '--overdue'], { env: asAnn })).out).toBe('');
});

test('an unanswered question says how to see it, and wrong durations are refused', async () => {
  const { bob, asAnn } = await startAgents();
  const silent = await runAm(['ask', bob.handle, 'Well?', '--wait', '1'], { env: asAnn });
  expect([silent.code, silent.err]).toEqual([7, expect.stringMatching(/see: am task show tsk_/)]);
  expect((await runAm(['ask', bob.handle, 'Well?', '--due', 'soon'], { env: asAnn })).code).toBe(2);
  expect((await runAm(['task', 'show', 'tsk_1'], { env: asAnn })).code).toBe(5);
  expect((await runAm(['task', '--help'], { env: asAnn })).out).toContain('am task done tsk_01K…');
});
