import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { findForm } from '../../clients/form-browser.ts';
import { followFeed } from '../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { createRoles, startThread } from '../console/conversations/conversation-fixtures.ts';
import { fillForm, signInPerson } from '../console/signed-in-person.ts';
import {
  createWatchedWorld,
  expireLinks,
  linksAddress,
  maintain,
  openAsStranger,
  sendShareForm,
  share,
} from './setup.ts';

const service = useSharedService();
const hourMs = 3_600_000;

const threadOf = async (agent: TestAgent, id: string) => (await service.get(agent, `/threads/${id}`)).body;
const watchedBy = async (agent: TestAgent, id: string) => (await threadOf(agent, id)).watched_by;
const refOf = ({ id, handle }: TestAgent) => ({ id, canonical_handle: handle });

test('all members see that a thread is watched, through whose link, until it ends, and get one event for each', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  expect(await watchedBy(other, thread)).toEqual([]);
  const feeds = await Promise.all([mine, other].map(({ token }) => followFeed(service.api, token)));
  const before = Date.now();
  const path = await share(ada, thread, mine, { lasts: '1' });
  const [watch] = await watchedBy(other, thread);
  expect(watch).toEqual({ canonical_handle: mine.handle, expires_at: expect.any(Number) });
  expect(watch.expires_at - before).toBeGreaterThanOrEqual(hourMs);
  expect(watch.expires_at - Date.now()).toBeLessThanOrEqual(hourMs);
  expect((await service.get(other, '/threads')).body.threads[0].watched_by).toEqual([watch]);

  await ada.fill(linksAddress(thread), {}, `${linksAddress(thread)}/end`);
  expect(await watchedBy(mine, thread)).toEqual([]);
  for (const feed of feeds)
    expect((await feed()).map(({ type, data }) => [type, data])).toEqual([
      ['thread.watched', { thread_id: thread, member: refOf(mine), watched_by: [watch] }],
      ['thread.unwatched', { thread_id: thread, member: refOf(mine), watched_by: [] }],
    ]);
  const texts = JSON.stringify([await threadOf(other, thread), await service.get(other, '/events')]);
  expect(texts).not.toContain(path.split('/').at(-1));
});

test('expiry is told once, whatever the number of maintenance runs', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  await share(ada, thread, mine);
  const feed = await followFeed(service.api, other.token);
  await expireLinks(service, thread);
  await Promise.all([maintain(service), maintain(service)]);
  await maintain(service);
  expect((await feed()).map(({ type }) => type)).toEqual(['thread.unwatched']);
  expect(await watchedBy(other, thread)).toEqual([]);
});

test('the console lists open links with their maker, end and views, and its head says that it is watched', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine, { files: 'on' });
  await openAsStranger(service, path);
  await openAsStranger(service, path);
  const list = await ada.go(linksAddress(thread));
  expect(list.visibleText).toMatch(new RegExp(`Made by ${ada.username}.*Shows files.*Opened 2 times`));
  expect(list.text).not.toContain(path.split('/').at(-1));
  const conversation = await ada.go(`/console/conversations/${thread}`);
  expect(conversation.visibleText).toContain(`Watched through a link of @${mine.handle}`);
  await ada.send(findForm(conversation, `${linksAddress(thread)}/end`));
  expect((await ada.go(`/console/conversations/${thread}`)).visibleText).not.toContain('Watched through');
  expect((await openAsStranger(service, path)).status).toBe(404);
});

test('the other side sees the link in the head, and cannot end it', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const bob = await signInPerson(service);
  const his = await bob.agent();
  await service.post(mine, `/threads/${thread}/members`, { handle: his.handle });
  const path = await share(ada, thread, mine);
  const page = await bob.go(`/console/conversations/${thread}`);
  expect(page.visibleText).toContain(`Watched through a link of @${mine.handle}`);
  expect(page.forms.filter(({ action }) => action.includes('/watch'))).toEqual([]);
  const list = await bob.go(linksAddress(thread));
  expect(list.visibleText).toContain('No link is open.');
  await bob.send(fillForm(list, `${linksAddress(thread)}/end`, { which: mine.id }));
  expect((await openAsStranger(service, path)).status).toBe(200);
});

