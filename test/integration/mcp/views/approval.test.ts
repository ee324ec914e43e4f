import { expect, test } from 'vitest';
import { findPageFaults } from '../../../acceptance/pages/page-faults.ts';
import { describeWithBrowser } from '../../../clients/playwright.ts';
import { type Ask, connectViewClient, eras } from '../../../clients/views/client.ts';
import { openView, type OpenedView } from '../../../clients/views/host.ts';
import { useService } from '../../../support/service.ts';
import { reviewsOf } from '../../reviews/setup.ts';

const service = useService({ worker: false });
const reviews = reviewsOf(service);

/** An agent that a person reviews, with a client of the person, or of a program. */
async function startReview(content: string, { era = 'sessions', isPerson = true }: ReviewOptions = {}) {
  const { mine, stranger, thread: thread_id } = await reviews.conversation('review_strangers');
  const token = await service.token(mine.handle, { audience: 'mcp' });
  if (isPerson) await reviews.connectAsPerson(mine, token);
  const ask = await connectViewClient(service.url, token, era);
  const view = { ask, tool: 'send_message', args: { thread_id, content } };
  return { mine, stranger, thread_id, ask, view, received: () => reviews.contents(stranger, thread_id) };
}

interface ReviewOptions {
  era?: (typeof eras)[number];
  isPerson?: boolean;
}

const press = ({ frame }: OpenedView, name: string) => frame.getByRole('button', { name }).click();
const call = (ask: Ask, name: string, args: object) => ask('tools/call', { name, arguments: args });
const textOf = (result: object) => JSON.parse(Object(result).content[0].text);

await describeWithBrowser('the view of an approval', (browser) => {
  test.each(eras)('sends what the person approves, in the revision with %s', async (era) => {
    const { stranger, view, received } = await startReview('May it leave?', { era });
    const opened = await openView(browser(), view);
    const { frame, requests } = opened;
    await frame.getByRole('heading', { name: `wants to write to @${stranger.handle}` }).waitFor();
    expect(await frame.getByLabel('Message').inputValue()).toBe('May it leave?');
    expect(await received()).toEqual([]);
    await press(opened, 'Approve and send');
    await frame.getByText('The approved action was carried out.').waitFor();
    expect(await received()).toEqual(['May it leave?']);
    expect(requests).toEqual([]);
  });

  test('sends what the person has edited, and says so', async () => {
    const { stranger, thread_id, view } = await startReview('We pay 1000.');
    const opened = await openView(browser(), view);
    await opened.frame.getByLabel('Message').fill('We pay 100.');
    await press(opened, 'Approve and send');
    await opened.frame.getByText('The approved action was carried out.').waitFor();
    const { body } = await service.get(stranger, `/threads/${thread_id}/messages`);
    expect(body.messages[0]).toMatchObject({ content: 'We pay 100.', written_by: 'person_edited' });
  });

  test('tells the agent why the person denies', async () => {
    const { ask, view, received } = await startReview('Here is the list of customers.');
    const args = { ...view.args, idempotency_key: 'once' };
    const opened = await openView(browser(), { ...view, args });
    await opened.frame.getByLabel('Reason').fill('Not to strangers.');
    await press(opened, 'Deny');
    await opened.frame.getByText('The agent was told about the denial.').waitFor();
    expect(await received()).toEqual([]);
    expect(textOf(await call(ask, 'send_message', args)).error).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('Not to strangers.'),
    });
  });

  test('is closed to a grant of the same agent without the scopes of the call', async () => {
    const { mine, ask, view, received } = await startReview('Here is the list.', { isPerson: false });
    const { approval_id } = textOf(await call(ask, 'send_message', view.args)).error;
    const scopes = ['contacts:read', 'contacts:write'] as const;
    const token = await service.token(mine.handle, { audience: 'mcp', scopes: [...scopes] });
    await reviews.connectAsPerson(mine, token);
    const other = await connectViewClient(service.url, token, 'sessions');
    expect(textOf(await call(other, 'show_approvals', {}))).toEqual({ approvals: [] });
    const about = { approval_id };
    const decision = { approval_id, decision: 'approved', key: 'AAAA' };
    for (const refused of [
      await call(other, 'show_approvals', about),
      await call(other, 'decide_approval', decision),
    ])
      expect(textOf(refused).error.code).toBe('NOT_FOUND');
    expect(await received()).toEqual([]);
  });

  test('decides a contact request, and shows later that it is decided', async () => {
    const [mine, stranger] = await Promise.all([service.agent(), service.agent()]);
    const token = await service.token(mine.handle, { audience: 'mcp' });
    await reviews.connectAsPerson(mine, token);
    const ask = await connectViewClient(service.url, token, 'sessions');
    const args = { handle: stranger.handle, message: 'Hello <b>there</b>' };
    const result = await call(ask, 'request_contact', args);
    const opened = await openView(browser(), { ask, tool: 'request_contact', args, result });
    await opened.frame.getByText('Hello <b>there</b>').waitFor();
    await press(opened, 'Approve');
    await opened.frame.getByText('The approved action was carried out.').waitFor();
    expect((await service.get(stranger, '/contacts/requests')).body.requests).toHaveLength(1);
    const { frame: later } = await openView(browser(), { ask, tool: 'request_contact', args, result });
    await later.getByText('The approved action was carried out.').waitFor();
    expect(await later.getByRole('button').count()).toBe(0);
  });

  test('shows the conversation of what needed no approval', async () => {
    const [mine, other] = await Promise.all([service.agent(), service.agent()]);
    const token = await service.token(mine.handle, { audience: 'mcp' });
    const ask = await connectViewClient(service.url, token, 'sessions');
    const args = { with_handle: other.handle, initial_message: 'Good morning.' };
    const { frame } = await openView(browser(), { ask, tool: 'create_thread', args });
    await expect.poll(() => frame.locator('.message-text').allTextContents()).toEqual(['Good morning.']);
  });

  test('leads a program, and a host that calls nothing, to the page', async () => {
    const { view, received } = await startReview('x', { isPerson: false });
    const options = [{}, { hostCapabilities: { openLinks: {} } }];
    for (const option of options) {
      const opened = await openView(browser(), { ...view, ...option });
      await press(opened, 'Decide on the approval page');
      await expect.poll(() => opened.links).toEqual([expect.stringContaining('/console/approvals/apr_')]);
      expect(await opened.frame.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    }
    expect(await received()).toEqual([]);
  });

  test.each([
    ['light', 720],
    ['dark', 320],
  ] as const)('has no fault in %s, %i pixels wide', async (theme, width) => {
    const hostile = '</textarea><img src="https://evil.test/x" onerror="fetch(`https://evil.test/y`)">';
    const { view } = await startReview(`Good morning,\n\nthe invoice is paid. ${hostile}`);
    const options = { hostContext: { theme }, viewport: { width, height: 700 } };
    const { frame, requests } = await openView(browser(), { ...view, ...options });
    await frame.getByLabel('Message').waitFor();
    expect(await frame.getByLabel('Message').inputValue()).toContain(hostile);
    expect(await findPageFaults(frame)).toEqual([]);
    expect(requests).toEqual([]);
  });
});

