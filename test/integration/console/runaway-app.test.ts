import { expect, test } from 'vitest';
import { rest } from '../../support/rest-client.ts';
import { useHouse } from './house.ts';
import { signedIn } from './signed-in.ts';

const house = useHouse({ RATE_LIMITS: 'default=20/600' });

test('an app that uses up the budget of its agent does not keep the person from pausing and deleting it', async () => {
  const { service } = house;
  const ada = await signedIn(service);
  const mine = await ada.agent();
  const call = () => rest('GET', `${service.api}/agents/me`, mine);
  await expect.poll(async () => (await call()).status, { interval: 0, timeout: 10_000 }).toBe(429);

  const settings = `/console/agents/${mine.id}/settings`;
  const paused = await ada.fill(settings, {}, `${settings}/pause`);
  expect(paused.words).toContain('is paused.');
  const removal = `/console/agents/${mine.id}/delete`;
  const deleted = await ada.fill(removal, { fields: { handle: mine.handle } }, removal);
  expect(deleted.words).toContain(`@${mine.handle} is deleted.`);
});
