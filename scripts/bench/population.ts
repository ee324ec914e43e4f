import type { Core } from '../../src/compose.ts';
import { newId } from '../../src/domain/ids.ts';
import { registerAgent } from '../../src/services/agents-admin.ts';
import { issueToken } from '../../src/services/issue-token.ts';
import { resourceAddresses, tokenLife_s } from '../../src/services/tokens.ts';

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
  const resource = resourceAddresses(core.config.PUBLIC_URL).api;

  return core.unitOfWork.administer(async (work) => {
    async function makeMember(handle: string): Promise<Member> {
      const agent = await registerAgent(work, { handle, create_owner: true, inbound_policy: 'open' });
      const scopes = ['threads:read', 'threads:write'] as const;
      const { access_token } = await issueToken(work, { handle, resource, scopes, expires_in: tokenLife_s });
      return { id: agent.id, handle, token: access_token };
    }

    const threads: Thread[] = [];
    for (let number = 0; number < count; number += 1) {
      const members = [
        await makeMember(`${owner}-${number}-a.agent`),
        await makeMember(`${owner}-${number}-b.agent`),
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