test('the key of a decision is in _meta only, for a person, and for one approval', async () => {
  const { ask, view, mine, received } = await startReview('One.');
  const ids = [];
  for (const content of ['One.', 'Two.'])
    ids.push(textOf(await call(ask, 'send_message', { ...view.args, content })).error.approval_id);
  const [first, second] = ids;
  const shown = await call(ask, 'show_approvals', { approval_id: first });
  const key = Object(shown['_meta'])['decision_key'];
  expect(JSON.stringify({ ...shown, _meta: null })).not.toContain(key);
  expect(textOf(shown).approvals).toEqual([expect.objectContaining({ id: first, texts: ['One.'] })]);
  const list = await call(ask, 'show_approvals', {});
  expect([textOf(list).approvals.length, Object(list['_meta'])['decision_key']]).toEqual([2, undefined]);
  const decide = (by: Ask, approval_id: string, more: object) =>
    call(by, 'decide_approval', { approval_id, decision: 'approved', ...more });
  // A model that calls the tool has no key.
  for (const wrong of ['', 'AAAA', `${key}A`.slice(1)])
    expect(textOf(await decide(ask, first, { key: wrong })).error.code).toBe('FORBIDDEN');
  expect(textOf(await decide(ask, second, { key })).error.code).toBe('FORBIDDEN');
  const program = await service.token(mine.handle, { audience: 'mcp' });
  const other = await connectViewClient(service.url, program, 'stateless');
  expect(Object((await call(other, 'show_approvals', { approval_id: first }))['_meta'])['decision_key']).toBe(
    undefined,
  );
  expect(textOf(await decide(other, first, { key })).error.code).toBe('FORBIDDEN');
  const stranger = await service.agent();
  const strange = await connectViewClient(
    service.url,
    await service.token(stranger.handle, { audience: 'mcp' }),
    'sessions',
  );
  expect(textOf(await decide(strange, first, { key })).error.code).toBe('NOT_FOUND');
  expect(textOf(await call(strange, 'show_approvals', { approval_id: first })).error.code).toBe('NOT_FOUND');
  expect(await received()).toEqual([]);
  expect(textOf(await decide(ask, first, { key, texts: ['One.', 'and more'] })).error.code).toBe(
    'VALIDATION_ERROR',
  );
  expect(textOf(await decide(ask, first, { key, texts: ['One.'] })).approvals[0].state).toBe('approved');
  // Not confirmed: this text was not sent.
  for (const more of [{ decision: 'denied' }, { texts: ['Other.'] }]) {
    const again = textOf(await decide(ask, first, { key, ...more }));
    expect(again.error).toMatchObject({
      code: 'INVALID_TRANSITION',
      message: 'This approval is already approved.',
    });
  }
  expect(await received()).toEqual(['One.']);
});
