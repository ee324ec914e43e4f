import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerAsEcho, ensureEchoAgent } from '../../../../src/services/agents/echo.ts';
import { findForm, openFormBrowser } from '../../../clients/form-browser.ts';
import {
  createTestSettings,
  startService,
  type TestAgent,
  type TestService,
} from '../../../support/service.ts';
import { sendTo, startThread } from '../conversations/conversation-fixtures.ts';
import { fillForm, signInPerson } from '../signed-in-person.ts';

let service: TestService;
let second: TestService;
let echo: TestAgent;
beforeAll(async () => {
  const settings = await createTestSettings('postgres');
  service = await startService({ settings });
  const shared = { env: settings.env, release: () => Promise.resolve() };
  second = await startService({ settings: shared, worker: false });
  const handle = await ensureEchoAgent(service.core.unitOfWork);
  echo = { id: '', handle, token: await service.token(handle) };
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

interface Message {
  content: string;
  sender: { canonical_handle: string };
  reply_to?: string;
  id: string;
}

async function listMessages({ token }: { token: string }, thread_id: string): Promise<Message[]> {
  return (
    (await service.get({ token }, `/threads/${thread_id}/messages?order=asc&limit=100`)).body as {
      messages: Message[];
    }
  ).messages;
}

const listTexts = async (agent: { token: string }, thread_id: string) =>
  (await listMessages(agent, thread_id)).map(({ content }) => content);

test('Try it opens one conversation, however often it is pressed at once, and the echo answers', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const page = await ada.go(`/console/agents/${mine.id}`);
  const form = findForm(page, `/console/agents/${mine.id}/try`);
  const elsewhere = await fetchAs(second, ada.cookies.get('ams_session')?.value ?? '', mine.id);
  const answers = await Promise.all([
    ...Array.from({ length: 4 }, () => ada.send(form, { follow: false })),
    elsewhere.press(),
  ]);
  const places = new Set(answers.map(({ headers }) => headers.get('location')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 303));
  expect([...places]).toEqual([expect.stringMatching(/^\/console\/conversations\/thd_\w+$/)]);
  const id = [...places][0]?.split('/').at(-1) ?? '';
  const { body } = await service.get(mine, '/threads');
  expect(body.threads).toHaveLength(1);
  await expect.poll(() => listTexts(mine, id)).toHaveLength(2);
  const [first, reply] = await listMessages(mine, id);
  expect(reply).toMatchObject({
    content: first?.content,
    reply_to: first?.id,
    sender: { canonical_handle: echo.handle },
  });
  // Pressed again, it opens the same conversation while that is active, and another one after it was closed.
  expect((await ada.send(form, { follow: false })).headers.get('location')).toBe([...places][0]);
  await service.patch(mine, `/threads/${id}`, { status: 'closed' });
  const again = await ada.send(form, { follow: false });
  expect(again.headers.get('location')).not.toBe([...places][0]);
});

/** Presses the button in another process, in a window of its own. */
async function fetchAs(other: TestService, session: string, agent_id: string) {
  const browser = openFormBrowser(other.url);
  browser.cookies.set('ams_session', { value: session, path: '/' });
  const form = findForm(await browser.go(`/console/agents/${agent_id}`), `/console/agents/${agent_id}/try`);
  return { press: () => browser.send(form, { follow: false }) };
}

test('a message is answered once, however often its job runs', async () => {
  const mine = await service.agent();
  const id = await startThread(second, mine, [echo], { content: 'Only once' });
  const feed = await service.get(mine, '/events?cursor=earliest');
  const events = (feed.body.events as { id: string }[]).map((event) => event.id);
  await Promise.all(Array.from({ length: 5 }, () => answerAsEcho(service.core.unitOfWork, events)));
  await expect.poll(() => listTexts(mine, id)).toEqual(['Only once', 'Only once']);
  await answerAsEcho(service.core.unitOfWork, events);
  expect(await listTexts(mine, id)).toHaveLength(2);
});

test('a long text is cut between characters', async () => {
  const mine = await service.agent();
  const id = await startThread(service, mine, [echo], {
    content: `${'x'.repeat(3_999)}😀${'y'.repeat(9_000)}`,
  });
  await expect.poll(() => listTexts(mine, id)).toHaveLength(2);
  expect((await listTexts(mine, id))[1]).toBe(`${'x'.repeat(3_999)}…`);
});

test('no answer to the echo itself, to what expects no reply, and in a group', async () => {
  const [mine, third] = [await service.agent(), await service.agent()];
  const group = await startThread(service, mine, [echo, third], { content: 'To a group' });
  const pair = await startThread(service, mine, [echo], {
    content: 'No reply, please',
    metadata: { no_reply_expected: true },
  });
  await sendTo(service, echo, pair, 'From the echo');
  await sendTo(service, mine, pair, 'The last one');
  await expect.poll(() => listTexts(mine, pair)).toHaveLength(4);
  expect(await listTexts(mine, pair)).toEqual([
    'No reply, please',
    'From the echo',
    'The last one',
    'The last one',
  ]);
  expect(await listTexts(mine, group)).toEqual(['To a group']);
});

test('a closed thread gets no answer, and the job is done', async () => {
  const mine = await service.agent();
  const id = await startThread(second, mine, [echo]);
  await service.patch(mine, `/threads/${id}`, { status: 'closed' });
  const before = await listTexts(mine, id);
  const feed = await service.get(mine, '/events?cursor=earliest');
  const events = (feed.body.events as { id: string }[]).map((event) => event.id);
  await answerAsEcho(service.core.unitOfWork, events);
  expect(await listTexts(mine, id)).toEqual(before);
});

test('another person cannot press it, and a paused agent says why', async () => {
  const [ada, eve] = [await signInPerson(service), await signInPerson(service)];
  const mine = await ada.agent();
  const home = await eve.go('/console');
  expect((await eve.send(fillForm(home, `/console/agents/${mine.id}/try`))).status).toBe(404);
  const form = findForm(await ada.go(`/console/agents/${mine.id}`), `/console/agents/${mine.id}/try`);
  await service.sql('update agents set paused = true where id = $1', [mine.id]);
  expect((await ada.send(form)).visibleText).toContain('This agent is paused.');
});

test('with ECHO_AGENT=false there is no button, and the address does not exist', async () => {
  const shared = { env: service.env, release: () => Promise.resolve() };
  const without = await startService({ settings: shared, worker: false, env: { ECHO_AGENT: 'false' } });
  const ada = await signInPerson(without);
  const mine = await ada.agent();
  const page = await ada.go(`/console/agents/${mine.id}`);
  expect(page.visibleText).not.toContain('Try it');
  expect((await ada.send(fillForm(await ada.go('/console'), `/console/agents/${mine.id}/try`))).status).toBe(
    404,
  );
  await without.stop();
});
