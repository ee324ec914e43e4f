import type { Core } from '../../src/compose.ts';
import { newId } from '../../src/domain/ids.ts';
import { registerAgent } from '../../src/services/agents-admin.ts';
import { issueToken } from '../../src/services/issue-token.ts';
import { type Door, resourceAddresses, tokenLife_s } from '../../src/services/tokens.ts';
import type { Administration } from '../../src/unit-of-work.ts';

export interface Member {
  id: string;
  handle: string;
  token: string;
}

export interface Thread {
  id: string;
  members: readonly [Member, Member];
}

/** Makes threads of two agents each; no agent is in two of them. `owner` begins the names of their owners. */
export function makeThreads(core: Core, owner: string, count: number): Promise<Thread[]> {
  return core.unitOfWork.administer(async (work) => {
    const threads: Thread[] = [];
    for (let number = 0; number < count; number += 1) {
      const members = [
        await makeMember(core, work, `${owner}-${number}-a.agent`),
        await makeMember(core, work, `${owner}-${number}-b.agent`),
      ] as const;
      const id = newId('thread');
      await work.threads.insert({
        id,
        subject: null,
        created_by: members[0].id,
        created_at: work.now,
        member_ids: members.map((member) => member.id),
      });
      threads.push({ id, members });
    }
    return threads;
  });
}

/** An agent with a token; its owner is made when there is none yet. */
export async function makeMember(core: Core, work: Administration, handle: string): Promise<Member> {
  const agent = await registerAgent(work, { handle, create_owner: true, inbound_policy: 'open' });
  return { id: agent.id, handle, token: await issue(core, work, handle) };
}

/** An agent that reads, and others that it talks to. */
export function makeReader(
  core: Core,
  owner: string,
  others: number,
): Promise<{ reader: Omit<Member, 'token'>; agent_ids: string[] }> {
  return core.unitOfWork.administer(async (work) => {
    const register = (handle: string) =>
      registerAgent(work, { handle, create_owner: true, inbound_policy: 'open' });
    const handle = `${owner}-reader.agent`;
    const { id } = await register(handle);
    const agent_ids: string[] = [];
    for (let number = 0; number < others; number += 1) {
      agent_ids.push((await register(`${owner}-${number}.agent`)).id);
    }
    return { reader: { id, handle }, agent_ids };
  });
}

/** A token for an agent that exists. */
export function tokenOf(core: Core, handle: string, door: Door = 'api'): Promise<string> {
  return core.unitOfWork.administer((work) => issue(core, work, handle, door));
}

async function issue(core: Core, work: Administration, handle: string, door: Door = 'api'): Promise<string> {
  const resource = resourceAddresses(core.config.PUBLIC_URL)[door];
  const scopes = ['threads:read', 'threads:write'] as const;
  return (await issueToken(work, { handle, resource, scopes, expires_in: tokenLife_s })).access_token;
}
