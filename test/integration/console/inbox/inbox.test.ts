import { describe, expect, test } from 'vitest';
import { findForm, foreignScripts } from '../../../clients/form-browser.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { inboxOf } from '../../inbox/setup.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { sendTo, startThread } from '../conversations/conversation-fixtures.ts';
import { fillForm, findFieldError, readFormFields, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

const pageOf = ({ id }: Pick<TestAgent, 'id'>) => `/console/agents/${id}/inbox`;

/** A person with an agent whose inbox has one attempt for each item, and one message in it. */
async function createWorld(content = 'Order 7') {
  const ada = await signInPerson(service);
  const [mine, other] = [await ada.agent(), await service.agent()];
  const inbox = inboxOf(service.api, mine);
  await inbox.turnOn({ max_attempts: 1, from: 'now' });
  const thread = await startThread(service, other, [mine], { content });
  /** Claims the next item and gives up on it. */
  const fail = async (reason: string, consumer = 'worker-1') => {
    const [lease] = await inbox.leases({ consumer });
    await inbox.release(lease?.id ?? '', { reason });
    return String(lease?.event.id);
  };
  return { ada, mine, other, inbox, thread, fail };
}

test('says that an inbox is off', async () => {
  const ada = await signInPerson(service);
  expect((await ada.go(pageOf(await ada.agent()))).visibleText).toContain('The inbox is off');
});

describe('settings', () => {
  const formOf = (agent: TestAgent) => `${pageOf(agent)}/settings`;

  test('the inbox is turned on, changed, and turned off after a confirmation', async () => {
    const ada = await signInPerson(service);
    const mine = await ada.agent();
    const inbox = inboxOf(service.api, mine);
    const links = (await ada.go(pageOf(mine))).links;
    expect(links).toContain(formOf(mine));

    const on = await ada.fill(formOf(mine), { fields: { max_attempts: '7' } });
    expect([on.url, on.visibleText]).toEqual([
      expect.stringContaining(pageOf(mine)),
      expect.stringMatching(/The inbox is on\..*At most 7 for each item/),
    ]);
    const defaults = { types: ['message.created'], lease_seconds: 60, ordered_by_thread: true };
    expect((await inbox.get()).body).toMatchObject({ ...defaults, max_attempts: 7 });

    const changes = { types: 'thread.created', lease_seconds: ' 300 ', ordered_by_thread: null };
    const saved = await ada.fill(formOf(mine), { fields: changes });
    expect(saved.visibleText).toMatch(/Inbox settings saved\..*Lease5 minutes.*No order/);
    expect((await inbox.get()).body).toMatchObject({
      types: ['thread.created'],
      lease_seconds: 300,
      max_attempts: 7,
      ordered_by_thread: false,
    });

    const off = `${pageOf(mine)}/off`;
    const form = findForm(await ada.go(off), off);
    expect((await ada.send(form)).visibleText).toContain('The inbox is off');
    expect((await inbox.get()).status).toBe(404);
    expect((await ada.send(form)).visibleText).toMatch(/no inbox|not on|is off/i);
  });

  test('a new inbox can begin with the events that are kept', async () => {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent(), await service.agent()];
    await startThread(service, other, [mine], { content: 'Early' });
    await ada.fill(formOf(mine), { fields: { from: 'earliest' } });
    expect((await inboxOf(service.api, mine).get()).body).toMatchObject({ ready: 1 });
  });

  test('a change of settings keeps the items', async () => {
    const { ada, mine, inbox } = await createWorld();
    await ada.fill(formOf(mine), { fields: { max_attempts: '3' } });
    expect((await inbox.get()).body).toMatchObject({ ready: 1, max_attempts: 3 });
  });

  test.each([
    ['lease_seconds', '4'],
    ['lease_seconds', '43201'],
    ['lease_seconds', 'a minute'],
    ['lease_seconds', '1.5'],
    ['max_attempts', ''],
    ['max_attempts', '-1'],
    ['max_attempts', '9'.repeat(20)],
    ['types', null],
    ['types', 'message.read'],
    ['types', '<b>'],
  ])('the field %s is not saved as %j, and the form keeps what was entered', async (name, value) => {
    const { ada, mine, inbox } = await createWorld();
    const entered = { lease_seconds: '90', [name]: value };
    const page = await ada.fill(formOf(mine), { fields: entered });
    expect([page.status, page.title]).toEqual([400, expect.stringMatching(/^Error: Inbox settings/)]);
    expect(findFieldError(page, name)).toBeTruthy();
    const again = readFormFields(page, formOf(mine));
    if (name !== 'types') expect(again[name]).toBe(value);
    if (name !== 'lease_seconds') expect(again['lease_seconds']).toBe('90');
    expect((await inbox.get()).body).toMatchObject({ lease_seconds: 60, max_attempts: 1 });
  });

  test.each(['nonsense', ''])('a new inbox cannot begin at %j', async (from) => {
    const ada = await signInPerson(service);
    const mine = await ada.agent();
    const page = await ada.fill(formOf(mine), { fields: { from } });
    expect(page.status).toBe(400);
    expect((await inboxOf(service.api, mine).get()).status).toBe(404);
  });
});

