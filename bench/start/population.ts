import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { basicScopes, type Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import { newId } from '../../packages/core/src/domain/ids.ts';
import type { Core } from '../../src/compose.ts';
import { registerAgentAsOperator } from '../../src/services/agents/operator-registration.ts';
import { issueToken } from '../../src/services/auth/issue-token.ts';
import { type TokenAudience, toResourceUrls, tokenLifeSeconds } from '../../src/services/auth/tokens.ts';
import { mapConcurrently } from '../load/run-load.ts';

export interface Member {
  id: string;
  handle: string;
  token: string;
}

export interface Thread {
  id: string;
  members: readonly Member[];
}

/** Agents created in one transaction, and concurrent transactions. */
const batchSize = 100;
const lanes = 8;

/**
 * Creates agents with a token each.
 * @param prefix of the names of their owners
 * @param perOwner agents of one owner: 1, 100 or a multiple of it
 */
export async function createMembers(
  core: Core,
  prefix: string,
  count: number,
  { perOwner = 1, scopes = basicScopes }: { perOwner?: number; scopes?: readonly Scope[] } = {},
): Promise<Member[]> {
  const size = Math.max(batchSize, perOwner);
  const resource = toResourceUrls(core.config.PUBLIC_URL).api;
  const starts = Array.from({ length: Math.ceil(count / size) }, (_, at) => at * size);
  const batches = await mapConcurrently(starts, lanes, new AbortController().signal, (start) =>
    core.unitOfWork.write(system, async (work) => {
      const members: Member[] = [];
      for (let number = start; number < Math.min(count, start + size); number += 1) {
        const handle = `${prefix}-${Math.floor(number / perOwner)}.agent-${number % perOwner}`;
        const create_owner = number % perOwner === 0;
        const { id } = await registerAgentAsOperator(work, { handle, create_owner, inbound_policy: 'open' });
        const order = { handle, resource, scopes, expires_in: tokenLifeSeconds };
        members.push({ id, handle, token: (await issueToken(work, order)).access_token });
      }
      return members;
    }),
  );
  return batches.flat();
}

/** Creates a thread for each group of members. */
export function createThreads(core: Core, groups: readonly (readonly Member[])[]): Promise<Thread[]> {
  return core.unitOfWork.write(system, async (work) => {
    const threads: Thread[] = [];
    for (const members of groups) {
      const id = newId('thread');
      await work.db.threads.insert({
        id,
        subject: null,
        created_by: members[0]?.id ?? '',
        metadata: {},
        created_at: work.now,
        member_ids: members.map((member) => member.id),
      });
      threads.push({ id, members });
    }
    return threads;
  });
}

/** Creates threads of two agents each; no agent is in two threads. */
export async function createPairs(core: Core, prefix: string, count: number): Promise<Thread[]> {
  const members = await createMembers(core, prefix, 2 * count);
  return createThreads(
    core,
    Array.from({ length: count }, (_, at) => members.slice(2 * at, 2 * at + 2)),
  );
}

/** Issues a token for an existing agent. */
export function issueTokenFor(core: Core, handle: string, audience: TokenAudience = 'api'): Promise<string> {
  const resource = toResourceUrls(core.config.PUBLIC_URL)[audience];
  const order = { handle, resource, scopes: basicScopes, expires_in: tokenLifeSeconds };
  return core.unitOfWork.write(system, async (work) => (await issueToken(work, order)).access_token);
}