describe('only a person who acts as a member makes a link', () => {
  test('others get 404, as for a conversation that does not exist', async () => {
    const { people, threads, agents } = await createRoles(service);
    for (const [name, thread, agent] of [
      ['outsider', threads.personal, agents.personal],
      ['colleague', threads.shared, agents.shared],
      ['admin', threads['linked with a member'], agents['linked with a member']],
    ] as const) {
      const person = people[name];
      const home = await person.go('/console/account');
      const sent = await person.send(
        fillForm(home, linksAddress(thread), { agent_id: agent.id, lasts: '1' }),
      );
      expect([name, sent.status]).toEqual([name, 404]);
      expect((await person.go(linksAddress(thread))).status).toBe(404);
    }
    await share(people.member, threads['linked with a member'], agents['linked with a member']);
    await share(people.admin, threads.shared, agents.shared);
  });

  test('not for the agent of another member', async () => {
    const { ada, other, thread } = await createWatchedWorld(service);
    const sent = await sendShareForm(ada, thread, { agent_id: other.id, lasts: '1' });
    expect(sent.status).toBe(400);
    expect(await watchedBy(other, thread)).toEqual([]);
  });

  test.each(['0.5', '0', '-1', '721', '1e99', 'x', ''])('not for a time of %j hours', async (lasts) => {
    const { ada, mine, other, thread } = await createWatchedWorld(service);
    const sent = await sendShareForm(ada, thread, { agent_id: mine.id, lasts });
    expect([sent.status, sent.visibleText]).toEqual([400, expect.stringContaining('from 1 hour to 30 days')]);
    expect(await watchedBy(other, thread)).toEqual([]);
  });

  test('and not without a session, or with a form of another site', async () => {
    const { ada, mine, other, thread } = await createWatchedWorld(service);
    const form = findForm(await ada.go(linksAddress(thread)), linksAddress(thread));
    const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    expect((await ada.send(form, { headers })).status).toBe(403);
    ada.cookies.clear();
    await ada.send(form, { fields: { agent_id: mine.id, lasts: '1' } });
    expect(await watchedBy(other, thread)).toEqual([]);
  });

  test('no operation, and no field of one, can make a link', async () => {
    const { mine, other, thread } = await createWatchedWorld(service);
    const all = catalogue.filter(({ name }) => /watch|share/.test(name));
    expect(all).toEqual([]);
    const bodies = [
      service.patch(mine, `/threads/${thread}`, {
        watched_by: [{ canonical_handle: mine.handle, expires_at: 9e12 }],
      }),
      service.post(mine, `/threads/${thread}/watch`, { lasts: '1' }),
      service.post(mine, `/threads/${thread}/watch_links`, {}),
    ];
    for (const { status } of await Promise.all(bodies)) expect([400, 404]).toContain(status);
    const withToken = await fetch(new URL(linksAddress(thread), service.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { Authorization: `Bearer ${mine.token}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ agent_id: mine.id, lasts: '1' }).toString(),
    });
    expect(withToken.status).toBe(403);
    expect(await watchedBy(other, thread)).toEqual([]);
  });
});

test('a thread has at most 20 open links', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  for (let count = 0; count < 20; count += 1) await share(ada, thread, mine);
  const sent = await sendShareForm(ada, thread, { agent_id: mine.id, lasts: '1' });
  expect([sent.status, sent.visibleText]).toEqual([400, expect.stringContaining('can have 20 open links')]);
});

test('making and ending a link is in the audit log, without the secret', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  await ada.fill(linksAddress(thread), {}, `${linksAddress(thread)}/end`);
  const rows = await service.sql<{ act: string; detail: object }>(
    `select act, about, detail from audit_log where agent_id = $1 and act like 'watch_link.%' order by id`,
    [mine.id],
  );
  expect(rows.map(({ act }) => act)).toEqual(['watch_link.created', 'watch_link.ended']);
  expect(JSON.stringify(rows)).not.toContain(path.split('/').at(-1));
});

test('a link is that of one of several agents of a person, and ends when that one leaves', async () => {
  const { ada, mine, other } = await createWatchedWorld(service);
  const second = await ada.agent('second');
  const thread = await startThread(service, other, [mine, second]);
  const path = await share(ada, thread, second);
  expect(await watchedBy(other, thread)).toMatchObject([{ canonical_handle: second.handle }]);
  await service.delete(second, `/threads/${thread}/members/${second.id}`);
  expect((await openAsStranger(service, path)).status).toBe(404);
});
