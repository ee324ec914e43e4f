import { expect, test } from 'vitest';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { useSharedService } from '../../../support/service.ts';
import { signInWithAgent } from '../signed-in-person.ts';
import { sendTo } from './conversation-fixtures.ts';

const service = useSharedService();

test('a person withdraws a message of an agent after a question, and open pages follow', async () => {
  const [ada, bob] = await Promise.all([signInWithAgent(service), signInWithAgent(service)]);
  const thread = await service.thread(ada.mine, bob.mine);
  await sendTo(service, bob.mine, thread, 'of bob');
  const own = await sendTo(service, ada.mine, thread, 'walnut');
  const address = `/console/conversations/${thread}`;
  const links = async () =>
    (await ada.go(address))
      .elements('a')
      .flatMap(({ attribs }) => (attribs['href']?.includes('/withdraw/') ? [attribs['href']] : []));
  const [link = '', ...others] = await links();
  expect([link.endsWith(own.id), others]).toEqual([true, []]);
  const live = await openLivePage(service.url, bob, findLiveAddress(await bob.go(address)));
  const question = await ada.go(link);
  expect(question.visibleText).toContain('Withdraw this message?');
  const form = question.forms.find(({ action }) => action === link);
  if (!form) throw new Error('no form');
  const after = await ada.send(form);
  expect(after.visibleText).toContain('Withdrawn. The other members see it.');
  expect(after.visibleText).toContain('Withdrawn by its sender.');
  expect(after.visibleText).not.toContain('walnut');
  await expect.poll(live.shown).toContain('Withdrawn by its sender.');
  live.close();
  expect((await bob.go('/console/conversations')).visibleText).toContain(': Withdrawn');
  expect(await links()).toEqual([]);
});

test('a replaced message names the one in its place, and shows no receipt', async () => {
  const ada = await signInWithAgent(service);
  const bob = await service.agent();
  const thread = await service.thread(ada.mine, bob);
  const old = await sendTo(service, ada.mine, thread, 'at 3');
  await sendTo(service, ada.mine, thread, 'at 4', { replaces: old.id });
  const page = await ada.go(`/console/conversations/${thread}`);
  expect(page.visibleText).toContain('Replaced by message 2');
});
