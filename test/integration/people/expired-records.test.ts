import { expect, test } from 'vitest';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { openPeopleSetup } from './setup.ts';
import { use } from '../../support/use.ts';

const day = 24 * 60 * 60 * 1000;
const setup = use(openPeopleSetup);

test('expired sessions, sign-ins and invitations are removed, active ones stay', async () => {
  const [over, open] = [await setup.person(), await setup.person()];
  await setup.sql('update sessions set expires_at = $2 where account_id = $1', [
    over.account_id,
    Date.now() - 1,
  ]);
  const { externalSignIns } = setup.core.db;
  await externalSignIns.insert(Buffer.from('over'), {}, Date.now() - 1);
  await externalSignIns.insert(Buffer.from('open'), {}, Date.now() + day);
  const organization = await setup.write((work) => createOrganization(work, 'expiring'));
  for (const [who, expires_at] of [
    [over, Date.now() - 1],
    [open, Date.now() + day],
  ] as const) {
    const ids = { organization_id: organization.id, account_id: who.account_id };
    const invitation = { ...ids, role: 'member' as const, invited_by: null, created_at: 1, expires_at };
    await setup.core.db.membershipInvitations.put(invitation);
  }
  await maintenanceHandler(setup.core).handle({ task: 'expire-sessions' });
  expect(await setup.sql('select account_id from membership_invitations')).toEqual([
    { account_id: open.account_id },
  ]);
  expect(await setup.sql('select account_id from sessions')).toEqual([{ account_id: open.account_id }]);
  expect(await setup.sql('select id_hash from external_sign_ins')).toEqual([
    { id_hash: Buffer.from('open') },
  ]);
});

test('approvals are removed 30 days after they expired', async () => {
  const { username } = await setup.person();
  const { id: agent_id } = await setup.write((work) =>
    registerAgentAsOperator(work, { handle: `${username}.own` }),
  );
  const ask = (target: string, now: number) =>
    setup.write((work) =>
      openApproval({ ...work, now }, { agent_id, action: 'request_contact', target, detail: {} }),
    );
  await ask('some.body', Date.now() - 31 * day - 1_000);
  await ask('any.body', Date.now() - 30 * day);
  await maintenanceHandler(setup.core).handle({ task: 'expire-approvals' });
  expect(await setup.sql('select target from approvals')).toEqual([{ target: 'any.body' }]);
});
