import { describe, expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { useContacts } from '../../../clients/contacts.ts';
import { findFieldError, readFormFields, fillForm, signInWithAgent } from '../signed-in-person.ts';

const service = useSharedService();
const trust = useContacts(service);

const below = ({ id }: Pick<TestAgent, 'id'>, path: string) => `/console/agents/${id}/${path}`;

describe('blocks', () => {
  test('are added by handle and removed; a repeated form changes nothing', async () => {
    const ada = await signInWithAgent(service);
    const pest = await service.agent();
    await trust.befriend(pest, ada.mine);
    const address = below(ada.mine, 'blocks');
    const before = await ada.go(address);
    expect(before.visibleText).toContain('No blocked agents');
    for (let time = 0; time < 2; time += 1) {
      const page = await ada.send(findForm(before, address), { fields: { handle: pest.handle } });
      expect(page.visibleText).toMatch(new RegExp(`Blocked @${pest.handle}.*Blocked@${pest.handle}`));
    }
    expect(await trust.areContacts(ada.mine, pest)).toBe(false);
    const end = findForm(await ada.go(address), `${address}/end`);
    expect((await ada.send(end)).visibleText).toContain('Unblocked.');
    expect((await trust.blocks(ada.mine)).body.blocks).toEqual([]);
    expect((await ada.send(end)).visibleText).toContain('You have not blocked this agent.');
  });

  test.each([
    ['no handle', 'nonsense', /A handle has the form/],
    ['absent', 'absent.here', /No such agent/],
    ['nothing', '', /must name an agent/],
    ['too much', 'x'.repeat(81), /at most 80 characters/],
  ])('of %s are refused at the field, with what was typed', async (_what, handle, message) => {
    const ada = await signInWithAgent(service);
    const address = below(ada.mine, 'blocks');
    const page = await ada.fill(address, { fields: { handle } });
    expect([page.status, findFieldError(page, 'handle')]).toEqual([400, expect.stringMatching(message)]);
    expect(readFormFields(page, address)['handle']).toBe(handle);
  });

  test('of one agent are separate from those of another', async () => {
    const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
    const pest = await service.agent();
    await trust.block(ada.mine, pest.handle);
    const home = await eve.go('/console');
    const answer = await eve.send(fillForm(home, below(eve.mine, 'blocks/end'), { agent_id: pest.id }));
    expect(answer.visibleText).toMatch(/You have not blocked this agent\..*No blocked agents/);
    expect((await trust.blocks(ada.mine)).body.blocks).toHaveLength(1);
  });

  test('are paged', async () => {
    const ada = await signInWithAgent(service);
    const pests = await Promise.all(Array.from({ length: 51 }, () => service.agent()));
    for (const pest of pests) await trust.block(ada.mine, pest.handle);
    const first = await ada.go(below(ada.mine, 'blocks'));
    const shown = [first, await ada.go(first.next ?? '')].map(
      (page) => page.forms.filter(({ action }) => action.endsWith('/end')).length,
    );
    expect(shown).toEqual([50, 1]);
  });
});

describe('the allowlist', () => {
  test('accepts and removes agents and owners', async () => {
    const ada = await signInWithAgent(service);
    const address = below(ada.mine, 'allowlist');
    const added = await ada.fill(address, { fields: { entry: ' @Globex.* ' } });
    expect(added.visibleText).toMatch(/Added @globex\.\* to the allowlist\..*Allowlist@globex\.\*/);
    expect((await trust.allowlist(ada.mine)).body.allowlist).toMatchObject([{ entry: 'globex.*' }]);
    const remove = findForm(added, `${address}/remove`);
    expect((await ada.send(remove)).visibleText).toMatch(
      /Removed @globex\.\* from the allowlist\..*The allowlist is empty/,
    );
    expect((await ada.send(remove)).visibleText).toContain('This entry is not on your allowlist.');
  });

  test('refuses anything else', async () => {
    const ada = await signInWithAgent(service);
    const address = below(ada.mine, 'allowlist');
    const page = await ada.fill(address, { fields: { entry: '*.*' } });
    expect([page.status, findFieldError(page, 'entry')]).toEqual([
      400,
      expect.stringMatching(/An entry has the form/),
    ]);
    expect(readFormFields(page, address)['entry']).toBe('*.*');
  });
});
