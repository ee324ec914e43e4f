import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../../src/compose.ts';
import { findAgentByHandle } from '../../src/services/agents/find-by-handle.ts';
import { beginExport } from '../../src/services/agents/exports.ts';
import { beginErasure } from '../../src/services/agents/erasures.ts';
import { erasedAgent, exportedAgent } from './fixtures.ts';

/** How long the worker may take, in milliseconds. */
const timeoutMs = 60_000;

/**
 * Requests the export of one agent and the erasure of another, and waits for both.
 * @param accounts the id of each person, by name
 */
export async function waitForJobs(core: Core, accounts: ReadonlyMap<string, string>): Promise<void> {
  const { unitOfWork, db, config } = core;
  const accountOf = (username: string) => accounts.get(username) ?? '';
  const exporting = await unitOfWork.write(system, async (work) => {
    const order = { account_id: accountOf(exportedAgent.person), days: config.EXPORT_RETENTION_DAYS };
    return beginExport(work, await findAgentByHandle(work, exportedAgent.agent), order);
  });
  const erasing = await unitOfWork.write(system, async (work) => {
    const agent = { ...(await findAgentByHandle(work, erasedAgent.agent)), retired: false };
    return beginErasure(work, agent, accountOf(erasedAgent.person));
  });
  await waitUntilDone(() => db.agentExports.find(exporting.id));
  await waitUntilDone(() => db.erasures.find(erasing.id));
}

async function waitUntilDone(find: () => Promise<{ done_at: number | null } | undefined>): Promise<void> {
  for (const end = Date.now() + timeoutMs; ; await pause(100)) {
    const found = await find();
    if (found && found.done_at !== null) return;
    if (Date.now() > end) throw new Error('the worker did not finish the jobs in time');
  }
}
