import { beforeAll, describe, expect, test } from 'vitest';
import { retire } from '../../../../src/services/agents/retire.ts';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { findForm, foreignScripts } from '../../../clients/form-browser.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import {
  applyStoredDecisions,
  fillForm,
  createOrganizationOf,
  signInPerson,
  signInWithAgent,
} from '../signed-in-person.ts';

const service = useSharedService();
beforeAll(async () => {
  await service.register({ handle: 'globex.desk', create_owner: true });
});

const list = '/console/approvals';
const hour = 3_600_000;

interface Question {
  target?: string;
  action?: 'request_contact' | 'remove_contact';
  message?: string;
  client_name?: string;
  /** Milliseconds ago. */
  ago?: number;
}

/** Requests an approval as an agent; returns the address of the page on which a person decides. */
async function ask({ id }: TestAgent, question: Question = {}): Promise<string> {
  const { target = 'globex.desk', action = 'request_contact', ago = 0, ...detail } = question;
  const approval = await service.write((work) =>
    openApproval({ ...work, now: work.now - ago }, { agent_id: id, action, target, detail }),
  );
  if (!approval) throw new Error('no approval was requested');
  return `${list}/${approval.id}`;
}

test('pending approvals are counted in the menu, the title and the icon of every page, for this person only', async () => {
  const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
  await ask(ada.mine);
  await ask(ada.mine, { target: 'globex.other' });
  for (const path of ['/console/agents', `/console/agents/${ada.mine.id}`, list]) {
    const page = await ada.go(path);
    expect(page.title).toMatch(/^\(2\) /);
    expect(page.visibleText).toContain('Approvals2 pending');
    expect(page.text).toContain('/assets/mark-news.');
    expect((await eve.go(path)).text).not.toContain('mark-news');
  }
});

