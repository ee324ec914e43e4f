import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../../src/compose.ts';
import { agentByHandle } from '../../src/services/agent-by-handle.ts';
import { beginExport } from '../../src/services/agent-export.ts';
import { beginErasure } from '../../src/services/erasure.ts';
import { erased, exported } from './cast.ts';

/** How long a worker may take, in milliseconds. */
const most = 60_000;

/**
 * Has an agent exported and another one erased, and waits for both.
 * @param accounts the id of each person, by name
 */
export async function haveJobsDone(core: Core, accounts: ReadonlyMap<string, string>): Promise<void> {
  const { unitOfWork, repositories, config } = core;
  const asker = (username: string) => accounts.get(username) ?? '';
  const exporting = await unitOfWork.record(async (work) => {
    const order = { account_id: asker(exported.person), days: config.EXPORT_RETENTION_DAYS };
    return beginExport(work, await agentByHandle(work, exported.agent), order);
  });
  const erasing = await unitOfWork.record(async (work) => {
    const agent = { ...(await agentByHandle(work, erased.agent)), retired: false };
    return beginErasure(work, agent, asker(erased.person));
  });
  await untilDone(() => repositories.agentExports.find(exporting.id));
  await untilDone(() => repositories.erasures.find(erasing.id));
}

async function untilDone(look: () => Promise<{ done_at: number | null } | undefined>): Promise<void> {
  for (const end = Date.now() + most; ; await pause(100)) {
    const found = await look();
    if (found && found.done_at !== null) return;
    if (Date.now() > end) throw new Error('no worker has done what was left to it');
  }
}
