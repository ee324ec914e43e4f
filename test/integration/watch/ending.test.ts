import { describe, expect, test } from 'vitest';
import { findForm } from '../../clients/form-browser.ts';
import { findLiveAddress, openLivePage } from '../../clients/live-page.ts';
import { createLogRecorder } from '../../support/log-recorder.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { startService, type TestService, useService, useSharedService } from '../../support/service.ts';
import { sendTo, startThread } from '../console/conversations/conversation-fixtures.ts';
import { createOrganizationOf, signInPerson } from '../console/signed-in-person.ts';
import { createWatchedWorld, expireLinks, linksAddress, maintain, openAsStranger, share } from './setup.ts';

const service = useSharedService();

type World = Awaited<ReturnType<typeof createWatchedWorld>>;

async function watch(world: World) {
  const path = await share(world.ada, world.thread, world.mine);
  const address = findLiveAddress(await openAsStranger(service, path));
  return { path, address, page: await openLivePage(service.url, { cookies: new Map() }, address) };
}

/** The organization of a world that has one. */
async function createOrganizationWorld(): Promise<World & { boss: World['ada']; slug: string }> {
  const [boss, ada] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [boss, ada] });
  const handle = `${slug}.desk`;
  const mine = await service.register({ handle, visibility: 'public', inbound_policy: 'open' });
  const other = await service.agent();
  return { boss, ada, mine, other, slug, thread: await startThread(service, other, [mine]) };
}

describe('an open page ends, and its link shows nothing any more', () => {
  const ends: Record<string, (world: World & { boss?: World['ada']; slug?: string }) => Promise<unknown>> = {
    'when a person ends the link': ({ ada, thread }) =>
      ada.fill(linksAddress(thread), {}, `${linksAddress(thread)}/end`),
    'when it expires': ({ thread }) => expireLinks(service, thread),
    'when the member leaves': ({ mine, thread }) =>
      service.delete(mine, `/threads/${thread}/members/${mine.id}`),
    'when another member removes it': ({ mine, other, thread }) =>
      service.delete(other, `/threads/${thread}/members/${mine.id}`),
    'when the member is deleted': async ({ mine }) => {
      const token = await service.token(mine.handle, { scopes: ['agents:write'] });
      await service.delete({ token }, `/agents/${mine.id}`);
    },
    'when the member gets another owner': async ({ mine }) => {
      const owner = await signInPerson(service);
      await service.sql('update agents set owner_id = $1 where id = $2', [owner.person.account_id, mine.id]);
    },
    'when its maker is removed from the organization': async ({ boss, ada, slug }) => {
      const removal = `/console/organizations/${slug}/members/${ada.username}/remove`;
      await boss?.send(findForm(await boss.go(removal), removal));
    },
    'when its maker leaves the organization': async ({ ada, slug }) => {
      const removal = `/console/organizations/${slug}/members/${ada.username}/remove`;
      await ada.send(findForm(await ada.go(removal), removal));
    },
  };
  test.each(Object.entries(ends))('%s', async (name, end) => {
    const world = name.includes('organization')
      ? await createOrganizationWorld()
      : await createWatchedWorld(service);
    const { path, address, page } = await watch(world);
    await end(world);
    await expect.poll(() => page.events.at(-1)?.type).toBe('end');
    await page.closed;
    await sendTo(service, world.other, world.thread, 'Unseen').catch(() => undefined);
    expect(page.events.map(({ data }) => data).join()).not.toContain('Unseen');
    expect((await openAsStranger(service, path)).status).toBe(404);
    expect((await openAsStranger(service, `${path}/files/att_00000000000000000000000000`)).status).toBe(404);
    const again = await openLivePage(service.url, { cookies: new Map() }, address);
    await again.closed;
    expect(again.events.map(({ type }) => type)).toEqual(['end']);
    await maintain(service);
    const { body } = await service.get(world.other, `/threads/${world.thread}`);
    expect(body.watched_by).toEqual([]);
    const told = await service.get(world.other, '/events?cursor=earliest&limit=100');
    const types = told.body.events.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type === 'thread.unwatched')).toHaveLength(1);
  });
});

