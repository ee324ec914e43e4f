import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import { foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { useService } from '../../../support/service.ts';
import {
  createRoles,
  readableThreads,
  type Roles,
  sendTo,
  startThread,
} from '../conversations/conversation-fixtures.ts';
import { signInPerson } from '../signed-in-person.ts';

const service = useService();

/** The cells of each row of a page's tables, as text. */
const readRows = (page: PageResponse): string[][] =>
  page.elements('tr').map((row) =>
    row.children.flatMap((cell) => {
      const text = textContent(cell).trim();
      return text === '' ? [] : [text];
    }),
  );

/** Waits until all messages are counted. */
async function waitForCounts(): Promise<void> {
  const text = `select 1 from outbox where job = 'deliver-messages'`;
  await expect.poll(() => service.sql(text)).toEqual([]);
}

test('shows agents, days and counterparts, each with a bar and numbers', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const other = await service.agent();
  const thread = await startThread(service, other, [mine], { content: 'x'.repeat(41) });
  await sendTo(service, mine, thread, 'four');
  await waitForCounts();
  const page = await ada.go('/console/usage');
  const [bar] = page.elements('rect');
  expect(bar?.attribs).toMatchObject({ width: '100' });
  const cells = ['1', '1', '1', '11', '0'];
  const rows = readRows(page);
  expect(rows).toContainEqual([new Date().toISOString().slice(0, 10), ...cells]);
  expect(rows).toContainEqual([`@${mine.handle}`, ...cells]);
  expect(rows).toContainEqual([`@${other.handle}`, ...cells]);
  expect(rows.filter(([name]) => /^\d{4}-\d\d-\d\d$/.test(name ?? ''))).toHaveLength(1);
  const filtered = await ada.go(`/console/usage?agent=${mine.id}&counterpart=@${other.handle.toUpperCase()}`);
  expect(readRows(filtered)).toContainEqual([`@${other.handle}`, ...cells]);
  expect((await ada.go('/console/usage?counterpart=absent.agent')).visibleText).toContain('No messages');
});

test('has periods, the median time to complete a task, and the same numbers as a file', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const other = await service.agent();
  const askIn = async (seconds: number) => {
    const { body: task } = await service.post(other, '/tasks', { with_handle: mine.handle, content: 'Seed' });
    await service.sql('update tasks set created_at = created_at - $2 where id = $1', [
      task.id,
      seconds * 1_000,
    ]);
    await service.post(mine, `/tasks/${task.id}/update`, { state: 'completed', message: 'Done' });
  };
  for (const seconds of [60, 300, 7_200]) await askIn(seconds);
  await waitForCounts();
  const today = await ada.go('/console/usage?days=1');
  expect(readRows(today)).toContainEqual([`@${mine.handle}`, '3', '3', '3', '3', '0', '5 minutes']);
  await service.sql('update usage_days set day = day - 3 * 86400000');
  expect((await ada.go('/console/usage?days=1')).visibleText).toContain('No messages');
  const week = await ada.go('/console/usage?days=7');
  expect(readRows(week).map(([name]) => name)).toContain(`@${mine.handle}`);
  const file = await ada.go('/console/usage.csv?days=7');
  expect(file.headers.get('content-type')).toContain('text/csv');
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="usage.csv"');
  const lines = file.text.split('\r\n').map((line) => line.split(','));
  const [median, ...counts] = lines.find(([, name]) => name === mine.handle)?.toReversed() ?? [];
  expect(counts.toReversed()).toEqual(['agent', mine.handle, '3', '3', '12', '12', '0']);
  expect(median).toMatch(/^30\d{4}$/);
  expect(lines.map(([kind]) => kind)).toEqual(['kind', 'agent', 'counterpart', 'day', '']);
  const stranger = await signInPerson(service);
  expect((await stranger.go('/console/usage.csv')).text.trim().split('\r\n')).toHaveLength(1);
});

test('each role sees the usage of the agents whose conversations it may read', async () => {
  const { people, agents } = await createRoles(service);
  await waitForCounts();
  const seen = async (name: keyof Roles['people'], query = '') => {
    const rows = readRows(await people[name].go(`/console/usage${query}`));
    return Object.entries(agents).flatMap(([kind, { handle }]) =>
      rows.some(([first]) => first === `@${handle}`) ? [kind] : [],
    );
  };
  const names = Object.keys(readableThreads) as (keyof Roles['people'])[];
  const all = await Promise.all(names.map(async (name) => [name, await seen(name)]));
  expect(Object.fromEntries(all)).toEqual(readableThreads);
  const { id } = agents['linked with a member'];
  expect(await seen('admin', `?agent=${id}`)).toEqual([]);
  expect(await seen('outsider', `?agent=${id}`)).toEqual([]);
});

test('what others write and what the address holds stays text', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const hostile = `"></option></svg><script>alert(1)</script>`;
  const { owner } = (await createRoles(service)).people;
  const stranger = await owner.agent('loud');
  await service.sql('update agents set display_name = $2 where id = $1', [stranger.id, hostile]);
  await startThread(service, stranger, [mine], { subject: hostile, content: hostile });
  await waitForCounts();
  const page = await ada.go(
    `/console/usage?${new URLSearchParams({ agent: hostile, counterpart: hostile })}`,
  );
  expect(page.status).toBe(200);
  expect(foreignScripts(page)).toEqual([]);
  expect(page.visibleText).toContain('must be a handle');
  const all = await ada.go('/console/usage');
  expect(foreignScripts(all)).toEqual([]);
  expect(readRows(all).map(([name]) => name)).toContain(`@${stranger.handle}`);
});
