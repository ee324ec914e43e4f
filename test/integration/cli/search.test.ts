import { beforeAll, expect, test } from 'vitest';
import type { TestAgent } from '../../support/service.ts';
import { startSearchService } from '../rest/search/setup.ts';
import { runCli } from '../../clients/cli.ts';
import { use } from '../../support/use.ts';

const on = use(startSearchService);
let ann: TestAgent;
let env: Record<string, string>;
const sent: string[] = [];

beforeAll(async () => {
  const { DATABASE_URL, SECRET_KEY } = on.core.config;
  env = { DATABASE_URL, SECRET_KEY };
  const [first, bob] = await on.createAgents();
  ann = first;
  const thread = await on.open(ann, bob);
  for (let index = 0; index < 7; index += 1) sent.push((await on.send(ann, thread, `Äpfel ${index}`)).id);
  await on.indexed();
});

const sql = (text: string, values: unknown[] = []) => on.sql<{ id: string }>(text, values);
const found = async () =>
  (await on.search(ann, { q: 'apfel' })).map(({ message }) => message.id).toReversed();

async function reindex(...args: string[]) {
  const { code, out, err } = await runCli(env, ['search', 'reindex', '--json', ...args]);
  expect(code, err).toBe(0);
  return { result: JSON.parse(out), lines: err.split('\n').slice(0, -1) };
}

test('writes rows that are missing or of an older tokenizer, and no others', async () => {
  await sql('delete from message_search where message_id = $1', [sent[1]]);
  await sql(`update message_search set version = 0, document = '''old'':1' where message_id = $1`, [sent[4]]);
  await sql(`update message_search set document = '''own'':1' where message_id = $1`, [sent[6]]);
  expect(await found()).toEqual([sent[0], sent[2], sent[3], sent[5]]);
  const { result, lines } = await reindex('--batch', '3');
  expect(result).toEqual({ after: sent[6], examined: 7, written: 2, seconds: expect.any(Number) });
  expect(lines).toEqual([
    expect.stringMatching(/^3 of 7 messages \(42 %\), 1 written, [\d,]+ a second, about \d+ s left$/),
    expect.stringMatching(/^6 of 7 messages \(85 %\), 2 written, /),
    expect.stringMatching(/^7 of 7 messages \(100 %\), 2 written, .* about 0 s left$/),
  ]);
  expect(await found()).toEqual(sent.slice(0, 6));
});

test('writes every row with --all, and only later rows with --after', async () => {
  await sql(`update message_search set document = '''own'':1'`);
  expect((await reindex('--all', '--after', sent[4] ?? '')).result).toMatchObject({
    examined: 2,
    written: 2,
  });
  expect(await found()).toEqual(sent.slice(5));
  expect((await reindex('--all')).result).toMatchObject({ examined: 7, written: 7 });
  const { out } = await runCli(env, ['search', 'reindex']);
  expect(out).toMatch(/^after +msg_\w+\nexamined +7\nwritten +0\nseconds +[\d.]+\n$/);
  expect(await found()).toEqual(sent);
});

test('does not change a row of a newer release', async () => {
  await sql(`update message_search set version = 32000, document = '''own'':1' where message_id = $1`, [
    sent[0],
  ]);
  expect((await reindex('--all')).result).toMatchObject({ examined: 7 });
  expect(await found()).toEqual(sent.slice(1));
  await sql('delete from message_search where message_id = $1', [sent[0]]);
});

test('stops between two steps when interrupted, and prints how to continue', async () => {
  const args = ['search', 'reindex', '--all', '--batch', '2'];
  let steps = 0;
  const { code, out, err } = await runCli(env, args, '', (text, interrupt) => {
    if (text.includes(' messages (')) steps += 1;
    if (steps === 2) interrupt();
  });
  expect([code, out, steps]).toEqual([1, '', 2]);
  expect(err).toMatch(
    new RegExp(`\\nerror: interrupted; continue with: ams search reindex --all --after ${sent[3]}\\n$`),
  );
  expect((await reindex('--all', '--after', sent[3] ?? '')).result).toMatchObject({ examined: 3 });
});

test('runs beside the worker while messages arrive', async () => {
  const [bob, eve] = await on.createAgents();
  const thread = await on.open(bob, eve);
  const writing = Promise.all(
    Array.from({ length: 40 }, (_, index) => on.send(bob, thread, `Birnen ${index}`)),
  );
  for (let run = 0; run < 3; run += 1) await reindex('--all', '--batch', '5');
  await writing;
  await on.indexed();
  expect(await on.search(eve, { q: 'birnen', limit: 50 })).toHaveLength(40);
});

test('an empty database is done immediately, and an invalid option is refused', async () => {
  expect((await reindex('--after', `msg_7${'Z'.repeat(25)}`)).result).toMatchObject({
    examined: 0,
    written: 0,
  });
  for (const wrong of [
    ['--batch', '0'],
    ['--batch', '5001'],
    ['--batch', 'x'],
    ['--after', 'msg_1'],
    ['more'],
  ]) {
    expect((await runCli(env, ['search', 'reindex', ...wrong])).code, wrong.join(' ')).toBe(2);
  }
});
