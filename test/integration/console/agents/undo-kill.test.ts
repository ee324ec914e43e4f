import pg from 'pg';
import { expect, test } from 'vitest';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { startProcess } from '../../../../scripts/parts/service-process.ts';
import { findForm } from '../../../clients/form-browser.ts';
import { useService } from '../../../support/service.ts';
import { bundledProgram } from '../../../support/vitest/bundled-program.ts';
import { signInWithAgent } from '../signed-in-person.ts';

const service = useService({ worker: false });

test('a decision survives the kill of the worker that carries it out, and is carried out once', async () => {
  const [ada, other] = await Promise.all([signInWithAgent(service), service.agent()]);
  const question = { agent_id: ada.mine.id, action: 'request_contact', target: other.handle } as const;
  const approval = await service.write((work) => openApproval(work, { ...question, detail: {} }));
  const address = `/console/approvals/${approval?.id}`;
  await ada.send(findForm(await ada.go(address), address), { button: 'approve' });
  await service.sql('update approvals set effective_at = $1 where id = $2', [Date.now(), approval?.id]);
  const stateOf = async () => (await service.core.db.approvals.find(approval?.id ?? '', Date.now()))?.state;
  const requests = async () => (await service.get(other, '/contacts/requests')).body.requests;
  const startWorker = () => startProcess('worker', service.env, { program: bundledProgram('worker') });

  // The worker waits for this lock within its transaction.
  const blocker = new pg.Client({ connectionString: service.env['DATABASE_URL'] });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('lock table contact_requests in access exclusive mode');
  const killed = await startWorker();
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(async () => (await service.sql(waiting)).length).toBeGreaterThan(0);
  await killed.kill9();
  await blocker.query('rollback');
  await blocker.end();
  expect([await stateOf(), await requests()]).toEqual(['pending', []]);

  const second = await startWorker();
  await expect.poll(stateOf).toBe('approved');
  expect(await requests()).toHaveLength(1);
  await second.kill9();
});
