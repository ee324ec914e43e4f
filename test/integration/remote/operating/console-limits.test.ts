import { expect, onTestFinished, test } from 'vitest';
import { startRemoteServer } from '../../../support/a2a/remote-server.ts';
import { signInWithAgent } from '../../console/signed-in-person.ts';
import { useInstallation } from '../setup.ts';

const service = useInstallation({ env: { RATE_LIMITS: 'contact_request=2/600,webhook_test=1/600' } });

test('a person can add and check only so many agents of other systems', async () => {
  const server = await startRemoteServer();
  onTestFinished(() => server.close());
  const ada = await signInWithAgent(service);
  const path = '/console/remote-agents';
  const add = (handle: string) => ada.fill(`${path}/new`, { fields: { card_url: server.cardUrl, handle } });
  const first = await add('first');
  await add('second');
  const refused = await add('third');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  const address = new URL(first.url).pathname;
  const check = async () => (await ada.fill(address, {}, `${address}/refresh`)).visibleText;
  expect(await check()).toContain('Its card is being read.');
  expect(await check()).toMatch(/Too many .*Wait 10 minutes/);
});
