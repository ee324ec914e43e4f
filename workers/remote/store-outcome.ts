import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../../src/compose.ts';
import { noteTurn } from '../../src/services/remote/state.ts';

/** Stores the outcome of a delivery to a remote agent; null: it succeeded. */
export async function storeOutcome(
  { db, unitOfWork }: Pick<Core, 'db' | 'unitOfWork'>,
  agent_id: string,
  problem: string | null,
): Promise<void> {
  const isNews = await db.remoteAgents.noteDelivery(agent_id, problem, Date.now());
  if (isNews) await unitOfWork.write(system, (work) => noteTurn(work, agent_id, problem));
}