test('shows settings, counts, instances, and dead items with their reasons', async () => {
  const { ada, mine, other, thread, fail } = await createWorld();
  await fail('The order system does not answer.');
  await sendTo(service, other, thread, 'Order 8');
  const page = await ada.go(pageOf(mine));
  expect(page.visibleText).toMatch(/Ready1Leased0Dead1/);
  expect(page.visibleText).toMatch(
    new RegExp(
      `Message sent by @${other.handle}.*1 attempt .*Order 7.*Attempt 1 was released.*by worker-1: The order system does not answer`,
    ),
  );
  expect(page.visibleText).toMatch(/worker-1Last claim just now · 0 leased/);
  expect(page.visibleText).toMatch(/Lease1 minute.*At most 1 for each item.*One item of a thread at a time/);
  const links = page.links;
  expect(links.some((href) => href.startsWith(`/console/conversations/${thread}?at=1#msg_`))).toBe(true);
});

test('a dead item is redriven, and deleted after a confirmation', async () => {
  const { ada, mine, inbox, fail } = await createWorld();
  const id = await fail('Not now.');
  const address = pageOf(mine);
  const redriven = await ada.send(findForm(await ada.go(address), `${address}/dead/redrive`));
  expect(redriven.visibleText).toMatch(/The item is ready again\..*Ready1Leased0Dead0/);
  expect(await fail('Still not.')).toBe(id);

  const deletion = `${address}/dead/${id}/delete`;
  const confirm = await ada.go(deletion);
  expect(confirm.visibleText).toContain('Delete this item?');
  const form = findForm(confirm, deletion);
  expect((await ada.send(form)).visibleText).toMatch(/Item deleted\..*Dead0/);
  expect((await inbox.get()).body).toMatchObject({ ready: 0, dead: 0 });
  expect((await ada.send(form)).visibleText).toContain('The inbox has no such dead item.');
  const redrive = fillForm(confirm, `${address}/dead/redrive`, { item_id: id });
  expect((await ada.send(redrive)).visibleText).toContain('The inbox has no such dead item.');
});

test.each(['nonsense', 'evt_nothing', '%00'])('an item with the id %s does not exist', async (id) => {
  const { ada, mine } = await createWorld();
  expect((await ada.go(`${pageOf(mine)}/dead/${id}/delete`)).status).toBe(404);
});

test('dead items beyond one page are on the next', async () => {
  const { ada, mine, other, thread, fail } = await createWorld('Order 1');
  await fail('one');
  for (let number = 2; number <= 26; number += 1) {
    await sendTo(service, other, thread, `Order ${number}`);
    await fail('again');
  }
  const first = await ada.go(pageOf(mine));
  expect(first.visibleText).not.toContain('Order 26');
  expect((await ada.go(first.next ?? '')).visibleText).toContain('Order 26');
});

test('what instances and other agents write stays text', async () => {
  const hostile = `"'></form><script>alert(1)</script><b>`;
  const { ada, mine, fail } = await createWorld(hostile);
  await fail(hostile, hostile);
  const page = await ada.go(pageOf(mine));
  // The message, the reason, and the name of the instance in two places.
  expect(page.visibleText.split(hostile).length - 1).toBe(4);
  expect([page.elements('b'), foreignScripts(page)]).toEqual([[], []]);
});

test('dead items wait for the person, also on an open page', async () => {
  const { ada, mine, fail } = await createWorld();
  const home = await ada.go('/console');
  expect(home.visibleText).toContain('Nothing needs you.');
  const page = await openLivePage(service.url, ada, findLiveAddress(home));
  await fail('Not now.');
  await expect.poll(page.shown).toContain('has 1 dead item');
  expect(page.shown()).toContain(`href="${pageOf(mine)}"`);
  page.close();
});

test('a conversation shows what a member has handled', async () => {
  const { ada, mine, other, inbox, thread } = await createWorld();
  await sendTo(service, other, thread, 'Order 8');
  const [lease] = await inbox.leases();
  await inbox.acknowledge(lease?.id ?? '');
  const shown = async () => (await ada.go(`/console/conversations/${thread}`)).visibleText;
  await expect.poll(shown).toContain(`@${mine.handle} handled`);
  expect((await shown()).split(`@${mine.handle} handled`)).toHaveLength(2);
});
