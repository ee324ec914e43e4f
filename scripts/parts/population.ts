import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { basicScopes, type Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import { newId } from '../../packages/core/src/domain/ids.ts';
import type { Core } from '../../src/compose.ts';
import { registerAgentAsOperator } from '../../src/services/agents/operator-registration.ts';
import { issueToken } from '../../src/services/auth/issue-token.ts';
import { type TokenAudience, toResourceUrls, tokenLifeSeconds } from '../../src/services/auth/tokens.ts';

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
  options: { perOwner?: number; scopes?: readonly Scope[]; visibility?: 'public' } = {},
): Promise<Member[]> {
  const { perOwner = 1, scopes = basicScopes, visibility } = options;
  const size = Math.max(batchSize, perOwner);
  const resource = toResourceUrls(core.config.PUBLIC_URL).api;
  const createBatch = (start: number) =>
    core.unitOfWork.write(system, async (work) => {
      const members: Member[] = [];
      for (let number = start; number < Math.min(count, start + size); number += 1) {
        const handle = `${prefix}-${Math.floor(number / perOwner)}.agent-${number % perOwner}`;
        const create_owner = number % perOwner === 0;
        const agent = { handle, create_owner, inbound_policy: 'open', visibility } as const;
        const { id } = await registerAgentAsOperator(work, agent);
        const order = { handle, resource, scopes, expires_in: tokenLifeSeconds };
        members.push({ id, handle, token: (await issueToken(work, order)).access_token });
      }
      return members;
    });
  const all: Member[] = [];
  while (all.length < count) {
    const starts = Array.from({ length: lanes }, (_, lane) => all.length + lane * size);
    all.push(...(await Promise.all(starts.map(createBatch))).flat());
  }
  return all;
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
export function issueTokenFor(
  core: Core,
  handle: string,
  audience: TokenAudience = 'api',
  scopes: readonly Scope[] = basicScopes,
): Promise<string> {
  const resource = toResourceUrls(core.config.PUBLIC_URL)[audience];
  const order = { handle, resource, scopes, expires_in: tokenLifeSeconds };
  return core.unitOfWork.write(system, async (work) => (await issueToken(work, order)).access_token);
}
