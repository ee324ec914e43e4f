import { expect, test } from 'vitest';
import { requestRest } from '../../../clients/rest.ts';
import { useConsole } from '../setup.ts';
import { signInPerson } from '../signed-in-person.ts';

const setup = useConsole({ RATE_LIMITS: 'default=20/600' });

test('an app that exhausts the rate limit of its agent does not prevent the person from pausing and deleting it', async () => {
  const { service } = setup;
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const call = () => requestRest('GET', `${service.api}/agents/me`, mine);
  await expect.poll(async () => (await call()).status, { interval: 0 }).toBe(429);

  const settings = `/console/agents/${mine.id}/settings`;
  const paused = await ada.fill(settings, {}, `${settings}/pause`);
  expect(paused.visibleText).toContain('is paused.');
  const removal = `/console/agents/${mine.id}/delete`;
  const deleted = await ada.fill(removal, { fields: { handle: mine.handle } });
  expect(deleted.visibleText).toContain(`Deleted @${mine.handle}.`);
});