describe('an approval request', () => {
  test('shows the agent, the action, the target, the message and the app', async () => {
    const ada = await signInWithAgent(service);
    const address = await ask(ada.mine, { message: 'Hello there', client_name: 'Quill' });
    expect((await ada.go('/console')).title).toBe('(1) Home · Agent Messaging');
    expect((await ada.go(list)).visibleText).toMatch(
      /Pending.*agent wants to send a contact request to @globex\.desk/,
    );
    const page = await ada.go(address);
    expect(page.visibleText).toMatch(
      /agent wants to send a contact request to @globex\.desk.*Pending.*Hello there.*not verified.*Quill/,
    );
    expect(page.visibleText).toContain(`Your agent@${ada.mine.handle}`);
    const removal = await ada.go(await ask(ada.mine, { action: 'remove_contact' }));
    expect(removal.visibleText).toContain('agent wants to remove @globex.desk from its contacts');
  });

  test.each([
    ['approve', 'Approved', 'approved it, and it was done.'],
    ['deny', 'Denied', 'denied it.'],
  ])('is decided once: %s, also when that is pressed twice', async (decision, word, text) => {
    const ada = await signInWithAgent(service);
    const address = await ask(ada.mine);
    const form = findForm(await ada.go(address), address);
    for (let time = 0; time < 2; time += 1) {
      await ada.send(form, { button: decision });
      await applyStoredDecisions(service);
      const decided = await ada.go(address);
      expect(decided.url).toContain(address);
      expect(decided.visibleText).toContain(word);
      expect(decided.visibleText).toContain(`${ada.username} ${text}`);
      expect(decided.forms.filter(({ action }) => action === address)).toEqual([]);
    }
    const other = decision === 'approve' ? 'deny' : 'approve';
    const late = await ada.send(form, { button: other });
    expect(late.visibleText).toContain(`This approval is already ${word.toLowerCase()}.`);
    const page = await ada.go(list);
    expect(page.visibleText).toMatch(new RegExp(`No pending approvals.*Recently decided.*${word}`));
  });

  test('that is no longer possible says why, and stays pending', async () => {
    const ada = await signInWithAgent(service);
    const other = await service.agent();
    const address = await ask(ada.mine, { target: other.handle });
    const page = await ada.go(address);
    expect(page.text).toContain(`/v1/agents/${other.handle.replace('.', '/')}/card`);
    await service.write((work) => retire(work, { id: other.id, canonical_handle: other.handle }));
    await ada.send(findForm(page, address), { button: 'approve' });
    await applyStoredDecisions(service);
    const decided = await ada.go(address);
    expect(decided.visibleText).toContain(
      'The action is no longer possible, and nothing was changed: No such agent',
    );
    expect(decided.visibleText).toContain('Waiting for a decision.');
    expect(findForm(decided, address)).toBeDefined();
  });

  test('that expired says so, and cannot be decided', async () => {
    const ada = await signInWithAgent(service);
    const address = await ask(ada.mine, { ago: 25 * hour });
    const page = await ada.go(address);
    expect(page.visibleText).toContain('Expired No one decided in time. The agent can ask again.');
    expect(page.forms.filter(({ action }) => action === address)).toEqual([]);
    const late = await ada.send(fillForm(page, address, { decision: 'approve' }));
    expect(late.visibleText).toContain('This approval is already expired.');
    expect((await ada.go(list)).visibleText).toMatch(/No pending approvals.*Recently decided.*Expired/);
  });

  test('of another owner’s agent gets the same response as a missing one', async () => {
    const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
    const address = await ask(ada.mine);
    const home = await eve.go('/console');
    for (const each of [
      address,
      `${list}/apr_00000000000000000000000000`,
      `${list}/nonsense`,
      `${list}/%00`,
    ]) {
      for (const page of [
        await eve.go(each),
        await eve.send(fillForm(home, each, { decision: 'approve' })),
      ]) {
        expect(page.status).toBe(404);
        expect(page.visibleText).toContain('No such approval, or you cannot decide it.');
      }
    }
    expect((await eve.go(list)).visibleText).toMatch(/No pending approvals.*review before an agent sends/);
    expect((await ada.go(address)).visibleText).toContain('Waiting for a decision');
  });

  test('of an agent that belongs to another member cannot be decided by an admin', async () => {
    const [boss, worker] = [await signInPerson(service), await signInPerson(service)];
    const slug = await createOrganizationOf(service, { admins: [boss], members: [worker] });
    const tied = await service.register({ handle: `${slug}.tied`, member: worker.username });
    const shared = await service.register({ handle: `${slug}.desk` });
    const [theirs, ours] = [await ask(tied), await ask(shared)];
    expect([(await boss.go(theirs)).status, (await boss.go(ours)).status]).toEqual([404, 200]);
    expect([(await worker.go(theirs)).status, (await worker.go(ours)).status]).toEqual([200, 404]);
  });

  test('shows no direction marks, which could let its text look like another one', async () => {
    const ada = await signInWithAgent(service);
    const page = await ada.go(await ask(ada.mine, { message: 'pay \u202e001 to eve\u202c' }));
    expect(page.visibleText).toContain('pay 001 to eve');
  });

  test('a reason with NUL is refused as wrong input', async () => {
    const ada = await signInWithAgent(service);
    const address = await ask(ada.mine);
    const fields = { decision: 'deny', reason: 'not\0now' };
    const answer = await ada.send(fillForm(await ada.go(address), address, fields));
    // The page of the approval, with a warning.
    expect(answer.status).toBe(200);
    expect(answer.visibleText).toContain('The request has a NUL character.');
  });

  test('escapes text from others', async () => {
    const ada = await signInWithAgent(service);
    const hostile = `<script>alert(1)</script><b>"'`;
    const page = await ada.go(await ask(ada.mine, { message: hostile, client_name: hostile }));
    expect(page.visibleText.split(hostile)).toHaveLength(3);
    expect([foreignScripts(page), page.elements('b')]).toEqual([[], []]);
  });
});

test('pages long lists, pending and decided', async () => {
  const ada = await signInWithAgent(service);
  for (let number = 0; number < 26; number += 1)
    await ask(ada.mine, { target: `globex.old-${number}`, ago: 25 * hour });
  for (let number = 0; number < 26; number += 1) await ask(ada.mine, { target: `globex.new-${number}` });
  for (const start of [list, `${list}?show=decided`]) {
    const seen: string[] = [];
    const pages: number[] = [];
    for (let address = start; address !== '';) {
      const page = await ada.go(address);
      const ids = [...page.text.matchAll(/approvals\/(apr_\w{26})"><bdi>/g)].map(([, id = '']) => id);
      pages.push(ids.length);
      seen.push(...ids);
      address = page.next ?? '';
    }
    // After the pending ones follow the five latest decided ones.
    expect(pages).toEqual(start === list ? [30, 1] : [25, 1]);
    expect(new Set(seen).size).toBe(seen.length);
  }
});
