import type { Work } from '../../work/unit-of-work.ts';
import { requireManagedAgent } from '../access.ts';
import { retire } from './retire.ts';

/**
 * Retires an agent that the actor manages, itself not excepted (contract, section 3). Its tokens, credentials, connected clients
 * and tool sessions end with it, in every process; so do its webhooks, its contacts, of which the other sides hear, and its pending requests.
 * Its messages stay and show its handle, which is never given away again.
 * @throws {DomainError} AGENT_NOT_FOUND, FORBIDDEN, INVALID_HANDLE
 */
export async function retireAgent(work: Work, ref: string): Promise<void> {
  await retire(work, await requireManagedAgent(work, ref));
}