test('a link that does not exist, one that expired and one that was ended get the same answer', async () => {
  const [expired, ended] = [await createWatchedWorld(service), await createWatchedWorld(service)];
  const paths = [
    `/watch/${'A'.repeat(43)}`,
    '/watch/x',
    await share(expired.ada, expired.thread, expired.mine),
    await share(ended.ada, ended.thread, ended.mine),
  ];
  await expireLinks(service, expired.thread);
  await ended.ada.fill(linksAddress(ended.thread), {}, `${linksAddress(ended.thread)}/end`);
  const answers = await Promise.all(paths.map((path) => openAsStranger(service, path)));
  for (const { status, text, headers } of answers) {
    expect([status, text]).toEqual([404, answers[0]?.text]);
    expect([...headers.keys()]).toEqual([...(answers[0]?.headers.keys() ?? [])]);
  }
  expect(answers[0]?.visibleText).toContain('it has ended');
});

test('what waits in a link is not shown: a message in review, and those after the member left', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  await service.sql(`update agents set outgoing_policy = 'review_all' where id = $1`, [mine.id]);
  const sent = await service.post(mine, `/threads/${thread}/messages`, { content: 'In review' });
  expect(sent.status).toBe(202);
  expect((await openAsStranger(service, path)).visibleText).not.toContain('In review');
  await sendTo(service, other, thread, 'Allowed');
  expect((await openAsStranger(service, path)).visibleText).toContain('Allowed');
});

describe('guessing', () => {
  const limited = useService({
    worker: false,
    env: { RATE_LIMITS: 'sign_in_address=5/600', TRUST_PROXY: 'true' },
  });
  const from = (address: string) => ({ 'X-Forwarded-For': address });

  test('is limited per address, also for a right secret then; who has a link can read it as often as wanted', async () => {
    const { ada, mine, thread } = await createWatchedWorld(limited);
    const path = await share(ada, thread, mine);
    const reads = Array.from({ length: 8 }, () => openAsStranger(limited, path, from('198.51.100.1')));
    expect((await Promise.all(reads)).filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(3);
    expect((await openAsStranger(limited, path, from('198.51.100.1'))).status).toBe(200);
    const guess = (rest = '') =>
      openAsStranger(limited, `/watch/${uniqueName('guess')}${rest}`, from('198.51.100.2'));
    const answers = [
      await guess(),
      await guess('/live'),
      await guess('/files/x'),
      await guess(),
      await guess(),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 200, 404, 404, 404]);
    const stopped = await guess();
    expect([stopped.status, Number(stopped.headers.get('Retry-After')) > 60]).toEqual([429, true]);
    expect((await openAsStranger(limited, path, from('198.51.100.2'))).status).toBe(429);
    expect((await openAsStranger(limited, path, from('198.51.100.3'))).status).toBe(200);
  });
});

test('the secret is in no log, metric, row or trace', async () => {
  const { logger, entries } = createLogRecorder();
  const traced: TestService = await startService({
    worker: false,
    env: { OPS_PORT: '0' },
    overrides: { logger },
  });
  const { ada, mine, thread } = await createWatchedWorld(traced);
  const path = await share(ada, thread, mine);
  const secret = path.split('/').at(-1) ?? '';
  expect(Buffer.from(secret, 'base64url').length).toBeGreaterThanOrEqual(16);
  await openAsStranger(traced, path);
  await traced.sql('alter table watch_links rename to watch_links_gone');
  expect((await openAsStranger(traced, path)).status).toBe(500);
  await traced.sql('alter table watch_links_gone rename to watch_links');
  expect(JSON.stringify(entries.map(({ err, ...rest }) => [String(err), rest]))).toContain('/watch/…');
  expect(JSON.stringify(entries)).not.toContain(secret);
  expect(await traced.core.metrics.registry.metrics()).toContain('/watch/:secret');
  expect(await traced.core.metrics.registry.metrics()).not.toContain(secret);
  const tables = ['watch_links', 'events', 'audit_log', 'outbox'];
  const rows = await Promise.all(
    tables.map((table) => traced.sql(`select to_jsonb(t)::text as row from ${table} t`)),
  );
  expect(JSON.stringify(rows)).not.toContain(secret);
  await traced.stop();
});
