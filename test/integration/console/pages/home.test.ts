import { expect, test } from 'vitest';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { findForm, foreignScripts } from '../../../clients/form-browser.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { post, sendTo, startThread } from '../conversations/conversation-fixtures.ts';
import { applyStoredDecisions, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

async function createWorld() {
  const ada = await signInPerson(service);
  return { ada, mine: await ada.agent(), other: await service.agent() };
}

const ask = ({ id }: TestAgent, target: TestAgent, message: string) =>
  service.write((work) =>
    openApproval(work, {
      agent_id: id,
      action: 'request_contact',
      target: target.handle,
      detail: { message },
    }),
  );

/** Moves the question of a thread into the past. */
const age = (thread_id: string, minutes: number) =>
  service.sql('update expected_replies set created_at = created_at - $2 where thread_id = $1', [
    thread_id,
    minutes * 60_000,
  ]);

test('one calm line when nothing waits', async () => {
  const { ada, mine, other } = await createWorld();
  const id = await startThread(service, other, [mine]);
  await sendTo(service, mine, id, 'An answer');
  await startThread(service, other, [mine], { content: 'Asked just now' });
  const page = await ada.go('/console');
  expect(page.title).toBe('Home · Agent Messaging');
  expect(page.visibleText).toContain('Nothing needs you.');
});

test('first steps tick themselves, also on an open page, and leave when all are done', async () => {
  const ada = await signInPerson(service);
  const done = (text: string) => text.match(/Create an account Done|[a-z] Done/g)?.length ?? 0;
  const first = await ada.go('/console');
  expect([first.visibleText.includes('First steps'), done(first.visibleText)]).toEqual([true, 1]);
  const links = first.links;
  expect(new Set(links.filter((href) => href.startsWith('/console/agents/')))).toEqual(
    new Set(['/console/agents/new']),
  );
  const mine = await ada.agent();
  const page = await ada.go('/console');
  expect(done(page.visibleText)).toBe(2);
  expect(page.links).toContain(`/console/agents/${mine.id}/connect`);
  const live = await openLivePage(service.url, ada, findLiveAddress(page));
  await startThread(service, await service.agent(), [mine]);
  await expect.poll(live.shown).toMatch(/Send or receive a message <span class="badge good">/);
  live.close();
  const address = `/console/agents/${mine.id}/credentials/new`;
  await ada.fill(address, { fields: { name: 'A server' } });
  await service.sql('update credentials set last_used_at = $2 where agent_id = $1', [mine.id, Date.now()]);
  expect((await ada.go('/console')).visibleText).not.toContain('First steps');
});

test('an approval, a contact request and a webhook are answered in place', async () => {
  const { ada, mine, other } = await createWorld();
  const approval = await ask(mine, other, 'May I?');
  await post(service, other, '/contacts/requests', { handle: mine.handle, message: 'Shall we talk?' });
  const token = await service.token(mine.handle, { scopes: ['agents:write'] });
  const url = 'https://receiver.example/events';
  const { body: webhook } = await service.post({ token }, '/webhooks', { url });
  await service.core.db.webhooks.disable(webhook.id, 'failing', Date.now());

  const page = await ada.go('/console');
  expect(page.title).toBe('(3) Home · Agent Messaging');
  expect(page.elements('link').some(({ attribs }) => attribs['href']?.includes('mark-news'))).toBe(true);
  expect(page.visibleText).toMatch(/wants to send a contact request.*May I\?.*Shall we talk\?.*was disabled/);

  await ada.send(findForm(page, `/console/approvals/${approval?.id}`), { button: 'deny' });
  await applyStoredDecisions(service);
  const decide = `/console/agents/${mine.id}/contacts/requests/decide`;
  await ada.send(findForm(page, decide), { button: 'approve' });
  await applyStoredDecisions(service);
  await ada.send(findForm(page, `/console/agents/${mine.id}/webhooks/${webhook.id}/state`));
  expect((await ada.go('/console')).visibleText).toContain('Nothing needs you.');
  expect(await service.core.db.webhooks.find(webhook.id)).toMatchObject({ enabled: true });
});

test('a question is shown when it asks a person, or has no answer for ten minutes', async () => {
  const { ada, mine, other } = await createWorld();
  const asks = await startThread(service, other, [mine], {
    subject: 'For a person',
    metadata: { asks_person: true },
  });
  const silent = await startThread(service, other, [mine], { subject: 'Silent' });
  const recent = await startThread(service, other, [mine], { subject: 'Recent' });
  const old = await startThread(service, other, [mine], { subject: 'Last month' });
  const told = await startThread(service, other, [mine], {
    subject: 'Told',
    metadata: { no_reply_expected: true },
  });
  await age(silent, 11);
  await age(told, 11);
  await age(old, 31 * 24 * 60);
  const shown = async () => {
    const { text } = await ada.go('/console');
    return [asks, silent, recent, old, told].filter((id) => text.includes(`/console/conversations/${id}"`));
  };
  expect(await shown()).toEqual([asks, silent]);
  await sendTo(service, mine, asks, 'Here is the answer');
  expect(await shown()).toEqual([silent]);
});

test('a question to a person among their own agents is shown, on the home page and in the conversation', async () => {
  const { ada, mine } = await createWorld();
  const asking = await ada.agent('asking');
  const subject = 'May I spend it?';
  const id = await startThread(service, asking, [mine], { subject, metadata: { asks_person: true } });
  const home = await ada.go('/console');
  expect(home.title).toBe('(1) Home · Agent Messaging');
  expect(home.visibleText).toMatch(
    new RegExp(`May I spend it\\? ?Asks a person @${mine.handle} ·.*@${asking.handle}: Hello there`),
  );
  expect((await ada.go(`/console/conversations/${id}`)).visibleText).toMatch(/Hello there ?Asks a person/);
  await sendTo(service, mine, id, 'Yes');
  expect((await ada.go('/console')).visibleText).toContain('Nothing needs you.');
});

test('a question that one of the agents asks the people of another owner is not shown', async () => {
  const { ada, mine, other } = await createWorld();
  await startThread(service, mine, [other], { subject: 'For you', metadata: { asks_person: true } });
  expect((await ada.go('/console')).visibleText).toContain('Nothing needs you.');
});

test('what waits appears on an open page, with the count in its title', async () => {
  const { ada, mine, other } = await createWorld();
  const page = await openLivePage(service.url, ada, findLiveAddress(await ada.go('/console')));
  await ask(mine, other, 'A new question');
  await expect.poll(page.shown).toContain('A new question');
  expect(page.shown()).toContain('<template>(1) Home · Agent Messaging</template>');
  const question = {
    agent_id: mine.id,
    action: 'request_contact',
    target: other.handle,
    detail: {},
  } as const;
  await service.write((work) => openApproval(work, question));
  // In the navigation.
  await expect.poll(page.shown).toContain('<span class="count">1<');
  page.close();
});

test('nothing of other people, and what others write stays text', async () => {
  const { ada, mine, other } = await createWorld();
  const stranger = await signInPerson(service);
  const hostile = `"'></form><script>alert(1)</script><b>`;
  await service.patch(other, '/agents/me', { display_name: hostile });
  await ask(mine, other, hostile);
  await post(service, other, '/contacts/requests', { handle: mine.handle, message: hostile });
  await startThread(service, other, [mine], {
    subject: hostile,
    content: hostile,
    metadata: { asks_person: true },
  });
  const page = await ada.go('/console');
  expect(page.visibleText.split(hostile).length - 1).toBeGreaterThanOrEqual(4);
  expect(page.elements('b')).toEqual([]);
  expect(foreignScripts(page)).toEqual([]);
  expect((await stranger.go('/console')).visibleText).toContain('Nothing needs you.');
});

test('compact lists are remembered by the browser', async () => {
  const { ada } = await createWorld();
  const classOf = async () => (await ada.go('/console/conversations')).elements('body')[0]?.attribs['class'];
  expect(await classOf()).toBe('shell-console');
  const page = await ada.go('/console/agents');
  const after = await ada.send(findForm(page, '/console/preferences'));
  expect([new URL(after.url).pathname, await classOf()]).toEqual([
    '/console/agents',
    'shell-console compact',
  ]);
  await ada.send(findForm(after, '/console/preferences'));
  expect(await classOf()).toBe('shell-console');
});
