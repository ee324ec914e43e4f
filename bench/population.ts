import type { Core } from '../src/compose.ts';
import { basicScopes } from '../packages/core/src/domain/auth/scopes.ts';
import { newId } from '../packages/core/src/domain/ids.ts';
import { registerAgentAsOperator } from '../src/services/agents/operator-registration.ts';
import { issueToken } from '../src/services/auth/issue-token.ts';
import { type TokenAudience, toResourceUrls, tokenLifeSeconds } from '../src/services/auth/tokens.ts';
import type { SystemWork } from '../src/work/unit-of-work.ts';

export interface Member {
  id: string;
  handle: string;
  token: string;
}

export interface Thread {
  id: string;
  members: readonly [Member, Member];
}

/** Creates threads of two agents each; no agent is in two threads. `owner` is the prefix of the owners' names. */
export function createThreads(core: Core, owner: string, count: number): Promise<Thread[]> {
  return insertThreads(core, owner, count, (work, number) =>
    createMember(core, work, `${owner}-${number}-b.agent`),
  );
}

/** Creates threads of two agents each; the second one is the same agent in all threads. */
export async function createThreadsOfOneAgent(core: Core, owner: string, count: number): Promise<Thread[]> {
  const shared = await core.unitOfWork.writeAsSystem((work) =>
    createMember(core, work, `${owner}-shared.agent`),
  );
  return insertThreads(core, owner, count, () => Promise.resolve(shared));
}

function insertThreads(
  core: Core,
  owner: string,
  count: number,
  createSecond: (work: SystemWork, number: number) => Promise<Member>,
): Promise<Thread[]> {
  return core.unitOfWork.writeAsSystem(async (work) => {
    const threads: Thread[] = [];
    for (let number = 0; number < count; number += 1) {
      const members = [
        await createMember(core, work, `${owner}-${number}-a.agent`),
        await createSecond(work, number),
      ] as const;
      const id = newId('thread');
      await work.threads.insert({
        id,
        subject: null,
        created_by: members[0].id,
        metadata: {},
        created_at: work.now,
        member_ids: members.map((member) => member.id),
      });
      threads.push({ id, members });
    }
    return threads;
  });
}

/** Creates an agent with a token, and its owner if needed. */
export async function createMember(core: Core, work: SystemWork, handle: string): Promise<Member> {
  const agent = await registerAgentAsOperator(work, { handle, create_owner: true, inbound_policy: 'open' });
  return { id: agent.id, handle, token: await issueTokenAs(core, work, handle) };
}

/** Creates an agent that reads, and the agents that it exchanges messages with. */
export function createReader(
  core: Core,
  owner: string,
  others: number,
): Promise<{ reader: Omit<Member, 'token'>; agent_ids: string[] }> {
  return core.unitOfWork.writeAsSystem(async (work) => {
    const register = (handle: string) =>
      registerAgentAsOperator(work, { handle, create_owner: true, inbound_policy: 'open' });
    const handle = `${owner}-reader.agent`;
    const { id } = await register(handle);
    const agent_ids: string[] = [];
    for (let number = 0; number < others; number += 1) {
      agent_ids.push((await register(`${owner}-${number}.agent`)).id);
    }
    return { reader: { id, handle }, agent_ids };
  });
}

/** Issues a token for an existing agent. */
export function issueTokenFor(core: Core, handle: string, audience: TokenAudience = 'api'): Promise<string> {
  return core.unitOfWork.writeAsSystem((work) => issueTokenAs(core, work, handle, audience));
}

async function issueTokenAs(
  core: Core,
  work: SystemWork,
  handle: string,
  audience: TokenAudience = 'api',
): Promise<string> {
  const resource = toResourceUrls(core.config.PUBLIC_URL)[audience];
  const order = { handle, resource, scopes: basicScopes, expires_in: tokenLifeSeconds };
  return (await issueToken(work, order)).access_token;
}
