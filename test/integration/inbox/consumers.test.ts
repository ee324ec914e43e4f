import { expect, test } from 'vitest';
import { signInWithCredential } from '../../clients/credentials.ts';
import { useSharedService } from '../../support/service.ts';
import { signInPerson } from '../console/signed-in-person.ts';
import { inboxOf, startWork } from './setup.ts';

const service = useSharedService();

test('an instance without a name is listed under that of its credential', async () => {
  const { worker, inbox, openThread, send } = await startWork(service, { max_attempts: 1 });
  const [named, unnamed, long] = await Promise.all([
    signInWithCredential(service, worker, 'Night shift'),
    signInWithCredential(service, worker),
    signInWithCredential(service, worker, '長'.repeat(64)),
  ]);
  await send('one');
  await send('two', await openThread());
  const [lease] = await inboxOf(service.api, named).leases();
  await inboxOf(service.api, unnamed).leases();
  await inboxOf(service.api, long).leases();
  await inbox.leases({ consumer: 'own' });
  const { consumers } = (await inbox.get()).body;
  const leased = consumers.map((each: { name: string; leased: number }) => [each.name, each.leased]);
  expect(Object.fromEntries(leased)).toEqual({
    'Night shift': 1,
    [unnamed.client_id]: 1,
    ['長'.repeat(64)]: 0,
    own: 0,
  });
  await inboxOf(service.api, named).release(lease?.id ?? '', { reason: 'No.' });
  const [dead] = (await inbox.dead()).body.items;
  expect(dead.reasons).toMatchObject([{ outcome: 'released', consumer: 'Night shift' }]);
});

test('the page of the inbox lists it, too', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const page = `/console/agents/${mine.id}/inbox`;
  await inboxOf(service.api, mine).turnOn();
  expect((await ada.go(page)).visibleText).toContain('No instance has claimed items in the last 24 hours.');
  const { token } = await signInWithCredential(service, mine, 'Night shift');
  const claim = await service.post({ token }, '/inbox/leases', {});
  expect(claim.status).toBe(200);
  const { visibleText } = await ada.go(page);
  expect(visibleText).toContain('Night shift');
  expect(visibleText).not.toContain('No instance has claimed');
});
