import { expect, test } from 'vitest';
import { useService } from '../../../support/service.ts';
import { signInPerson } from '../signed-in-person.ts';

const service = useService({ worker: true });

test('a person erases an agent by typing its handle, and finds the report; other people cannot', async () => {
  const [ada, eve] = [await signInPerson(service), await signInPerson(service)];
  const mine = await ada.agent();
  const address = `/console/agents/${mine.id}/erase`;
  expect((await ada.go(`/console/agents/${mine.id}/settings`)).text).toContain(address);
  const wrong = await ada.fill(address, { fields: { handle: 'somebody.else' } });
  expect([wrong.status, wrong.visibleText.includes(`Enter ${mine.handle}.`)]).toEqual([400, true]);
  expect((await service.get(mine, '/agents/me')).status).toBe(200);

  const begun = await ada.fill(address, { fields: { handle: `@${mine.handle.toUpperCase()}` } });
  expect(begun.visibleText).toContain(`Erasing @${mine.handle}.`);
  await expect
    .poll(async () => (await ada.go('/console/erasures')).visibleText)
    .toMatch(new RegExp(`@${mine.handle}Started .*Erased`));
  expect((await ada.go('/console/erasures')).visibleText).toMatch(/Kept data.*positions of its messages/);
  expect((await service.get(mine, '/agents/me')).status).toBe(401);
  expect((await ada.go(address)).status).toBe(404);
  expect((await eve.go('/console/erasures')).visibleText).not.toContain(mine.handle);
});
